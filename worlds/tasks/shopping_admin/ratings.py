"""Tasks about the report of reviews per product."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.goals import NONE, answers, impossible, name, page
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.shopping_admin.draws import BRANDS
from worlds.tasks.shopping_admin.steps import (
    SITE,
    apply_filters,
    lines,
    open_report,
)
from worlds.tasks.template import Case, Template, World

_LEAST = range(6, 13)
"""Least numbers of reviews in goals: some brands have such products, some have none."""


def _ratings(world: World, brand: str) -> list[sqlite3.Row]:
    """List the products that the report gives for a brand, the worst first."""
    return world.rows(
        SITE,
        "SELECT p.name, p.brand, count(*) AS number, avg(r.rating) AS rating FROM reviews r "
        "JOIN products p ON p.id = r.product_id WHERE r.status = 'approved' "
        "AND instr(lower(p.name), lower(?)) > 0 GROUP BY p.id ORDER BY rating, number DESC",
        brand,
    )


def _report(screen: Screen, case: Case, sort: str) -> Iterator[ExpertMove]:
    yield from open_report(screen, "Reviews per product")
    filters = {"Status": "approved", "Product": case.values["brand"]}
    yield from apply_filters(screen, filters, sort=sort)


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go down the report, worst first, to the first product with enough reviews."""
        yield from _report(screen, case, "Rating: low to high")
        while True:
            for line in lines(screen, "Average rating"):
                if int(line.cells["Reviews"]) >= int(case.values["number"]):
                    yield screen.stop(
                        line.cells["Product"], "It is the first one with enough reviews."
                    )
                    return
            yield screen.click("link", "Next", "None of these has enough reviews; I go on.")


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by the number of reviews, and see that the first product has too few."""
        yield from _report(screen, case, "Reviews: high to low")
        most = int(first_of(lines(screen, "Reviews")).cells["Reviews"])
        if most >= int(case.values["number"]):
            raise ElementNotFound("a product has enough reviews after all")
        yield screen.give_up(f"No product of the brand has more than {most} approved reviews.")
