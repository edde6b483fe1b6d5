"""Draws the map's users, their reviews, saved places and suggested corrections."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import timedelta

from agentgym_envs.sites.map.categories import BY_NAME
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.sites.moments import TODAY
from worlds.sites.setting import TOWNS, Setting
from worlds.words import read_words

NUM_USERS = 200
SUGGESTIONS = 120
PER_LIST = 12  # places in each of the agent's lists

_WORDS = read_words("sites/map/remarks.toml")

_PRAISE: dict[str, tuple[str, ...]] = _WORDS["praise"]
_COMPLAINTS: dict[str, tuple[str, ...]] = _WORDS["complaints"]
_SOSO: tuple[str, ...] = _WORDS["soso"]
_ENDINGS: tuple[str, ...] = _WORDS["endings"]
_PLAIN_ENDINGS: tuple[str, ...] = _WORDS["plain_endings"]
_LIST_NAMES: tuple[str, ...] = _WORDS["list_names"]
_NOTES: tuple[str, ...] = _WORDS["notes"]


def fill_community(connection: sqlite3.Connection, dice: Dice, setting: Setting) -> None:
    """Fill in users and their content. The places must exist."""
    users = setting.people[: NUM_USERS * setting.scale]
    connection.executemany(
        "INSERT INTO users (name, username, email, home_town_id) VALUES (?, ?, ?, ?)",
        [(user.name, user.username, user.email, TOWNS.index(user.town) + 1) for user in users],
    )
    places = connection.execute("SELECT id, category, town_id, phone FROM places").fetchall()
    ids = range(1, len(users) + 1)
    _reviews(connection, places, ids, dice)
    _lists(connection, places, ids, dice)
    _suggestions(connection, places, ids, dice, SUGGESTIONS * setting.scale)


def _moment(dice: Dice, days: int) -> str:
    ago = timedelta(minutes=dice.between(60, days * 24 * 60 - 1))
    return str(TODAY - ago)


def _reviews(
    connection: sqlite3.Connection, places: list[sqlite3.Row], users: Sequence[int], dice: Dice
) -> None:
    rows = []
    for place in places:
        group = BY_NAME[place["category"]].group
        level = dice.by_weight((3, 4, 5), (2, 5, 4))
        for user in dice.sample(users, dice.pick((0, 0, 1, 1, 2, 2, 3, 4))):
            rating = max(1, min(5, level + dice.pick((-2, -1, 0, 0, 0, 1))))
            body = _remark(group, rating, dice)
            rows.append((place["id"], user, rating, body, _moment(dice, 900)))
    rows.sort(key=lambda row: str(row[4]))
    connection.executemany(
        "INSERT INTO reviews (place_id, user_id, rating, body, created_at) VALUES (?, ?, ?, ?, ?)",
        rows,
    )
    connection.execute(
        "UPDATE places SET rating = r.rating, num_reviews = r.number FROM (SELECT place_id,"
        " round(avg(rating), 1) rating, count(*) number FROM reviews GROUP BY place_id) r"
        " WHERE r.place_id = places.id"
    )


def _remark(group: str, rating: int, dice: Dice) -> str:
    if rating >= 4:
        first = dice.pick(_PRAISE[group])
    elif rating == 3:
        first = dice.pick(_SOSO)
    else:
        first = dice.pick(_COMPLAINTS[group])
    endings = _ENDINGS if rating >= 4 else _PLAIN_ENDINGS
    return f"{first} {dice.pick(endings)}".strip()


def _lists(
    connection: sqlite3.Connection, places: list[sqlite3.Row], users: Sequence[int], dice: Dice
) -> None:
    for user in users:
        names = list(_LIST_NAMES)
        if user != AGENT_ID:
            names = dice.sample(names, dice.pick((0, 0, 1, 2)))
        for name in names:
            made = connection.execute(
                "INSERT INTO lists (user_id, name, created_at) VALUES (?, ?, ?)",
                (user, name, _moment(dice, 400)),
            ).lastrowid
            number = PER_LIST if user == AGENT_ID else dice.between(2, 5)
            chosen = dice.sample(places, number)
            connection.executemany(
                "INSERT INTO saved (list_id, place_id, note, created_at) VALUES (?, ?, ?, ?)",
                [(made, place["id"], dice.pick(_NOTES), _moment(dice, 300)) for place in chosen],
            )


def _suggestions(
    connection: sqlite3.Connection,
    places: list[sqlite3.Row],
    users: Sequence[int],
    dice: Dice,
    number: int,
) -> None:
    rows = []
    authors = [AGENT_ID] * 8 + [dice.pick(users[1:]) for _ in range(number)]
    for author, place in zip(authors, dice.sample(places, len(authors)), strict=True):
        field = dice.pick(("phone", "wheelchair", "monday", "sunday"))
        value = {
            "phone": f"{place['phone'][:-3]}{dice.below(1000):03}",
            "wheelchair": dice.pick(("yes", "limited", "no")),
            "monday": "closed",
            "sunday": "10:00-14:00",
        }[field]
        status = dice.pick(("pending", "pending", "accepted", "declined"))
        if status == "accepted":  # then it stands on the map
            field, value = "phone", place["phone"]
        rows.append((place["id"], author, field, value, "", status, _moment(dice, 200)))
    rows.sort(key=lambda row: str(row[6]))
    connection.executemany(
        "INSERT INTO suggestions (place_id, user_id, field, value, comment, status, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
