"""Writes the posts that announce something: events, offers, news."""

from __future__ import annotations

from datetime import datetime, timedelta

from agentgym_envs.webarena.sites.filters import day
from agentgym_envs.webarena.sites.reddit.dice import Dice
from agentgym_envs.webarena.sites.reddit.draft import Draft
from agentgym_envs.webarena.sites.reddit.slots import DAYS, Slots
from agentgym_envs.webarena.sites.reddit.words import Topic
from agentgym_envs.webarena.sites.reddit.words.towns import FOLK, TOWN_TOPICS


def event(topic: Topic, dice: Dice, created: datetime) -> Draft:
    """Write an invitation."""
    slots = Slots(topic, dice)
    when = created + timedelta(days=dice.number(6, 40))
    title = slots.write(_EVENTS)
    clock = f"{dice.number(9, 19)}:{dice.pick(('00', '15', '30', '45'))}"
    cost = f"${dice.number(1, 9) * 2}" if dice.chance(0.7) else "nothing"
    places = dice.number(6, 48)
    body = slots.fill(
        f"When: {DAYS[when.weekday()]}, {day(str(when))}, at {clock}.\n\n"
        "Where: {place} in {town}.\n\n"
        f"There are {places} places, and it costs {cost}. "
    ) + slots.write(_BRING)
    return Draft("Event", title, body)


_EVENTS = (
    "Meet-up in {town}: {doing}",
    "Workshop on {doing} in {town}",
    "Swap day for {thing} in {town}",
    "An evening about {thing} in {town}",
    "Beginners' course in {town}: {doing}",
)
_BRING = (
    "Bring your own {thing}.",
    "Tea and cake are there.",
    "Children are welcome.",
    "Write below if you come, so that we can count chairs.",
)


def sale(topic: Topic, dice: Dice, created: datetime) -> Draft:
    """Write an offer."""
    slots = Slots(topic, dice)
    title = slots.write(_SALES)
    asked = dice.number(*topic.prices)
    body = slots.fill(
        f"I ask ${asked} for it. {dice.pick(_STATES)}\n\nTo be fetched in {{town}}, on a {{day}} "
        f"after {dice.number(15, 20)}:00. {dice.pick(_WHY)}"
    )
    return Draft("For sale", title, body, gear=slots["product"])


_SALES = (
    "For sale in {town}: {product}",
    "{Product} looks for a new home in {town}",
    "Selling my {product}",
    "{Product}, used for {n} months, to be fetched in {town}",
)
_STATES = ("As good as new.", "It has scratches, but works.", "Used {n} times.", "Box is missing.")
_WHY = (
    "I bought {gear2} instead.",
    "My {person} gave me a better one.",
    "We are moving and have no room.",
    "I gave up {doing}, that is all.",
)


def news(topic: Topic, dice: Dice, created: datetime) -> Draft:
    """Write a link to a paper."""
    slots = Slots(topic, dice, folk=dice.pick(FOLK))
    slots["when"] = day(str(created + timedelta(days=dice.number(10, 90))))
    is_town = topic in TOWN_TOPICS
    if is_town:
        slots["town"] = dice.pick(_QUARTERS)
    title = slots.write(_TOWN_NEWS if is_town else _LINKS)
    words = "".join(c if c.isalnum() else " " for c in title.lower()).split()
    url = f"http://{dice.pick(_PAPERS)}.test/{created.year}/{'-'.join(words)}"
    body = slots.write(_SUMMARIES) if dice.chance(0.6) else ""
    return Draft("News", title, body, url)


_QUARTERS = ("the old town", "the north end", "the harbour quarter", "the new estate", "the centre")
_PAPERS = ("valdera-gazette", "coast-courier", "the-lantern", "hill-and-harbour", "daily-ferry")
_LINKS = (
    "A {big}-page guide to {thing}, free to download",
    "Study of {big} households: {doing} makes people happier",
    "{Thing} sell better than ever, says the trade",
    "Museum in {town} opens a show about {thing}",
    "The maker of {gear} closes its works in {town}",
    "Record in {town}: {big} people at {doing}",
)
_TOWN_NEWS = (
    "The {folk} in {town} closes for {n} weeks",
    "The council votes {n} to 1 for a new {folk} in {town}",
    "{big} people came to the opening of the {folk} in {town}",
    "Prices at the {folk} in {town} go up by {n} percent",
    "The {folk} in {town} opens again on {when}",
    "{n} ideas for the {folk} in {town}",
)
_SUMMARIES = (
    "A good read, {n} minutes long. The best part: {view}",
    "It starts on {when}. What do you think?",
    "According to the article it costs {price}.",
    "I do not agree with all of it. {view}",
)
