"""Tasks about the report of reviews per product."""

from __future__ import annotations

import sqlite3

from agentgym_envs.webarena.tasks.shopping_admin.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import NONE, answers, impossible, name, page
from worlds.tasks.shopping_admin.draws import BRANDS
from worlds.tasks.template import Case, Template, World

_LEAST = range(6, 13)
"""So many reviews may be asked for: some brands have products with as many, some have none."""


def _ratings(world: World, brand: str) -> list[sqlite3.Row]:
    """List the products that the report gives for a brand, the worst first."""
    return world.rows(
        SITE,
        "SELECT p.name, p.brand, count(*) AS number, avg(r.rating) AS rating FROM reviews r "
        "JOIN products p ON p.id = r.product_id WHERE r.status = 'approved' "
        "AND instr(lower(p.name), lower(?)) > 0 GROUP BY p.id ORDER BY rating, number DESC",
        brand,
    )


class WorstRated(Template):
    """The product of a brand that people like least, if enough of them say so."""

    number = 51
    sites = (SITE,)
    split = "test"
    intents = (
        "Which {brand} product has the lowest average of {number} or more approved reviews?",
        "Which {brand} product with {number} or more approved reviews has the lowest average in "
        "those?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a brand and a number that leave some products, but not the worst of all."""
        brand = dice.pick(world.rows(SITE, BRANDS))["brand"]
        least = dice.pick(_LEAST)
        rows = _ratings(world, brand)
        left = [row for row in rows if row["number"] >= least]
        if len(left) < 2 or any(row["brand"] != brand for row in rows):
            return None
        place = rows.index(left[0])
        shown = [f"{row['rating']:.1f}" for row in left[:2]]
        if place >= 60 or shown[0] == shown[1]:
            return None
        return Case({"brand": brand, "number": str(least)}, answers(name(left[0]["name"])))


class TooFewReviews(Template):
    """The worst rated product of a brand none of whose products has enough reviews."""

    number = 49
    sites = (SITE,)
    split = "test"
    is_impossible = True
    intents = WorstRated.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a brand, and a number that none of its products reaches."""
        brand, least = dice.pick(world.rows(SITE, BRANDS))["brand"], dice.pick(_LEAST)
        rows = _ratings(world, brand)
        if not rows or any(row["brand"] != brand or row["number"] >= least for row in rows):
            return None
        goal = impossible(
            ("review", "rating"),
            (*NONE, "fewer", "less", "only", "at most", "too few"),
            (f" {least}", "enough", "that many", "so many", "more than", "at most", "too few",
             "required", "minimum", "threshold", "qualif", "meet", "reach", "with the most"),
            about=[brand],
            pages=(page(SITE, "/reports/reviews", search=brand),
                   page(SITE, "/reviews", product=brand), page(SITE, "/products", brand=brand),
                   page(SITE, "/products", name=brand)),
            lists=[page(SITE, "/reports/reviews")],
        )  # fmt: skip
        return Case({"brand": brand, "number": str(least)}, goal)
