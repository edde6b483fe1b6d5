"""Makes the shop's categories and products from the word lists.

A family (brand, series, kind) comes in a few variants of size and colour, each its own product.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Iterator
from datetime import timedelta

from worlds.dice import Dice
from worlds.sites.moments import TODAY
from worlds.sites.shopping.ranges import RANGES, Kind, Leaf
from worlds.words import read_words

_WORDS = read_words("sites/shopping/products.toml")

SERIES: tuple[str, ...] = _WORDS["series"]

OPENINGS: tuple[str, ...] = _WORDS["openings"]
CLOSINGS: tuple[str, ...] = _WORDS["closings"]
FAMILIES_OF_KIND = 3
MOST_VARIANTS = 4
FIRST_NUMBER = 1103


def fill_products(connection: sqlite3.Connection, dice: Dice, scale: int) -> dict[int, Leaf]:
    """Write categories and products.

    Returns:
        The leaf category that each product id came from.
    """
    origin: dict[int, Leaf] = {}
    rows: list[tuple[object, ...]] = []
    numbers = itertools.count(FIRST_NUMBER, 7)  # of families, for the article numbers
    position = 0
    for group in RANGES:
        position += 1
        group_id = position
        _category(connection, group_id, group.name, parent=None)
        for leaf in group.leaves:
            position += 1
            _category(connection, position, leaf.name, parent=group_id)
            for row in _products_of(leaf, group.brands, numbers, dice, FAMILIES_OF_KIND * scale):
                origin[len(rows) + 1] = leaf
                rows.append((len(rows) + 1, position, *row))
    connection.executemany(
        "INSERT INTO products (id, category_id, sku, name, slug, brand, price, special_price, "
        "stock, is_enabled, description, material, colour, size, weight_grams, is_featured, "
        "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    return origin


def slug_of(name: str) -> str:
    """Write a name as a part of an address."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("'", "")).strip("-")


def grams_of(size: str) -> int:
    """Read a size that is a weight: `"500 g"`, `"1 kg"`."""
    number, unit = size.split()
    return int(float(number) * (1000 if unit == "kg" else 1))


def _category(connection: sqlite3.Connection, number: int, name: str, parent: int | None) -> None:
    connection.execute(
        "INSERT INTO categories (id, name, slug, parent_id, position) VALUES (?, ?, ?, ?, ?)",
        (number, name, slug_of(name), parent, number),
    )


def _products_of(
    leaf: Leaf, brands: tuple[str, ...], numbers: Iterator[int], dice: Dice, families: int
) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    code = "".join(part[0] for part in re.findall(r"[A-Z]\w*", leaf.name)) or "X"
    for kind in leaf.kinds:
        names = dice.sample([(b, s) for b in brands for s in SERIES], families)
        for brand, series in names:
            rows += _family(leaf, kind, brand, series, f"{code}{next(numbers)}", dice)
    return rows


def _family(
    leaf: Leaf, kind: Kind, brand: str, series: str, code: str, dice: Dice
) -> list[tuple[object, ...]]:
    family = f"{brand} {series} {kind.noun}"
    material = dice.pick(kind.materials or leaf.materials)
    base = dice.uniform(kind.low, kind.high)
    description = _description(leaf, kind, brand, series, material, dice)
    created_at = _moment(dice)
    rows: list[tuple[object, ...]] = []
    for step, size, colour in _variants(leaf, kind, dice):
        name = ", ".join(part for part in (family, size, colour) if part)
        grams = kind.grams * (1 + 0.4 * step) if kind.grams else grams_of(size)
        smallest = grams_of(kind.sizes.split("/")[0]) if not kind.grams else 1
        factor = 1 + 0.35 * step if kind.grams else (grams / smallest) ** 0.82
        price = _price(base * factor * dice.uniform(0.93, 1.07), dice)
        special = _price(price * dice.uniform(0.7, 0.92), dice) if dice.chance(0.12) else None
        if special is not None and special >= price:
            special = None
        stock = 0 if dice.chance(0.08) else dice.between(2, 120)
        rows.append(
            (
                f"{code}-{len(rows) + 1}{slug_of(colour)[:2].upper()}", name, slug_of(name), brand,
                price, special, stock, int(dice.chance(0.975)), description, material, colour,
                size, int(grams), int(dice.chance(0.03)), created_at,
            )
        )  # fmt: skip
    return rows


def _variants(leaf: Leaf, kind: Kind, dice: Dice) -> list[tuple[int, str, str]]:
    """Draw the family's variants: (number of the size, size, colour)."""
    sizes = list(enumerate(kind.sizes.split("/")))
    weights = (3, 4, 3) if len(sizes) == 1 else (5, 4, 1)
    number = dice.by_weight((1, 2, 3), weights) if leaf.colours else 1
    colours = sorted(dice.sample(leaf.colours, number)) if leaf.colours else [""]
    if len(sizes) > 1 and leaf.colours and dice.chance(0.35):
        sizes = [dice.pick(sizes)]
    pairs = [(step, size, colour) for step, size in sizes for colour in colours]
    return pairs[:MOST_VARIANTS]


def _description(leaf: Leaf, kind: Kind, brand: str, series: str, material: str, dice: Dice) -> str:
    opening = dice.pick(OPENINGS).format(
        series=series,
        noun=kind.noun.lower(),
        article="An" if kind.noun[0] in "AEIOU" else "A",
        brand=brand,
        material=material,
        material_capital=material[0].upper() + material[1:],
    )
    features = [f"{feature}." for feature in dice.sample(leaf.features, 2)]
    closing = dice.pick(CLOSINGS).format(years=dice.pick((2, 5, 10)))
    return " ".join([opening, *features, closing])


def _price(cents: float, dice: Dice) -> int:
    return max(150, int(cents) // 100 * 100 + dice.pick((0, 25, 49, 50, 75, 90, 95)))


def _moment(dice: Dice) -> str:
    before = timedelta(days=dice.between(1, 899), seconds=dice.below(86400))
    return str(TODAY - before)
