"""Plays a game of Wordle: the hidden word, the marks of a guess, and the words left.

A letter is marked by itself, as in LMRL-Gym: one that is guessed twice is `y` twice even where the
word holds it once.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agentgym_envs.wordle.lists import LETTERS, NUM_LETTERS, WordList

NUM_GUESSES = 6
HERE, ELSEWHERE, ABSENT = "g", "y", "b"
ALL_HERE = HERE * NUM_LETTERS


class Guess(NamedTuple):
    """A guess and its marks, which are empty for a word that may not be guessed."""

    word: str
    marks: str


def guess_marks(word: str, hidden: str) -> str:
    """Return the marks of a guess, one for each letter: `"bygbb"`."""
    return "".join(
        HERE if letter == there else ELSEWHERE if letter in hidden else ABSENT
        for letter, there in zip(word, hidden, strict=True)
    )


class Game:
    """One game.

    Args:
        words: its list.
        seed: of the generator that draws the hidden word.
        hidden: the hidden word, where the seed does not draw it.
        redraws: the original's way: the hidden word is drawn anew at each guess, among those that
            fit what was told until then.
    """

    def __init__(
        self, words: WordList, *, seed: int, hidden: str | None = None, redraws: bool = False
    ) -> None:
        self.words = words
        self.guesses: list[Guess] = []
        self._rng = random.Random(seed)
        self.hidden: str | None = None
        """None where it is drawn at each guess."""
        if not redraws:
            self.hidden = self._rng.choice(words.words) if hidden is None else hidden

    def guess(self, word: str) -> str:
        """Return the marks of a guess, which counts even where it cannot be made: `""` then."""
        marks = ""
        if word in self.words.allowed:
            hidden = self._rng.choice(self.candidates()) if self.hidden is None else self.hidden
            marks = guess_marks(word, hidden)
        self.guesses.append(Guess(word, marks))
        return marks

    def candidates(self) -> Sequence[str]:
        """List the words consistent with all marks, in the list's order."""
        return candidates(self.words.words, self.guesses)

    @property
    def is_won(self) -> bool:
        """The last guess was the hidden word."""
        return bool(self.guesses) and self.guesses[-1].marks == ALL_HERE

    @property
    def is_over(self) -> bool:
        """The word is found, or no guess is left."""
        return self.is_won or self.num_left <= 0

    @property
    def num_left(self) -> int:
        """Guesses that are left."""
        return NUM_GUESSES - len(self.guesses)


def candidates(words: Sequence[str], guesses: Iterable[Guess]) -> Sequence[str]:
    """Return the words that give the same marks to all the guesses."""
    for guess in guesses:
        if guess.marks:
            words = [word for word in words if guess_marks(guess.word, word) == guess.marks]
    return words


def is_word(text: str) -> bool:
    """Return whether a text is five small letters."""
    return len(text) == NUM_LETTERS and LETTERS.issuperset(text)
