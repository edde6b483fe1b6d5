"""The people of the code host, and who follows whom."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from agentgym_envs.sites.people import PASSWORD, Person
from worlds.dice import Dice
from worlds.sites.gitlab.words import BIOS, STATUSES
from worlds.sites.moments import timestamp, working_moment
from worlds.sites.setting import Setting

NUM_USERS = 240


def make_users(connection: sqlite3.Connection, dice: Dice, setting: Setting) -> tuple[Person, ...]:
    """Add the users.

    A person's id is their position in the result, from 1.
    """
    users = setting.people[: NUM_USERS * setting.scale]
    rows = []
    for number, person in enumerate(users, 1):
        joined = working_moment(dice, datetime(2019, 5, 1), datetime(2024, 6, 1))
        password = PASSWORD if number == 1 else f"{person.username}-{dice.below(10**6):06}"
        bio, status = dice.pick(BIOS), dice.pick(STATUSES)
        location = "" if dice.chance(0.2) else person.town
        rows.append(
            (number, person.username, person.name, person.email, password, bio, status, location,
             timestamp(joined))
        )  # fmt: skip
    connection.executemany("INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return users


def make_follows(connection: sqlite3.Connection, dice: Dice, num_users: int) -> None:
    """Let users follow each other."""
    everybody = range(1, num_users + 1)
    rows = []
    for follower in everybody:
        number = dice.between(0, 9)
        rows += [(follower, other) for other in dice.sample(everybody, number) if other != follower]
    connection.executemany("INSERT INTO follows VALUES (?, ?)", rows)
