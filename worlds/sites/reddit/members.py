"""Makes the forum's users and communities: who belongs where, and who writes how often."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate

from agentgym_envs.sites.people import AGENT_ID, PASSWORD, Person
from worlds.dice import Dice
from worlds.sites.moments import TODAY, timestamp
from worlds.sites.reddit.topics import SUBJECT_TOPICS, TOPICS, Topic
from worlds.words import read_words

_WORDS = read_words("sites/reddit/members.toml")

HOME_FORUMS: tuple[str, ...] = _WORDS["home_forums"]
"""Communities in which the agent's user writes."""

_BIOS: tuple[str, ...] = _WORDS["bios"]
_RULES: tuple[str, ...] = _WORDS["rules"]

_MODERATED = ("baking", "willowmere")  # by the agent's user


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
        """Draw the next author, other than `but`."""
        for _ in range(20):
            drawn = dice.weighted(self.regulars, self.cumulated)
            if drawn != but:
                return drawn
        return next(user for user in self.regulars if user != but)


def fill_users(connection: sqlite3.Connection, dice: Dice, users: Sequence[Person]) -> None:
    """Write the users, the agent's first."""
    rows = []
    for number, person in enumerate(users, 1):
        joined = TODAY - timedelta(days=dice.between(740, 1400), minutes=dice.between(0, 1439))
        secret = (
            PASSWORD if number == AGENT_ID else f"{person.username}-{dice.between(10**5, 10**6)}"
        )
        bio = _biography(person, dice)
        rows.append(
            (number, person.username, person.name, secret, person.email, bio, timestamp(joined))
        )
    connection.executemany("INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def _biography(person: Person, dice: Dice) -> str:
    first, second = dice.sample(SUBJECT_TOPICS, 2)
    return dice.pick(_BIOS).format(
        town=person.town,
        first=dice.pick(first.things),
        second=dice.pick(second.things),
        doing=dice.pick(first.doing),
        years=dice.between(2, 40),
    )


def fill_communities(connection: sqlite3.Connection, dice: Dice, num_users: int) -> list[Community]:
    """Write the communities, their moderators and their subscribers."""
    result = []
    moderators, subscriptions = [], []
    for number, topic in enumerate(TOPICS, 1):
        community = _community(number, topic, dice, num_users)
        result.append(community)
        leads = [user for user in community.regulars if user != AGENT_ID][:2]
        if topic.name in _MODERATED:
            leads.insert(0, AGENT_ID)
        created = TODAY - timedelta(days=dice.between(735, 1300), minutes=dice.between(0, 1439))
        connection.execute(
            "INSERT INTO forums VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, topic.name, topic.title, topic.description, _rules(topic, dice), leads[-1],
             timestamp(created)),
        )  # fmt: skip
        moderators += [(number, user) for user in leads]
        others = dice.sample(range(2, num_users + 1), dice.between(8, 70))
        subscriptions += [(number, user) for user in {*community.regulars, *others}]
    connection.executemany("INSERT INTO moderators VALUES (?, ?)", moderators)
    connection.executemany("INSERT INTO subscriptions VALUES (?, ?)", sorted(subscriptions))
    return result


def _community(number: int, topic: Topic, dice: Dice, num_users: int) -> Community:
    regulars = dice.sample(range(2, num_users + 1), dice.between(20, 30))
    weights = [1.0 / (rank + 3) for rank in range(len(regulars))]
    if topic.name in HOME_FORUMS:
        regulars.append(AGENT_ID)
        weights.append(0.08 * sum(weights))
    return Community(number, topic, tuple(regulars), tuple(accumulate(weights)))


def _rules(topic: Topic, dice: Dice) -> str:
    about = f"This is the place for {dice.pick(topic.things)} and everything around them."
    rules = dice.sample(_RULES, 3)
    numbered = [f"{index}. {rule}" for index, rule in enumerate(rules, 1)]
    return "\n\n".join([about, *numbered])
