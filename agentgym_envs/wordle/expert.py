"""Guesses words consistent with the marks, and by rules that read less of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from agentgym_envs.core import ExpertMove
from agentgym_envs.wordle.game import ABSENT, ELSEWHERE, HERE, Game, Guess
from agentgym_envs.wordle.lists import LETTERS, NUM_LETTERS

_MOST_NAMED = 6
"""Words that a thought lists."""

_CHUNK = 200
"""Guesses that are weighed at once, which bounds the memory."""


def spelled(word: str) -> str:
    """Return a word as it is guessed: `"s h i r e"`."""
    return " ".join(word)


def moves(game: Game) -> Iterator[ExpertMove]:
    """Yield guesses until the game is over."""
    while not game.is_over:
        left = game.candidates()
        if not left:
            return
        word = best_guess(tuple(game.words.words), tuple(left), game.num_left)
        yield ExpertMove(spelled(word), _thought(game, left, word))


def hidden_word(game: Game) -> Iterator[ExpertMove]:
    """Yield the hidden word."""
    assert game.hidden is not None
    yield ExpertMove(spelled(game.hidden))


# Baselines ----------------------------------------------------------------------------------------


def list_order(game: Game) -> Iterator[ExpertMove]:
    """Yield the words in the list's order, whatever the marks say."""
    yield from (ExpertMove(spelled(word)) for word in game.words.words[: game.num_left])


def first_fit(game: Game) -> Iterator[ExpertMove]:
    """Yield the first word of the list that fits all marks, again and again."""
    while not game.is_over:
        yield ExpertMove(spelled(game.candidates()[0]))


# Which guess is best ------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def best_guess(words: tuple[str, ...], left: tuple[str, ...], num_left: int) -> str:
    """Return the word that leaves the fewest on average of those that may be hidden.

    Of equals, one that may be hidden itself comes first, then the earlier one. The last guess, and
    the choice among two, is one that may be hidden.

    Args:
        words: all of the list.
        left: those that may be hidden.
        num_left: guesses that are left.
    """
    if num_left == 1 or len(left) <= 2:
        return left[0]
    hidden = _codes(left)
    presence = _presence(hidden)
    remaining: list[int] = []
    for start in range(0, len(words), _CHUNK):
        guesses = _codes(words[start : start + _CHUNK])
        remaining += _remaining(guesses, hidden, presence).tolist()
    may_be_hidden = set(left)
    keys = [
        (size, word not in may_be_hidden, place)
        for place, (word, size) in enumerate(zip(words, remaining, strict=True))
    ]
    return words[min(keys)[-1]]


def _codes(words: Sequence[str]) -> NDArray[np.uint8]:
    """Return words as numbers of letters: (W, 5) uint8, 0 for a."""
    text = "".join(words).encode("ascii")
    return (np.frombuffer(text, np.uint8) - ord("a")).reshape(len(words), NUM_LETTERS)


def _presence(words: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which letters words hold: (W, 26) bool."""
    presence = np.zeros((len(words), len(LETTERS)), bool)
    presence[np.arange(len(words))[:, None], words] = True
    return presence


def _remaining(
    guesses: NDArray[np.uint8], hidden: NDArray[np.uint8], presence: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return for each guess the sum of squares of how many words each answer leaves: (G,) int64.

    Divided by the number of hidden words it is the mean number of those left. Whole numbers compare
    alike on every machine, which entropies need not.
    """
    answers = np.zeros((len(guesses), len(hidden)), np.int64)  # (G, H), in base 3
    for place in range(NUM_LETTERS):
        letters = guesses[:, place]
        answers *= 3
        answers += presence[:, letters].T
        answers += hidden[:, place] == letters[:, None]
    num_answers = 3**NUM_LETTERS
    answers += num_answers * np.arange(len(guesses))[:, None]
    counts = np.bincount(answers.ravel(), minlength=num_answers * len(guesses))
    squares: NDArray[np.int64] = np.square(counts.reshape(len(guesses), num_answers)).sum(axis=1)
    return squares


# Thoughts -----------------------------------------------------------------------------------------


def _thought(game: Game, left: Sequence[str], word: str) -> str:
    knowledge = _knowledge(game.guesses)
    if not knowledge:
        return "Nothing is known yet: I guess a word that tells many others apart."
    found = f"{knowledge} {_fitting_in_words(left, is_shown=game.words.is_shown)}"
    if len(left) == 1:
        return f"{found}."
    if word in left:
        return f"{found}: I guess one of them."
    return f"{found}: I guess another word, which tells them apart best."


def _fitting_in_words(left: Sequence[str], *, is_shown: bool) -> str:
    """Return how many words fit and which, where a text has shown the list that says so."""
    if not is_shown:
        return "I know one word that fits" if len(left) == 1 else "I know words that fit"
    count = "One word fits" if len(left) == 1 else f"{len(left)} words fit"
    return count + (f" ({', '.join(left)})" if len(left) <= _MOST_NAMED else "")


def _knowledge(guesses: Sequence[Guess]) -> str:
    """Return the marks' facts about the letters in words, or an empty text."""
    places = ["_"] * NUM_LETTERS
    elsewhere: dict[str, list[int]] = {}
    absent: dict[str, None] = {}
    for guess in guesses:
        for place, (letter, mark) in enumerate(zip(guess.word, guess.marks, strict=False)):
            if mark == HERE:
                places[place] = letter
            elif mark == ELSEWHERE:
                elsewhere.setdefault(letter, []).append(place + 1)
            elif mark == ABSENT:
                absent[letter] = None
    parts = []
    if places.count("_") < NUM_LETTERS:
        parts.append(f"it is {' '.join(places)}")
    for letter, misses in elsewhere.items():
        if letter in places:
            continue
        which = ", ".join(map(str, sorted(set(misses))))
        parts.append(f"it has {letter}, but not as letter {which}")
    if absent:
        parts.append(f"it has no {', '.join(absent)}")
    text = "; ".join(parts)
    return text and f"{text[0].upper()}{text[1:]}."
