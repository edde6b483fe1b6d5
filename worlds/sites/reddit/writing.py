"""Writes posts: their kinds, titles and texts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from worlds.dice import Dice
from worlds.sites.reddit.draft import Draft
from worlds.sites.reddit.notices import event, news, sale
from worlds.sites.reddit.slots import Slots
from worlds.sites.reddit.topics import Topic
from worlds.words import read_words

_WORDS = read_words("sites/reddit/writing.toml")

_QUESTIONS: tuple[tuple[str, ...], ...] = _WORDS["questions"]
_TRIED: tuple[str, ...] = _WORDS["tried"]
_ASKING: tuple[str, ...] = _WORDS["asking"]
_REVIEWS: tuple[str, ...] = _WORDS["reviews"]
_USED: tuple[str, ...] = _WORDS["used"]
_PRAISE: tuple[str, ...] = _WORDS["praise"]
_COMPLAINTS: tuple[str, ...] = _WORDS["complaints"]
_BUTS: tuple[str, ...] = _WORDS["buts"]
_STORIES: tuple[tuple[str, ...], ...] = _WORDS["stories"]
_THEN: tuple[str, ...] = _WORDS["then"]
_LEARNED: tuple[str, ...] = _WORDS["learned"]
_LISTS: tuple[str, ...] = _WORDS["lists"]
_CLOSING: tuple[str, ...] = _WORDS["closing"]
_TALKS: tuple[tuple[str, ...], ...] = _WORDS["talks"]


def write_post(topic: Topic, dice: Dice, created: datetime) -> Draft:
    """Write a post of a drawn kind."""
    return dice.weighted(_KINDS, _WEIGHTS)(topic, dice, created)


def _question(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    title, opening = dice.pick(_QUESTIONS)
    texts = [slots.fill(title), slots.fill(opening), slots.write(_TRIED), slots.write(_ASKING)]
    return Draft("Question", texts[0], f"{texts[1]} {texts[2]}\n\n{texts[3]}")


def _review(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    title = slots.write(_REVIEWS)
    rating, months = dice.between(2, 10), dice.between(2, 30)
    verdict = _PRAISE if rating >= 6 else _COMPLAINTS
    body = (
        slots.fill(f"I bought {{gear}} {months} months ago in {{town}} and paid {{price}} for it. ")
        + slots.write(_USED)
        + "\n\n"
        + slots.write(verdict)
        + " "
        + slots.write(_BUTS)
        + f"\n\nMy rating: {rating} out of 10."
    )
    return Draft("Review", title, body, gear=slots["product"])


def _story(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    title, opening = dice.pick(_STORIES)
    body = f"{opening} {dice.pick(_THEN)}\n\n{dice.pick(_LEARNED)}"
    return Draft("Story", slots.fill(title), slots.fill(body))


def _advice(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    number = dice.between(3, 5)
    years = dice.between(2, 30)
    title = slots.fill(dice.pick(_LISTS).replace("{k}", str(number)))
    points = "\n\n".join(f"{index}. {slots['tip']}" for index in range(1, number + 1))
    opening = slots.fill(f"I have been {{doing}} for {years} years, mostly in {{town}}.")
    return Draft("Advice", title, f"{opening}\n\n{points}\n\n{slots.write(_CLOSING)}")


def _discussion(topic: Topic, dice: Dice, created: datetime) -> Draft:
    slots = Slots(topic, dice)
    title, body = dice.pick(_TALKS)
    return Draft("Discussion", slots.fill(title), slots.fill(body))


_KINDS: tuple[Callable[[Topic, Dice, datetime], Draft], ...] = (
    _question, _review, _story, _advice, _discussion, event, sale, news,
)  # fmt: skip
_WEIGHTS = (28, 44, 58, 68, 82, 88, 93, 100)  # running sums, in percent
