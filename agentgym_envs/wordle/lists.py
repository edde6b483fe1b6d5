"""Reads lists of words: the shipped ones, and a file of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

NUM_LETTERS = 5
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
NUM_LISTED = 40
"""Words of the list that is shown, as many as in the original."""

VERSION = 1
"""Raise it with every change after which a task id begins otherwise."""

_DIGEST = "312793e3365a"


@dataclass(frozen=True)
class WordList:
    """The words of a game.

    Attributes:
        words: those that may be hidden, in the list's order.
        further: those that can be guessed besides.
        is_shown: the first observation lists the words.
    """

    words: Sequence[str]
    further: frozenset[str] = frozenset()
    is_shown: bool = True

    @cached_property
    def allowed(self) -> frozenset[str]:
        """The words that can be guessed."""
        return self.further.union(self.words)


@dataclass(frozen=True)
class Lists:
    """The lists that tasks are played with.

    Attributes:
        listed: of AgentGym's tasks.
        common: of the tasks where the words are not shown, in the alphabet's order; None where
            there are none of those.
        hidden: the words of those tasks, by place.
        source: names them, with their hash.
    """

    listed: WordList
    common: WordList | None
    hidden: Sequence[str]
    source: str


@cache
def shipped_lists() -> Lists:
    """Return the lists that are shipped, read once per process.

    Raises:
        ValueError: a file is not the one that was shipped.
    """
    folder = files("agentgym_envs.wordle") / "content"
    common, further = (
        folder.joinpath(name).read_text("utf-8") for name in ("common.txt", "further.txt")
    )
    digest = _digest(common + further)
    if digest != _DIGEST:
        raise ValueError(
            f"the words of agentgym_envs.wordle are not those that were shipped ({digest}, not "
            f"{_DIGEST}); install the package anew"
        )
    words = common.split()
    listed, hidden = WordList(tuple(words[:NUM_LISTED])), tuple(words[NUM_LISTED:])
    # Sorted, so that no rule that goes through the list profits from how tasks were split.
    others = WordList(
        tuple(sorted(hidden)), frozenset([*listed.words, *further.split()]), is_shown=False
    )
    return Lists(listed, others, hidden, f"scowl-2020.12.07 v{VERSION} ({digest})")


def read_lists(path: str | Path) -> Lists:
    """Return the list of a file, as the original reads it: the lines of five letters.

    Raises:
        ValueError: it cannot be read, holds a word of other letters or one twice, or no word.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"words_file {str(path)!r} cannot be read: {error}") from error
    words = [line for line in map(str.strip, text.splitlines()) if len(line) == NUM_LETTERS]
    wrong = [word for word in words if not LETTERS.issuperset(word) or words.count(word) > 1]
    if wrong or not words:
        actual = repr(wrong[0]) if wrong else f"{text!r:.80}"
        raise ValueError(
            f"words_file {str(path)!r} must hold words of {NUM_LETTERS} small letters a to z, one "
            f"a line and none twice; got {actual}"
        )
    return Lists(WordList(tuple(words)), None, (), f"wordle-words ({_digest(text)})")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]
