"""Makes reviews: what they say fits their rating and the kind of product."""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections.abc import Mapping
from datetime import datetime, timedelta

from agentgym_envs.webarena.sites.filters import MONTHS
from agentgym_envs.webarena.sites.people import TOWNS, people
from agentgym_envs.webarena.sites.shopping.ranges import Leaf
from agentgym_envs.webarena.sites.shopping.words_reviews import (
    ASPECTS,
    BRIDGES,
    CLOSINGS,
    OPENINGS,
    TITLES,
)
from agentgym_envs.webarena.sites.state import NOW

REVIEWS = 4000
REVIEWS_OF_AGENT = 14

_HOW_MANY = {5: (2, 0), 4: (2, 1), 3: (1, 1), 2: (1, 2), 1: (0, 2)}
"""By rating: how many praises, how many complaints."""


def fill_reviews(
    connection: sqlite3.Connection, dice: random.Random, leaf_of: Mapping[int, Leaf]
) -> None:
    """Write the reviews.

    Args:
        connection: to the database that holds products and customers.
        dice: to draw with.
        leaf_of: the leaf category of each product id.
    """
    products = connection.execute("SELECT id, created_at FROM products ORDER BY id").fetchall()
    dice.shuffle(products)
    weights = list(itertools.accumulate(1 / (12 + rank) ** 0.9 for rank in range(len(products))))
    # How good each product really is, from bad to excellent.
    quality = {row["id"]: dice.betavariate(5, 2) for row in products}
    rows: list[tuple[object, ...]] = []
    for product in dice.choices(products, cum_weights=weights, k=REVIEWS):
        rating = _rating(quality[product["id"]], dice)
        agent = len(rows) < REVIEWS_OF_AGENT
        customer, nickname = _author(dice, agent=agent)
        status = dice.choices(("approved", "pending", "rejected"), (94, 4, 2))[0]
        rows.append(
            (
                product["id"], customer, nickname, dice.choice(TITLES[rating]),
                _body(leaf_of[product["id"]], rating, dice), rating, status,
                _moment(product["created_at"], dice),
            )
        )  # fmt: skip
    rows.sort(key=lambda row: str(row[-1]))
    connection.executemany(
        "INSERT INTO reviews (product_id, customer_id, nickname, title, body, rating, status, "
        "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def _rating(quality: float, dice: random.Random) -> int:
    return 1 + sum(dice.random() < quality + 0.06 for _ in range(4))


def _author(dice: random.Random, *, agent: bool) -> tuple[int | None, str]:
    everybody = people()
    number = 1 if agent else dice.randrange(2, len(everybody) + 1)
    first, last = everybody[number - 1].name.split()
    nickname = dice.choice((f"{first} {last[0]}.", first + last[:2], f"{first}_{last}", first))
    return (number if agent or dice.random() < 0.6 else None), nickname


def _body(leaf: Leaf, rating: int, dice: random.Random) -> str:
    good, bad = _HOW_MANY[rating]
    aspects = dice.sample(leaf.aspects, good + bad)
    praise = [dice.choice(ASPECTS[aspect][0]) for aspect in aspects[:good]]
    complaints = [dice.choice(ASPECTS[aspect][1]) for aspect in aspects[good:]]
    opening = dice.choice(OPENINGS[rating >= 4]).format(
        month=dice.choice(MONTHS), town=dice.choice(TOWNS)
    )
    bridge = [dice.choice(BRIDGES)] if good and bad else []
    middle = complaints + bridge + praise if rating == 2 else praise + bridge + complaints
    return " ".join(part for part in (opening, *middle, dice.choice(CLOSINGS[rating])) if part)


def _moment(created_at: str, dice: random.Random) -> str:
    start, end = datetime.fromisoformat(created_at), datetime.fromisoformat(NOW)
    return str(start + timedelta(seconds=int((end - start).total_seconds() * dice.random())))
