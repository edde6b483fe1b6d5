"""Makes Wordle's word lists from two of SCOWL's: common words, and all allowed guesses.

    python -m worlds.wordle.make SMALL LARGE [--out FOLDER]

SMALL and LARGE are the lists of Debian's packages `wamerican-small` and `wamerican`
(2020.12.07-2), a word a line. Their licence is beside what is made of them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from agentgym_envs.wordle.lists import NUM_LETTERS
from worlds.dice import Dice

FOLDER = Path(__file__).parents[2] / "agentgym_envs" / "wordle" / "content"
_WORD = re.compile(rf"[a-z]{{{NUM_LETTERS}}}")
_ROMAN = re.compile(r"c{0,3}(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_UNFIT = frozenset(
    "bitch boobs chink coons cunts dicks dyked dykes enema fagot feces fucks gooks gypsy kikes "
    "lynch penis pussy queer raped rapes semen shits sluts sperm spics tarts twats whore".split()
)
"""Insults and the like, which no model should be made to write."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the lists that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m worlds.wordle.make", description=__doc__)
    parser.add_argument("small", type=Path)
    parser.add_argument("large", type=Path)
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    small, large = (read(path) for path in (options.small, options.large))
    common = common_words(small)
    further = sorted(set(filter(is_playable, small | large)) - set(common))
    for name, words in (("common.txt", common), ("further.txt", further)):
        text = "".join(f"{word}\n" for word in words)
        (options.out / name).write_text(text, encoding="utf-8")


def read(path: Path) -> set[str]:
    """Return the words of a list."""
    return set(path.read_text(encoding="utf-8").split())


def common_words(words: set[str]) -> list[str]:
    """Return the words of five letters that are forms of no other, in a drawn order."""
    chosen = [word for word in words if is_playable(word) and not is_form(word, words)]
    draw = Dice("wordle", 1).random
    order = {word: draw() for word in sorted(chosen)}
    return sorted(chosen, key=lambda word: order[word])


def is_playable(word: str) -> bool:
    """Return whether a word has five letters, is neither a Roman numeral nor unfit."""
    is_odd = _ROMAN.fullmatch(word) is not None or word in _UNFIT
    return _WORD.fullmatch(word) is not None and not is_odd


def is_form(word: str, words: set[str]) -> bool:
    """Return whether a word looks like a form of another: plural, past tense, comparison."""
    for ending, stems in {
        "s": (word[:-1], word[:-2], f"{word[:-3]}y"),
        "ed": (word[:-2], word[:-1], f"{word[:-3]}y"),
        "ing": (word[:-3], f"{word[:-3]}e"),
        "er": (word[:-2], word[:-1]),
        "st": (word[:-3], word[:-2]),
    }.items():
        if word.endswith(ending) and not word.endswith("ss") and words.intersection(stems):
            return True
    return False


if __name__ == "__main__":
    main()
