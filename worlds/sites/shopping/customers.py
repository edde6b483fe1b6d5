"""Makes the shop's customers with their address books, and its administrators."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from agentgym_envs.sites.people import AGENT, PASSWORD, Person
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.words import read_words

_WORDS = read_words("sites/shopping/customers.toml")

STREETS: tuple[str, ...] = _WORDS["streets"]

AGENT_ADDRESSES = (
    (AGENT.name, "14 Mill Lane", "Willowmere", "0555 410 2207"),
    (AGENT.name, "Unit 3, 90 Harbour Street", "Rivermouth", "0555 410 8800"),
    ("Ines Halden", "7 Beech Grove", "Larkspur", "0555 310 4416"),
    ("Otto Halden", "52 Quarry Road", "Granite Bay", "0555 267 1935"),
    ("Petra Lovell", "31 Swan Street", "Northcliff", "0555 602 7750"),
)
"""Name, street, town, phone. The first one is the default."""

ADMIN_ROLES: tuple[str, ...] = _WORDS["admin_roles"]


def postcode_of(town: str) -> str:
    """Return the postcode of one of `TOWNS`."""
    return str(10250 + 731 * TOWNS.index(town))


def phone(dice: Dice) -> str:
    """Draw a telephone number of Valdera."""
    return f"0555 {dice.between(200, 998)} {dice.between(1000, 9998)}"


def street(dice: Dice) -> str:
    """Draw a street with a house number."""
    return f"{dice.between(1, 139)} {dice.pick(STREETS)}"


def fill_customers(connection: sqlite3.Connection, dice: Dice, people: Sequence[Person]) -> None:
    """Write the customers, their addresses and the administrators."""
    customers: list[tuple[object, ...]] = []
    addresses: list[tuple[object, ...]] = []
    for number, person in enumerate(people, 1):
        joined = datetime(2023, 1, 2) + timedelta(minutes=dice.below(420 * 24 * 60))
        group = dice.by_weight(("General", "Wholesale", "Retailer"), (84, 9, 7))
        newsletter = int(dice.chance(0.35))
        number_of_phone = phone(dice)
        if number == 1:
            group, newsletter, number_of_phone = "General", 0, AGENT_ADDRESSES[0][3]
        customers.append(
            (number, person.name, person.username, person.email, PASSWORD, number_of_phone, group,
             newsletter, str(joined))
        )  # fmt: skip
        if number > 1:
            addresses.append((number, person.name, street(dice), person.town, number_of_phone, 1))
            if dice.chance(0.3):
                town = dice.pick(TOWNS)
                addresses.append((number, person.name, street(dice), town, phone(dice), 0))
    mine = [(1, *address, int(not place)) for place, address in enumerate(AGENT_ADDRESSES)]
    connection.executemany(
        "INSERT INTO customers (id, name, username, email, password, phone, group_name, "
        "newsletter, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        customers,
    )
    connection.executemany(
        "INSERT INTO addresses (customer_id, name, street, town, phone, is_default, postcode) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(*address, postcode_of(str(address[3]))) for address in [*mine, *addresses]],
    )
    connection.executemany(
        "INSERT INTO admins (id, name, username, email, password, role, is_active) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (number, person.name, person.username, person.email, PASSWORD,
             ADMIN_ROLES[min(number, 5) - 1], int(number != 6))
            for number, person in enumerate([people[0], *people[210:217]], 1)
        ],
    )  # fmt: skip
