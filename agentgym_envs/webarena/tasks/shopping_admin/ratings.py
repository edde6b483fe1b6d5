"""Solves tasks about the report of reviews per product."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    lines,
    open_report,
)
from agentgym_envs.webarena.tasks.solution import Case


def _report(screen: Screen, case: Case, sort: str) -> Iterator[ExpertMove]:
    yield from open_report(screen, "Reviews per product")
    filters = {"Status": "approved", "Product": case.values["brand"]}
    yield from apply_filters(screen, filters, sort=sort)


def worst_rated(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Go down the report, worst first, to the first product with enough reviews."""
    yield from _report(screen, case, "Rating: low to high")
    while True:
        for line in lines(screen, "Average rating"):
            if int(line.cells["Reviews"]) >= int(case.values["number"]):
                yield screen.stop(line.cells["Product"], "It is the first one with enough reviews.")
                return
        yield screen.click("link", "Next", "None of these has enough reviews; I go on.")


def too_few_reviews(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort by the number of reviews; the first product has too few."""
    yield from _report(screen, case, "Reviews: high to low")
    most = int(first_of(lines(screen, "Reviews")).cells["Reviews"])
    if most >= int(case.values["number"]):
        raise ElementNotFound("a product has enough reviews after all")
    yield screen.give_up(f"No product of the brand has more than {most} approved reviews.")
