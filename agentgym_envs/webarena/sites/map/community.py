"""Draws the map's users and what they did: reviews, saved places, suggested corrections."""

from __future__ import annotations

import random
import sqlite3
from datetime import datetime, timedelta

from agentgym_envs.webarena.sites.map import remarks
from agentgym_envs.webarena.sites.map.categories import BY_NAME
from agentgym_envs.webarena.sites.people import TOWNS, people
from agentgym_envs.webarena.sites.state import NOW

NUM_USERS = 200
AGENT_ID = 1
PER_LIST = 12  # places in each of the agent's lists


def fill_community(connection: sqlite3.Connection, dice: random.Random) -> None:
    """Fill in users and everything that is theirs; the places must be there."""
    users = people(400)[:NUM_USERS]
    connection.executemany(
        "INSERT INTO users (name, username, email, home_town_id) VALUES (?, ?, ?, ?)",
        [(user.name, user.username, user.email, TOWNS.index(user.town) + 1) for user in users],
    )
    places = connection.execute("SELECT id, category, town_id, phone FROM places").fetchall()
    _reviews(connection, places, dice)
    _lists(connection, places, dice)
    _suggestions(connection, places, dice)


def _moment(dice: random.Random, days: int) -> str:
    ago = timedelta(minutes=dice.randrange(60, days * 24 * 60))
    return str(datetime.fromisoformat(NOW) - ago)


def _reviews(
    connection: sqlite3.Connection, places: list[sqlite3.Row], dice: random.Random
) -> None:
    rows = []
    for place in places:
        group = BY_NAME[place["category"]].group
        level = dice.choices((3, 4, 5), (2, 5, 4))[0]
        for user in dice.sample(range(1, NUM_USERS + 1), dice.choice((0, 0, 1, 1, 2, 2, 3, 4))):
            rating = max(1, min(5, level + dice.choice((-2, -1, 0, 0, 0, 1))))
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


def _remark(group: str, rating: int, dice: random.Random) -> str:
    if rating >= 4:
        first = dice.choice(remarks.PRAISE[group])
    elif rating == 3:
        first = dice.choice(remarks.SOSO)
    else:
        first = dice.choice(remarks.COMPLAINTS[group])
    endings = remarks.ENDINGS if rating >= 4 else remarks.PLAIN_ENDINGS
    return f"{first} {dice.choice(endings)}".strip()


def _lists(connection: sqlite3.Connection, places: list[sqlite3.Row], dice: random.Random) -> None:
    for user in range(1, NUM_USERS + 1):
        names = list(remarks.LIST_NAMES)
        if user != AGENT_ID:
            names = dice.sample(names, dice.choice((0, 0, 1, 2)))
        for name in names:
            made = connection.execute(
                "INSERT INTO lists (user_id, name, created_at) VALUES (?, ?, ?)",
                (user, name, _moment(dice, 400)),
            ).lastrowid
            number = PER_LIST if user == AGENT_ID else dice.randrange(2, 6)
            chosen = dice.sample(places, number)
            connection.executemany(
                "INSERT INTO saved (list_id, place_id, note, created_at) VALUES (?, ?, ?, ?)",
                [
                    (made, place["id"], dice.choice(remarks.NOTES), _moment(dice, 300))
                    for place in chosen
                ],
            )


def _suggestions(
    connection: sqlite3.Connection, places: list[sqlite3.Row], dice: random.Random
) -> None:
    rows = []
    authors = [AGENT_ID] * 8 + [dice.randrange(2, NUM_USERS + 1) for _ in range(120)]
    for author, place in zip(authors, dice.sample(places, len(authors)), strict=True):
        field = dice.choice(("phone", "wheelchair", "monday", "sunday"))
        value = {
            "phone": f"{place['phone'][:-3]}{dice.randrange(1000):03}",
            "wheelchair": dice.choice(("yes", "limited", "no")),
            "monday": "closed",
            "sunday": "10:00-14:00",
        }[field]
        status = dice.choice(("pending", "pending", "accepted", "declined"))
        if status == "accepted":  # then it stands on the map
            field, value = "phone", place["phone"]
        rows.append((place["id"], author, field, value, "", status, _moment(dice, 200)))
    rows.sort(key=lambda row: str(row[6]))
    connection.executemany(
        "INSERT INTO suggestions (place_id, user_id, field, value, comment, status, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
