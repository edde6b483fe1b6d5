"""Titles of works, built from word lists. Some echo another title on purpose."""

from __future__ import annotations

from worlds.dice import Dice
from worlds.searchqa.vocabulary import (
    ABSTRACT,
    ADJECTIVES,
    NOUNS,
    PLURALS,
    PROFESSIONS,
    TITLE_PATTERNS,
)


def make_title(dice: Dice, place: str, given: str) -> str:
    """Make a title, which may use the names `place` and `given`."""
    return _fill(dice, dice.pick(TITLE_PATTERNS), place, given)


def echo_title(dice: Dice, title: str) -> str:
    """Make a title that differs from another one in a word, for a neighbour that misleads."""
    words = title.split()
    lists = (ADJECTIVES, NOUNS, PLURALS, ABSTRACT)
    places = [
        (index, words_of)
        for index, word in enumerate(words)
        for words_of in lists
        if word in words_of
    ]
    if not places:
        return title
    index, words_of = dice.pick(places)
    words[index] = dice.pick([word for word in words_of if word != words[index]])
    return _with_fitting_article(" ".join(words))


def _with_fitting_article(title: str) -> str:
    first, _, rest = title.partition(" ")
    if first not in ("A", "An"):
        return title
    return f"{'An' if rest[0] in 'AEIOU' else 'A'} {rest}"


def _fill(dice: Dice, pattern: str, place: str, given: str) -> str:
    first, second = dice.sample(PLURALS, 2)
    title = pattern.format(
        adjective=dice.pick(ADJECTIVES),
        noun=dice.pick(NOUNS),
        plural=first,
        plural2=second,
        abstract=dice.pick(ABSTRACT),
        profession=dice.pick(PROFESSIONS),
        place=place,
        given=given,
    )
    return _with_fitting_article(title)
