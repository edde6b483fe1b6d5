"""Makes reviews whose text fits their rating and the kind of product."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from agentgym_envs.sites.filters import MONTHS
from agentgym_envs.sites.people import Person
from worlds.dice import Dice
from worlds.sites.moments import TODAY
from worlds.sites.setting import TOWNS, Setting
from worlds.sites.shopping.ranges import Leaf
from worlds.words import read_words

_WORDS = read_words("sites/shopping/reviews.toml")

ASPECTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = _WORDS["aspects"]
"""Praise and complaint by aspect. Each sentence holds its aspect's word."""

REVIEWS = 4000
REVIEWS_OF_AGENT = 14

_HOW_MANY = {5: (2, 0), 4: (2, 1), 3: (1, 1), 2: (1, 2), 1: (0, 2)}
"""By rating: how many praises, how many complaints."""


def fill_reviews(
    connection: sqlite3.Connection, setting: Setting, leaf_of: Mapping[int, Leaf]
) -> None:
    """Write the reviews.

    Args:
        connection: to the database that holds products and customers.
        setting: the world that is made.
        leaf_of: the leaf category of each product id.
    """
    dice = setting.dice("shopping", "reviews")
    products = connection.execute("SELECT id, created_at FROM products ORDER BY id").fetchall()
    products = dice.shuffled(products)
    weights = list(itertools.accumulate(1 / (12 + rank) ** 0.9 for rank in range(len(products))))
    # How good each product really is, from bad to excellent.
    quality = {row["id"]: _quality(dice) for row in products}
    rows: list[tuple[object, ...]] = []
    for _ in range(REVIEWS * setting.scale):
        product = dice.weighted(products, weights)
        rating = _rating(quality[product["id"]], dice)
        agent = len(rows) < REVIEWS_OF_AGENT
        customer, nickname = _author(setting.people, dice, agent=agent)
        status = dice.by_weight(("approved", "pending", "rejected"), (94, 4, 2))
        rows.append(
            (
                product["id"], customer, nickname, dice.pick(_WORDS["titles"][str(rating)]),
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


def _quality(dice: Dice) -> float:
    # The fifth of six uniform draws follows the beta distribution with the parameters 5 and 2.
    return sorted(dice.random() for _ in range(6))[4]


def _rating(quality: float, dice: Dice) -> int:
    return 1 + sum(dice.chance(quality + 0.06) for _ in range(4))


def _author(people: Sequence[Person], dice: Dice, *, agent: bool) -> tuple[int | None, str]:
    number = 1 if agent else dice.between(2, len(people))
    first, last = people[number - 1].name.split()
    nickname = dice.pick((f"{first} {last[0]}.", first + last[:2], f"{first}_{last}", first))
    return (number if agent or dice.chance(0.6) else None), nickname


def _body(leaf: Leaf, rating: int, dice: Dice) -> str:
    good, bad = _HOW_MANY[rating]
    aspects = dice.sample(leaf.aspects, good + bad)
    praise = [dice.pick(ASPECTS[aspect][0]) for aspect in aspects[:good]]
    complaints = [dice.pick(ASPECTS[aspect][1]) for aspect in aspects[good:]]
    opening = dice.pick(_WORDS["openings"]["content" if rating >= 4 else "discontent"]).format(
        month=dice.pick(MONTHS), town=dice.pick(TOWNS)
    )
    bridge = [dice.pick(_WORDS["bridges"])] if good and bad else []
    middle = complaints + bridge + praise if rating == 2 else praise + bridge + complaints
    return " ".join(
        part for part in (opening, *middle, dice.pick(_WORDS["closings"][str(rating)])) if part
    )


def _moment(created_at: str, dice: Dice) -> str:
    start, end = datetime.fromisoformat(created_at), TODAY
    return str(start + timedelta(seconds=int((end - start).total_seconds() * dice.random())))
