"""Decides which words of an answer add nothing to the expected value.

These are the words of `words.toml` and those of the task. Where a name is asked for, the task's own
names could be answers: only its lower-case words count, and its names where they are plainly given,
as in `from Larkspur`. Where numbers or codes are asked for, no name could be the answer, so any
name may stand beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agentgym_envs.webarena.evaluators.answer_parts import plain
from agentgym_envs.webarena.evaluators.quantities import COUNTED, WORDS, singular

USED = "\0"
"""Stands in a text for a character that is accounted for."""

_PUNCTUATION = set(",.;:!?()[]{}\"'-=>&/|#@\\")
_AROUND = frozenset(WORDS["around"].split())
_DOUBTING = frozenset(WORDS["doubting"].split())
_WEEKDAYS = frozenset(WORDS["weekdays"].split())
_NO_NAMES = frozenset(
    f"{WORDS['no_names']} {WORDS['weekdays']} {WORDS['yes']} {WORDS['no']}".split()
).union(
    *({name, name[:3], name + "s"} for key in ("numbers", "seconds", "metres", "months")
      for name in WORDS[key])
)  # fmt: skip
_TOKEN = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
_CAPITALISED = re.compile(r"(?<![\d$€£])(?<![\d$€£]\s)\b[A-Z]\w*")
_SHORT_CODE = re.compile(r"[A-Z]{3,}\d{1,2}")
_STARTING = re.compile(r"(?:^|[.!?:;\n(])\W*$")
_NAME_GOES_ON = re.compile(r"['’]s\b|[ -][A-Z]")
_USER = re.compile(r"[\w.-]+@[\w.-]+\w|\b[a-z]+(?:\.[a-z]+)+\b", re.IGNORECASE)
_PHRASES = re.compile(rf"\b(?:{'|'.join(WORDS['phrases'])})\b")
_HEDGE = re.compile(
    rf"\b(?:{'|'.join(WORDS['hedging'])}) ?\$?{USED}"
    # `A -> B` and `A > B` are lists.
    rf"|(?<![-=>])(?<!{USED} )(?<!{USED}\. )> ?\$?{USED}|{USED}\.? >\$?{USED}"
    rf"|{USED} ?\.{{3,}}\W*$|\bn ?/ ?a\b"
)
_PER = re.compile(r"\bper (\d[\d.,]* \w+)")
_GIVING = "|".join(WORDS["giving"].split())
_ABOUT = r"'s\b| (?:has|have|is|was|made|wrote|gave|gives|closes|opens|does|did)\b"
_RUN = re.compile(r"\b[A-Z][\w'’-]*(?: (?:(?:and|of|the|&) )?[A-Z][\w'’-]*)*")


def task_words(task: str, *, with_names: bool) -> frozenset[str]:
    """Return the words of a task that say nothing in its answer.

    Args:
        task: the intent.
        with_names: its names say nothing either; without, its lower-case words and its days of the
            week alone do.
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


def names_beside(answer: str, *, with_codes: bool) -> frozenset[str]:
    """Return the words of the names in an answer that gives no name.

    Args:
        answer: as it was written; a capital letter or the form of a user name shows a name.
        with_codes: LOOM5 is a name too; longer codes never are.
    """
    users = {word for name in _USER.findall(answer) for word in re.findall(r"\w+|@", name)}
    capitalised = {
        match[0]
        for match in _CAPITALISED.finditer(answer)
        if match[0].isalpha() or (with_codes and _SHORT_CODE.fullmatch(match[0]))
        # A capital letter at the start of a sentence shows no name.
        and (not _STARTING.search(answer[: match.start()])
             or _NAME_GOES_ON.match(answer, match.end()))
    }  # fmt: skip
    return frozenset(word.casefold() for word in users | capitalised) - _NO_NAMES


def remove_repetitions(text: str, task: str, values: Sequence[str]) -> str:
    """Take out the task's names that a plain text speaks of: `from Larkspur`, `Larkspur has`.

    Args:
        text: the answer.
        task: the intent.
        values: the names that are asked for. Where one shares a word with the task's names, these
            may be a list to choose from, and all stay.
    """
    names = _names_in(task)
    words = {word for name in names for word in _words(name)}
    if not names or any(not words.isdisjoint(_words(plain(value))) for value in values):
        return text
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    given = re.compile(
        rf"\b((?:{_GIVING}) (?:the )?)({listed})(?!\w)|(?<!\w)()({listed})(?={_ABOUT})"
    )
    return given.sub(_used_name, text)


def without_repeats(text: str, task: str, words: frozenset[str]) -> str:
    """Remove an answer's repetitions of the task, as `rated with 4 stars or more`."""
    text = _PER.sub(lambda match: "" if f"{match[1]} of " in plain(task) else match[0], text)
    text = re.sub(r"(?<=\d) ?/ ?(?=\d)", " out of ", text) if " out of " in task else text
    tokens = list(_TOKEN.finditer(text))
    known = " ".join(_TOKEN.findall(plain(task)))
    known = f" {known} "
    start, kept, last = 0, [], 0
    while start < len(tokens):
        end = start
        while end < len(tokens) and f" {' '.join(t[0] for t in tokens[start : end + 1])} " in known:
            end += 1
        phrase = [token[0] for token in tokens[start:end]]
        before = tokens[start - 1][0] if start else ""
        # What a number counts stays beside it: `10 complete orders` is no amount.
        is_counted = before.isdigit() and not COUNTED.isdisjoint(map(singular, phrase))
        if _is_repeat(phrase, words) and not is_counted:
            kept.append(text[last : tokens[start].start()])
            last = tokens[end - 1].end()
            start = end
        else:
            start += 1
    return "".join(kept) + text[last:]


def stray(text: str, words: frozenset[str]) -> list[str]:
    """Return the words of a plain text that do say something, in its order."""
    text = _PHRASES.sub(" ", text)
    if hedge := _HEDGE.search(text):
        return hedge[0].replace(USED, " ").split()
    known = (_PUNCTUATION | _AROUND | words) - _DOUBTING - (word_opposites(words) - words)
    tokens = dict.fromkeys(re.findall(r"\w+|[^\w\s]", text.replace(USED, " ")))
    return [each for each in tokens if each not in known and known.isdisjoint(_stems(each))]


def word_opposites(words: Iterable[str]) -> frozenset[str]:
    """Return the words that say the opposite of one of these."""
    return frozenset(
        opposite for word in words for opposite in WORDS["opposites"].get(word, "").split()
    )


# Inside ---------------------------------------------------------------------------------------


def _used_name(match: re.Match[str]) -> str:
    before, name = (match[1], match[2]) if match[2] else (match[3], match[4])
    return before + USED * len(name)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", text)) - _AROUND


def _names_in(task: str) -> set[str]:
    """Return the runs of capitalised words in a task, in plain letters."""
    runs = {plain(run).removesuffix("'s") for run in _RUN.findall(task)}
    # A sentence may begin with a verb: `Count Arlo Caldwell's commits`.
    runs |= {run.partition(" ")[2] for run in runs if " " in run}
    return runs - set(WORDS["months"])


def _stems(word: str) -> tuple[str, ...]:
    """Return the possible stems of a word such as `closes` or `passed`, and its plural."""
    if word in _DOUBTING:
        return ()
    stems = [
        word.removesuffix(ending) for ending in ("s", "es", "d", "ed") if word.endswith(ending)
    ]
    return (word + "s", *(stem for stem in stems if len(stem) > 2))  # `Ines` is no `in`


def _is_repeat(phrase: Sequence[str], words: frozenset[str]) -> bool:
    """Return whether a piece of the task is a condition of it, and no list of possible answers."""
    if len(phrase) < 2 or " ".join(phrase[-2:]) in WORDS["hedging"]:  # `up to 5` is no 5
        return False
    has_figure = any(map(str.isdigit, "".join(phrase)))
    return has_figure or len((words - {"and", "or"}).intersection(phrase)) > 1
