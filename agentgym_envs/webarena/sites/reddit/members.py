"""Makes the forum's users and communities: who belongs where, and who writes how often."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from agentgym_envs.webarena.sites.people import AGENT_ID, PASSWORD, Person, people
from agentgym_envs.webarena.sites.reddit.dice import Dice
from agentgym_envs.webarena.sites.reddit.words import TOPICS, Topic
from agentgym_envs.webarena.sites.state import NOW

NUM_USERS = 300


HOME_FORUMS = (
    "gardening", "baking", "cycling", "birdwatching", "home-networking", "books", "board-games",
    "valdera", "willowmere",
)  # fmt: skip
"""Where the agent's user writes."""

_MODERATED = ("baking", "willowmere")  # by the agent's user
_NOW = datetime.fromisoformat(NOW)


@dataclass(frozen=True)
class Community:
    """A community and the people who write in it.

    Attributes:
        id: of its row.
        topic: what it is about.
        regulars: user ids.
        cumulated: running sums of how much each of them writes.
    """

    id: int
    topic: Topic
    regulars: tuple[int, ...]
    cumulated: tuple[float, ...]

    def author(self, dice: Dice, *, but: int = 0) -> int:
        """Draw who writes next; `but` is somebody else's id."""
        for _ in range(20):
            drawn = dice.heavy(self.regulars, self.cumulated)
            if drawn != but:
                return drawn
        return next(user for user in self.regulars if user != but)


def stamp(moment: datetime) -> str:
    """Write a moment as the database holds it."""
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def fill_users(connection: sqlite3.Connection, dice: Dice) -> None:
    """Write the users; the agent's is the first."""
    rows = []
    for number, person in enumerate(people()[:NUM_USERS], 1):
        joined = _NOW - timedelta(days=dice.number(740, 1400), minutes=dice.number(0, 1439))
        secret = (
            PASSWORD if number == AGENT_ID else f"{person.username}-{dice.number(10**5, 10**6)}"
        )
        bio = _biography(person, dice)
        rows.append(
            (number, person.username, person.name, secret, person.email, bio, stamp(joined))
        )
    connection.executemany("INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def _biography(person: Person, dice: Dice) -> str:
    first, second = dice.some(TOPICS[:35], 2)
    return dice.pick(_BIOS).format(
        town=person.town,
        first=dice.pick(first.things),
        second=dice.pick(second.things),
        doing=dice.pick(first.doing),
        years=dice.number(2, 40),
    )


_BIOS = (
    "Lives in {town}. Here for {first} and {second}.",
    "{years} years of {doing}, and still learning. {town}.",
    "Retired teacher from {town}, now busy with {first}.",
    "From {town}. Ask me about {first}, never about {second}.",
    "Mostly reading along. {town}, two children, too many {second}.",
    "Nurse in {town}. {first} by day, {second} by night.",
    "Born in {town}. I write about {doing} when it rains.",
)


def fill_communities(connection: sqlite3.Connection, dice: Dice) -> list[Community]:
    """Write the communities, their moderators and their subscribers."""
    result = []
    moderators, subscriptions = [], []
    for number, topic in enumerate(TOPICS, 1):
        community = _community(number, topic, dice)
        result.append(community)
        leads = [user for user in community.regulars if user != AGENT_ID][:2]
        if topic.name in _MODERATED:
            leads.insert(0, AGENT_ID)
        created = _NOW - timedelta(days=dice.number(735, 1300), minutes=dice.number(0, 1439))
        connection.execute(
            "INSERT INTO forums VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, topic.name, topic.title, topic.description, _rules(topic, dice), leads[-1],
             stamp(created)),
        )  # fmt: skip
        moderators += [(number, user) for user in leads]
        others = dice.some(range(2, NUM_USERS + 1), dice.number(8, 70))
        subscriptions += [(number, user) for user in {*community.regulars, *others}]
    connection.executemany("INSERT INTO moderators VALUES (?, ?)", moderators)
    connection.executemany("INSERT INTO subscriptions VALUES (?, ?)", sorted(subscriptions))
    return result


def _community(number: int, topic: Topic, dice: Dice) -> Community:
    regulars = dice.some(range(2, NUM_USERS + 1), dice.number(20, 30))
    weights = [1.0 / (rank + 3) for rank in range(len(regulars))]
    if topic.name in HOME_FORUMS:
        regulars.append(AGENT_ID)
        weights.append(0.08 * sum(weights))
    return Community(number, topic, tuple(regulars), tuple(accumulate(weights)))


def _rules(topic: Topic, dice: Dice) -> str:
    about = f"This is the place for {dice.pick(topic.things)} and everything around them."
    rules = dice.some(_RULES, 3)
    numbered = [f"{index}. {rule}" for index, rule in enumerate(rules, 1)]
    return "\n\n".join([about, *numbered])


_RULES = (
    "Be kind, even when you are right.",
    "One sales post a month and person.",
    "Say where you live if the answer depends on it.",
    "No advertising.",
    "Mark your post with a flair.",
    "Search before you ask.",
    "No photos of other people.",
    "Reviews say what you paid.",
    "Politics belong elsewhere.",
    "Write titles that say what the post is about.",
)
