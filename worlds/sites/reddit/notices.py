"""Writes the posts that announce something: events, offers, news."""

from __future__ import annotations

from datetime import datetime, timedelta

from agentgym_envs.sites.filters import day
from worlds.dice import Dice
from worlds.sites.reddit.draft import Draft
from worlds.sites.reddit.slots import DAYS, Slots
from worlds.sites.reddit.topics import FOLK, TOWN_TOPICS, Topic
from worlds.words import read_words

_WORDS = read_words("sites/reddit/notices.toml")

_EVENTS: tuple[str, ...] = _WORDS["events"]
_BRING: tuple[str, ...] = _WORDS["bring"]
_SALES: tuple[str, ...] = _WORDS["sales"]
_STATES: tuple[str, ...] = _WORDS["states"]
_WHY: tuple[str, ...] = _WORDS["why"]
_QUARTERS: tuple[str, ...] = _WORDS["quarters"]
_PAPERS: tuple[str, ...] = _WORDS["papers"]
_LINKS: tuple[str, ...] = _WORDS["links"]
_TOWN_NEWS: tuple[str, ...] = _WORDS["town_news"]
_SUMMARIES: tuple[str, ...] = _WORDS["summaries"]


def event(topic: Topic, dice: Dice, created: datetime) -> Draft:
    """Write an invitation."""
    slots = Slots(topic, dice)
    when = created + timedelta(days=dice.between(6, 40))
    title = slots.write(_EVENTS)
    clock = f"{dice.between(9, 19)}:{dice.pick(('00', '15', '30', '45'))}"
    cost = f"${dice.between(1, 9) * 2}" if dice.chance(0.7) else "nothing"
    places = dice.between(6, 48)
    body = slots.fill(
        f"When: {DAYS[when.weekday()]}, {day(str(when))}, at {clock}.\n\n"
        "Where: {place} in {town}.\n\n"
        f"There are {places} places, and it costs {cost}. "
    ) + slots.write(_BRING)
    return Draft("Event", title, body)


def sale(topic: Topic, dice: Dice, created: datetime) -> Draft:
    """Write an offer."""
    slots = Slots(topic, dice)
    title = slots.write(_SALES)
    price = dice.between(*topic.prices)
    body = slots.fill(
        f"I ask ${price} for it. {dice.pick(_STATES)}\n\nTo be fetched in {{town}}, on a {{day}} "
        f"after {dice.between(15, 20)}:00. {dice.pick(_WHY)}"
    )
    return Draft("For sale", title, body, gear=slots["product"])


def news(topic: Topic, dice: Dice, created: datetime) -> Draft:
    """Write a link to a paper."""
    slots = Slots(topic, dice, folk=dice.pick(FOLK))
    slots["when"] = day(str(created + timedelta(days=dice.between(10, 90))))
    is_town = topic in TOWN_TOPICS
    if is_town:
        slots["town"] = dice.pick(_QUARTERS)
    title = slots.write(_TOWN_NEWS if is_town else _LINKS)
    words = "".join(c if c.isalnum() else " " for c in title.lower()).split()
    url = f"http://{dice.pick(_PAPERS)}.test/{created.year}/{'-'.join(words)}"
    body = slots.write(_SUMMARIES) if dice.chance(0.6) else ""
    return Draft("News", title, body, url)
