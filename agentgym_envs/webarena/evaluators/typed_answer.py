"""Judges an answer by its type and value, not by its wording: `typed_answer`, our own kind.

    {"type": "currency", "value": "$3,269.84"}
    {"type": "number", "value": 7, "unit": "review"}
    {"type": "all", "of": [{"type": "name", "value": "Alderbrook"},
                           {"type": "distance", "value": "190.8 km"}]}
    {"type": "impossible", "reason": [["pending"], ["no ", "none", "not"]]}

An answer is right if it holds these values, and beside them only words that say nothing (see
`filler.py`). Another number, name or unit makes it wrong, and so does a word of doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentgym_envs.webarena.evaluators.answer_parts import (
    are_quantities,
    name_pattern,
    noun_forms,
    part_nouns,
    part_quantity,
    plain,
    words_of_name,
)
from agentgym_envs.webarena.evaluators.filler import (
    USED,
    names_beside,
    remove_repetitions,
    stray,
    task_words,
    without_repeats,
    word_opposites,
)
from agentgym_envs.webarena.evaluators.impossible import check_lists, gives_reason, rests_on
from agentgym_envs.webarena.evaluators.quantities import (
    COUNTED,
    WEIGHTS,
    WORDS,
    Quantity,
    quantities,
)
from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged

QUANTITIES = ("number", "currency", "duration", "distance", "date", "time")
NAMES = ("name", "identifier")
GROUPS = ("list", "set", "all")
MAX_LENGTH = 2_000
"""Maximum characters of an answer that is read."""

TYPES = (*QUANTITIES, *NAMES, "boolean", *GROUPS, "impossible")

_YES, _NO = WORDS["yes"].split(), WORDS["no"].split()
_BULLET = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+", re.MULTILINE)
_NUMBERING = re.compile(r"(?:^|(?<=\s))\(?(\d+)[.)]\s+")
_MARKUP = re.compile(r"</?answer>|\\boxed\b|<(?=[\w.-]+@[\w.-]+>)|(?<=\w)>(?=\W*$)")
_LINE = re.compile(r"(?<=[^\s:;,]) *\n\s*")
_BESIDE_NAMES = re.compile(r"(?:\([^()]*|\bwith (?:an? \w+ of )?)$")
"""The words before a number given for a name: `Stockroom (7 issues)`."""


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
        beside = extra_words(self._expected, ending.answer, task=ending.intent)
        if beside == [] and not rests_on(self._expected, ending.answer, ending.visited):
            pages = [*self._expected["pages"], *self._expected.get("lists", ())]
            return judged([f"the reason rests on no page that was seen of {' or '.join(pages)}"])
        wrong = f"the answer {ending.answer!r:.200} is not {in_words(self._expected)}"
        if beside:
            wrong += f" alone; it says beside it: {' '.join(beside):.200}"
        return judged([] if beside == [] else [wrong])


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
        part_quantity(expected)
    elif kind == "impossible":
        check_lists(expected)


def in_words(expected: Mapping[str, Any]) -> str:
    """Return an expected answer as people read it."""
    if expected["type"] in GROUPS:
        return ", ".join(in_words(part) for part in expected["of"])
    if expected["type"] == "impossible":
        reason = " and ".join("/".join(words) for words in expected["reason"])
        return f"N/A with a reason that says {reason}"
    unit = expected.get("unit", "")
    is_said = str(unit) in str(expected["value"])
    return f"{expected['value']!r}" if is_said else f"{expected['value']!r} {unit}"


def is_answer(expected: Mapping[str, Any], answer: str, *, task: str = "") -> bool:
    """Return whether an answer is the expected one. Over `MAX_LENGTH` characters is not.

    Args:
        expected: of the form that `check_type` checks.
        answer: what was said.
        task: the intent; what an answer repeats of it says nothing.
    """
    return extra_words(expected, answer, task=task) == []


def extra_words(expected: Mapping[str, Any], answer: str, *, task: str = "") -> list[str] | None:
    """Return the words besides the expected value, or None if it is absent.

    Args:
        expected: of the form that `check_type` checks.
        answer: what was said.
        task: the intent.
    """
    if len(answer) > MAX_LENGTH:
        return None
    answer = _MARKUP.sub(" ", answer)
    answer = _BULLET.sub(" ", answer) if "\n" in answer.strip() else answer
    text = plain(_LINE.sub("; ", answer.strip()))
    if expected["type"] == "impossible":
        return [] if gives_reason(expected, text, task=task) else None
    if expected["type"] == "boolean":
        return _beside_boolean(text, bool(expected["value"]), task_words(task, with_names=True))
    parts = expected.get("of", [expected])
    names = [part for part in parts if _is_name(part)]
    # The names of a task could not be such an answer as `closed`.
    are_words = all(re.fullmatch(r"[a-z ]+", str(name["value"])) for name in names)
    words = task_words(task, with_names=are_words)
    words |= {word for name in names for word in words_of_name(name)}
    if not names:
        words |= names_beside(answer, with_codes=all(part["type"] in QUANTITIES for part in parts))
    words -= word_opposites(word for name in names for word in str(name["value"]).split())
    values = [str(value) for name in names for value in (name["value"], *name.get("also", ()))]
    texts = {text, remove_repetitions(text, task, values)}
    if [int(number) for number in _NUMBERING.findall(text)] == list(range(1, len(parts) + 1)):
        texts.add(_NUMBERING.sub(", ", text))
    texts |= {without_repeats(each, task, words) for each in texts}
    asked = quantities(plain(task))
    readings = [_beside(expected, each, words, asked) for each in sorted(texts)]
    return min((each for each in readings if each is not None), key=len, default=None)


# Inside ---------------------------------------------------------------------------------------


def _is_name(part: Mapping[str, Any]) -> bool:
    """Return whether another name could match this part. Never for numbers and codes."""
    is_code = part["type"] == "identifier" and any(map(str.isdigit, str(part["value"])))
    return part["type"] in NAMES and not is_code


def _beside_boolean(text: str, value: bool, words: frozenset[str]) -> list[str] | None:
    found = set(re.findall(r"\w+", text))
    is_yes, is_no = bool(found & set(_YES)), bool(found & set(_NO))
    if is_yes != value or is_no == value:
        return None
    rest = re.sub(rf"\b(?:{'|'.join(_YES if value else _NO)})\b", USED, text)
    return stray(rest, words)


def _beside(
    expected: Mapping[str, Any], text: str, words: frozenset[str], asked: Sequence[Quantity]
) -> list[str] | None:
    parts = expected["of"] if expected["type"] in GROUPS else [expected]
    names = [part for part in parts if part["type"] in NAMES]
    measured = [part for part in parts if part["type"] in QUANTITIES]
    is_ordered = expected["type"] != "set"
    places: dict[int, int] = {}
    # The longest first: one name may be a part of another.
    for index, name in sorted(enumerate(names), key=lambda one: -len(str(one[1]["value"]))):
        spans = [match.span() for match in name_pattern(name).finditer(text)]
        if not spans:
            return None
        places[index] = spans[0][0]
        text = _without(text, spans)
    if is_ordered and [places[index] for index in range(len(names))] != sorted(places.values()):
        return None
    found = quantities(text)
    if measured and not are_quantities(measured, found, is_ordered=is_ordered):
        found = quantities(text, with_words=True)  # `One comment; the best has 8 points`
        if not are_quantities(measured, found, is_ordered=is_ordered):
            return None
    if not measured:
        found = _about_names(names, text, found, asked)
        words |= {noun for each in found if each.noun in COUNTED for noun in noun_forms(each.noun)}
    text = _without(text, [(quantity.start, quantity.end) for quantity in found])
    return stray(text, words | {noun for part in measured for noun in part_nouns(part)})


def _about_names(
    names: Sequence[Mapping[str, Any]],
    text: str,
    found: Sequence[Quantity],
    asked: Sequence[Quantity],
) -> list[Quantity]:
    """Return the quantities that only speak of names: their number, evidence, the task's own."""
    are_codes = any(name["type"] == "identifier" for name in names)

    def is_evidence(quantity: Quantity) -> bool:
        is_bare = quantity.kind == "number" and quantity.noun not in WEIGHTS
        return quantity.kind == "currency" or (is_bare and bool(quantity.noun or not are_codes))

    conditions = {(each.kind, each.value, each.noun) for each in asked}
    return [
        each
        for each in found
        if (len(names) > 1 and each.value == len(names))  # `There are four of them`
        or (each.kind, each.value, each.noun) in conditions
        or (is_evidence(each) and _BESIDE_NAMES.search(text[: each.start]))
    ]


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + USED * (end - start) + text[end:]
    return text
