"""Judges an answer by its type and value, not by its wording: `typed_answer`, our own kind.

    {"type": "currency", "value": "$3,269.84"}
    {"type": "number", "value": 7, "unit": "review"}
    {"type": "all", "of": [{"type": "name", "value": "Alderbrook"},
                           {"type": "distance", "value": "190.8 km"}]}
    {"type": "impossible", "reason": [["pending"], ["no ", "none", "not"]]}

An answer is right if it holds these values, and beside them only words that say nothing: those of
`words.toml` and of the task, except for its names where a name is asked for. Another number, name
or unit makes it wrong, and so does a word of doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentgym_envs.webarena.evaluators.answer_parts import (
    are_quantities,
    name_pattern,
    nouns_of,
    plain,
    quantity_of,
)
from agentgym_envs.webarena.evaluators.quantities import WORDS, quantities
from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged

QUANTITIES = ("number", "currency", "duration", "distance", "date", "time")
NAMES = ("name", "identifier")
GROUPS = ("list", "set", "all")
MAX_LENGTH = 2_000
"""Characters; what is longer is no answer, and would take long to read."""

TYPES = (*QUANTITIES, *NAMES, "boolean", *GROUPS, "impossible")

_PUNCTUATION = set(",.;:!?()[]{}\"'-=>&/|#\\")
_AROUND = frozenset(WORDS["around"].split())
_DOUBTING = frozenset(WORDS["doubting"].split())
_WEEKDAYS = frozenset(WORDS["weekdays"].split())
_YES, _NO = WORDS["yes"].split(), WORDS["no"].split()
_IMPOSSIBLE = re.compile("|".join(rf"(?<!\w){pattern}" for pattern in WORDS["impossible"]))
_TOKEN = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
_BULLET = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+", re.MULTILINE)
_USED = "\0"


class TypedAnswerEvaluator:
    """Compares the answer with a typed value.

    Args:
        evaluation: an `eval` object; its `typed_answer` counts.

    Raises:
        ValueError: it has another form.
    """

    def __init__(self, evaluation: Mapping[str, Any]) -> None:
        self._expected: Any = evaluation.get("typed_answer")
        check_type(self._expected)

    def __call__(self, ending: Ending) -> Verdict:
        """Compare the answer."""
        is_right = is_answer(self._expected, ending.answer, task=ending.intent)
        wrong = f"the answer {ending.answer!r:.200} is not {in_words(self._expected)}"
        return judged([] if is_right else [wrong])


def check_type(expected: Any) -> None:
    """Check that a JSON value describes an answer.

    Raises:
        ValueError: it does not; the message says why.
    """
    if not isinstance(expected, Mapping) or expected.get("type") not in TYPES:
        raise ValueError(f"typed_answer needs a type of {', '.join(TYPES)}, got {expected!r:.200}")
    kind = expected["type"]
    needed = "of" if kind in GROUPS else "reason" if kind == "impossible" else "value"
    value = expected.get(needed)
    if value is None or (needed != "value" and not (isinstance(value, list) and value)):
        raise ValueError(f"a typed_answer of type {kind} needs {needed!r}, got {expected!r:.200}")
    if kind in GROUPS:
        for part in value:
            check_type(part)
            if part["type"] in (*GROUPS, "boolean", "impossible"):
                raise ValueError(f"a {kind} holds {', '.join((*QUANTITIES, *NAMES))}, got {part!r}")
    elif kind in QUANTITIES:
        quantity_of(expected)


def in_words(expected: Mapping[str, Any]) -> str:
    """Return an expected answer as people read it."""
    if expected["type"] in GROUPS:
        return ", ".join(in_words(part) for part in expected["of"])
    if expected["type"] == "impossible":
        reason = " and ".join("/".join(words) for words in expected["reason"])
        return f"N/A with a reason that says {reason}"
    unit = f" {expected['unit']}" if "unit" in expected else ""
    return f"{expected['value']!r}{unit}"


def is_answer(expected: Mapping[str, Any], answer: str, *, task: str = "") -> bool:
    """Return whether an answer is the expected one, which none of over `MAX_LENGTH` characters is.

    Args:
        expected: of the form that `check_type` checks.
        answer: what was said.
        task: the intent; what an answer repeats of it says nothing.
    """
    if len(answer) > MAX_LENGTH:
        return False
    text = plain(_BULLET.sub(" ", answer) if "\n" in answer.strip() else answer)
    if expected["type"] == "impossible":
        return _gives_reason(expected["reason"], text)
    parts = expected.get("of", [expected])
    words = _words_of(task, with_names=not any(part["type"] in NAMES for part in parts))
    if expected["type"] == "boolean":
        return _says(text, bool(expected["value"]), words)
    return any(
        _holds(expected, each, words) for each in {text, _without_repeats(text, task, words)}
    )


def _words_of(task: str, *, with_names: bool) -> frozenset[str]:
    """Return the words of a task that say nothing in its answer.

    Where a name is asked for, the task's own names could be answers; only its lower-case words and
    its days of the week cannot.
    """
    if with_names:
        return frozenset(re.findall(r"[^\W\d_]+", plain(task)))
    stripped = (word.strip(",.;:!?\"'()") for word in task.split())
    return frozenset(
        part
        for word in stripped
        if word.replace("-", "").isalpha() and (word.islower() or word.casefold() in _WEEKDAYS)
        for part in word.casefold().split("-")
    )


# Inside ---------------------------------------------------------------------------------------


def _gives_reason(reason: Sequence[Sequence[str]], text: str) -> bool:
    if not _IMPOSSIBLE.search(text):
        return False
    # A blank in a phrase is where a word ends: "no " is not in "I know".
    text = f" {_IMPOSSIBLE.sub(' ', text)} "
    return all(any(phrase.casefold() in text for phrase in phrases) for phrases in reason)


def _says(text: str, value: bool, words: frozenset[str]) -> bool:
    found = set(re.findall(r"\w+", text))
    is_yes, is_no = bool(found & set(_YES)), bool(found & set(_NO))
    rest = re.sub(rf"\b(?:{'|'.join(_YES if value else _NO)})\b", _USED, text)
    return is_yes == value and is_no != value and _says_nothing(rest, words)


def _holds(expected: Mapping[str, Any], text: str, words: frozenset[str]) -> bool:
    parts = expected["of"] if expected["type"] in GROUPS else [expected]
    names = [part for part in parts if part["type"] in NAMES]
    measured = [part for part in parts if part["type"] in QUANTITIES]
    is_ordered = expected["type"] != "set"
    places: dict[int, int] = {}
    # The longest first: one name may be a part of another.
    for index, name in sorted(enumerate(names), key=lambda one: -len(str(one[1]["value"]))):
        spans = [match.span() for match in name_pattern(name).finditer(text)]
        if not spans:
            return False
        places[index] = spans[0][0]
        text = _without(text, spans)
    if is_ordered and [places[index] for index in range(len(names))] != sorted(places.values()):
        return False
    if measured:
        found = quantities(text)
        if not are_quantities(measured, found, is_ordered=is_ordered):
            return False
        text = _without(text, [(quantity.start, quantity.end) for quantity in found])
    return _says_nothing(text, words | {noun for part in measured for noun in nouns_of(part)})


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + _USED * (end - start) + text[end:]
    return text


def _says_nothing(text: str, words: frozenset[str]) -> bool:
    known = (_PUNCTUATION | _AROUND | words) - _DOUBTING
    tokens = set(re.findall(r"\w+|[^\w\s]", text.replace(_USED, " ")))
    return all(token in known or not known.isdisjoint(_stems(token)) for token in tokens)


def _stems(word: str) -> tuple[str, ...]:
    """Return what `closes`, `passed` and `reviews` may come from, and the plural of `reviewer`."""
    endings = [ending for ending in ("s", "es", "d", "ed") if word.endswith(ending)]
    if word in _DOUBTING:
        return ()
    return (word + "s", *(word.removesuffix(ending) for ending in endings))


def _without_repeats(text: str, task: str, words: frozenset[str]) -> str:
    """Take out what an answer repeats of the task, as `rated with 4 stars or more`."""
    tokens = list(_TOKEN.finditer(text))
    known = " ".join(_TOKEN.findall(plain(task)))
    known = f" {known} "
    start, kept, last = 0, [], 0
    while start < len(tokens):
        end = start
        while end < len(tokens) and f" {' '.join(t[0] for t in tokens[start : end + 1])} " in known:
            end += 1
        phrase = [token[0] for token in tokens[start:end]]
        if _is_repeat(phrase, words):
            kept.append(text[last : tokens[start].start()])
            last = tokens[end - 1].end()
            start = end
        else:
            start += 1
    return "".join(kept) + text[last:]


def _is_repeat(phrase: Sequence[str], words: frozenset[str]) -> bool:
    """Return whether a piece of the task is a condition of it, and no list of possible answers."""
    if len(phrase) < 2:
        return False
    return any(map(str.isdigit, phrase)) or len((words - {"and", "or"}).intersection(phrase)) > 1
