"""Periods of time and queries for drawing that the administration's templates share."""

from __future__ import annotations

import calendar
from dataclasses import dataclass

from agentgym_envs.sites.filters import MONTHS
from worlds.dice import Dice
from worlds.tasks.goals import page
from worlds.tasks.shopping_admin.steps import FROM, SITE, TO
from worlds.tasks.template import World

BRANDS = "SELECT DISTINCT brand FROM products ORDER BY brand"


@dataclass(frozen=True)
class Period:
    """Some months in a row.

    Attributes:
        text: as an intent says it: `"the second quarter of 2025"`.
        first: its first day, `YYYY-MM-DD`.
        last: its last day.
    """

    text: str
    first: str
    last: str

    @property
    def between(self) -> tuple[str, str]:
        """The first and last moment, for SQL's BETWEEN."""
        return self.first, f"{self.last} 23:59:59"

    @property
    def filters(self) -> dict[str, str]:
        """The values of a filter's two fields."""
        return {FROM: self.first, TO: self.last}


_QUARTERS = ("first", "second", "third", "fourth")


def draw_month(dice: Dice) -> Period:
    """Draw a whole month in which the shop sold something."""
    place = dice.between(3, 25)  # from April 2024 to February 2026
    return _months(2024 + place // 12, place % 12, 1, f"{MONTHS[place % 12]} {2024 + place // 12}")


def draw_period(dice: Dice) -> Period:
    """Draw a month, a quarter or half a year."""
    kind = dice.pick(("month", "quarter", "quarter", "half"))
    if kind == "month":
        return draw_month(dice)
    if kind == "quarter":
        place = dice.between(1, 7)  # from the second quarter of 2024 to the last of 2025
        year, quarter = 2024 + place // 4, place % 4
        return _months(year, 3 * quarter, 3, f"the {_QUARTERS[quarter]} quarter of {year}")
    place = dice.between(1, 3)
    year, half = 2024 + place // 2, place % 2
    return _months(year, 6 * half, 6, f"the {_QUARTERS[half]} half of {year}")


def _months(year: int, month: int, length: int, text: str) -> Period:
    last = month + length
    days = calendar.monthrange(year, last)[1]
    return Period(text, f"{year}-{month + 1:02}-01", f"{year}-{last:02}-{days:02}")


def plain_categories(world: World) -> dict[str, list[int]]:
    """List the categories that the text filter matches exactly, each with its leaves."""
    rows = world.rows(
        SITE,
        "SELECT c.id, c.name, above.name AS above FROM categories c "
        "JOIN categories above ON above.id = c.parent_id ORDER BY c.id",
    )
    names = list(dict.fromkeys([row["above"] for row in rows] + [row["name"] for row in rows]))
    result = {}
    for name in names:
        exact = [row["id"] for row in rows if name in (row["name"], row["above"])]
        text = name.lower()
        loose = [r["id"] for r in rows if text in r["name"].lower() or text in r["above"].lower()]
        if exact == loose:
            result[name] = exact
    return result


def pages_of(world: World, number: int, name: str) -> list[str]:
    """List the pages that show which orders a customer has, behind a reason.

    Args:
        world: the shop's.
        number: of the customer.
        name: of the customer.
    """
    orders = world.rows(SITE, "SELECT number FROM orders WHERE customer_id = ?", number)
    return [
        page(SITE, f"/customers/{number}"),
        page(SITE, "/orders", customer=name),
        *(page(SITE, f"/orders/{order['number']}") for order in orders),
    ]
