"""Makes the shop's customers with their address books, and its administrators."""

from __future__ import annotations

import random
import sqlite3
from datetime import datetime, timedelta

from agentgym_envs.webarena.sites.people import AGENT, PASSWORD, TOWNS, Person, people

STREETS = (
    *("Mill Lane", "Orchard Road", "Bakers Row", "Harbour Street", "Station Road", "Chapel Hill"),
    *("Weavers Yard", "Linden Avenue", "Bridge Street", "Cobbler's Court", "Market Square"),
    *("Fern Close", "River Walk", "Tanner Street", "Old Quay", "Lantern Lane", "Mason Street"),
    *("Poplar Drive", "Dyers Alley", "Windmill Way", "Quarry Road", "Heather Rise", "Saddler Lane"),
    *("Beech Grove", "Lockkeeper's Walk", "Pottery Street", "Granary Road", "Swan Street"),
)

AGENT_ADDRESSES = (
    (AGENT.name, "14 Mill Lane", "Willowmere", "0555 410 2207"),
    (AGENT.name, "Unit 3, 90 Harbour Street", "Rivermouth", "0555 410 8800"),
    ("Ines Halden", "7 Beech Grove", "Larkspur", "0555 310 4416"),
    ("Otto Halden", "52 Quarry Road", "Granite Bay", "0555 267 1935"),
    ("Petra Lovell", "31 Swan Street", "Northcliff", "0555 602 7750"),
)
"""Name, street, town, phone; the first one is the default."""

ADMIN_ROLES = ("Administrator", "Catalogue", "Sales", "Support", "Marketing")


def postcode_of(town: str) -> str:
    """Return the postcode of one of `TOWNS`."""
    return str(10250 + 731 * TOWNS.index(town))


def phone(dice: random.Random) -> str:
    """Draw a telephone number of Valdera."""
    return f"0555 {dice.randrange(200, 999)} {dice.randrange(1000, 9999)}"


def street(dice: random.Random) -> str:
    """Draw a street with a house number."""
    return f"{dice.randrange(1, 140)} {dice.choice(STREETS)}"


def fill_customers(connection: sqlite3.Connection, dice: random.Random) -> None:
    """Write the customers, their addresses and the administrators."""
    customers: list[tuple[object, ...]] = []
    addresses: list[tuple[object, ...]] = []
    for number, person in enumerate(people(), 1):
        joined = datetime(2023, 1, 2) + timedelta(minutes=dice.randrange(420 * 24 * 60))
        group = dice.choices(("General", "Wholesale", "Retailer"), (84, 9, 7))[0]
        newsletter = int(dice.random() < 0.35)
        number_of_phone = phone(dice)
        if number == 1:
            group, newsletter, number_of_phone = "General", 0, AGENT_ADDRESSES[0][3]
        customers.append(
            (number, person.name, person.username, person.email, PASSWORD, number_of_phone, group,
             newsletter, str(joined))
        )  # fmt: skip
        if number > 1:
            addresses.append((number, person.name, street(dice), person.town, number_of_phone, 1))
            if dice.random() < 0.3:
                town = dice.choice(TOWNS)
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
            for number, person in enumerate(_staff(), 1)
        ],
    )  # fmt: skip


def _staff() -> list[Person]:
    everybody = people()
    return [everybody[0], *everybody[210:217]]
