"""Writes comments: answers to a post and to other comments."""

from __future__ import annotations

from worlds.dice import Dice
from worlds.sites.reddit.draft import Draft
from worlds.sites.reddit.slots import Slots
from worlds.sites.reddit.topics import Topic
from worlds.words import read_words

_WORDS = read_words("sites/reddit/talk.toml")

_ANYWHERE: tuple[str, ...] = _WORDS["anywhere"]
_ANSWERS: tuple[str, ...] = _WORDS["answers"]
_ON_REVIEWS: tuple[str, ...] = _WORDS["on_reviews"]
_ON_STORIES: tuple[str, ...] = _WORDS["on_stories"]
_ON_ADVICE: tuple[str, ...] = _WORDS["on_advice"]
_ON_TALKS: tuple[str, ...] = _WORDS["on_talks"]
_ON_EVENTS: tuple[str, ...] = _WORDS["on_events"]
_ON_SALES: tuple[str, ...] = _WORDS["on_sales"]
_ON_NEWS: tuple[str, ...] = _WORDS["on_news"]
_REPLIES: tuple[str, ...] = _WORDS["replies"]


def answer_post(topic: Topic, dice: Dice, draft: Draft) -> str:
    """Write a comment on a post."""
    slots = Slots(topic, dice)
    if draft.gear:
        slots["product"] = draft.gear
    return slots.write(_COMMENTS[draft.flair] if dice.chance(0.8) else _ANYWHERE)


def answer_comment(topic: Topic, dice: Dice) -> str:
    """Write a reply to a comment."""
    return Slots(topic, dice).write(_REPLIES)


_COMMENTS = {
    "Question": _ANSWERS,
    "Review": _ON_REVIEWS,
    "Story": _ON_STORIES,
    "Advice": _ON_ADVICE,
    "Discussion": _ON_TALKS,
    "Event": _ON_EVENTS,
    "For sale": _ON_SALES,
    "News": _ON_NEWS,
}
