"""Tasks that end on a list as somebody wants to see it: filtered, sorted, at a certain page."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.goals import shows
from worlds.tasks.screen import Screen, first_of
from worlds.tasks.shopping_admin.draws import Period, draw_period, plain_categories
from worlds.tasks.shopping_admin.steps import (
    FROM,
    SITE,
    TO,
    apply_filters,
    lines,
    open_report,
    open_section,
)
from worlds.tasks.template import Case, Template, World


def days_of(month: str) -> tuple[str, str]:
    """Return the first and last day of a month written `YYYY-MM`."""
    year, number = map(int, month.split("-"))
    return f"{month}-01", f"{month}-{calendar.monthrange(year, number)[1]}"


@dataclass(frozen=True)
class _Report:
    """A report that is asked for.

    Attributes:
        path: the last part of its address.
        narrowed_by: what its text filter is called.
        sorting: what it is sorted by, as the address says, too; never its default.
        sort: the choice in the list box.
        count: asks how many lines it has between two moments for a text.
    """

    path: str
    narrowed_by: str
    sorting: str
    sort: str
    count: str


REPORTS = {
    "Best sellers": _Report(
        "best-sellers",
        "Category",
        "revenue",
        "Revenue: high to low",
        "SELECT count(DISTINCT p.id) FROM orders o JOIN order_items i ON i.order_id = o.id "
        "JOIN products p ON p.id = i.product_id JOIN categories c ON c.id = p.category_id "
        "LEFT JOIN categories above ON above.id = c.parent_id "
        "WHERE o.created_at BETWEEN ? AND ? AND ? IN (c.name, above.name)",
    ),
    "Customers by orders": _Report(
        "customers",
        "Group",
        "total",
        "Total: high to low",
        "SELECT count(DISTINCT c.id) FROM orders o JOIN customers c ON c.id = o.customer_id "
        "WHERE o.created_at BETWEEN ? AND ? AND c.group_name = ?",
    ),
}


class ReportOfMonth(Template):
    """A report is set up for the best month of a longer period."""

    number = 57
    sites = (SITE,)
    split = "train"
    intents = (
        'Show "{report}" for the {narrowed}, by {sorting}, in the highest-revenue month (all '
        "orders) of {period}.",
        'Show the report "{report}" for the {narrowed}, highest {sorting} first, in the month of '
        "{period} with the highest revenue, counting all orders.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a quarter or half with one best month, and a report with two lines or more."""
        period = draw_period(dice)
        months = world.rows(
            SITE,
            "SELECT substr(created_at, 1, 7) AS month, sum(total) AS revenue FROM orders "
            "WHERE created_at BETWEEN ? AND ? GROUP BY month ORDER BY revenue DESC LIMIT 2",
            *period.between,
        )
        if len(months) < 2 or months[0]["revenue"] == months[1]["revenue"]:
            return None
        title = dice.pick(("Best sellers", "Best sellers", "Customers by orders"))
        report = REPORTS[title]
        groups = ("General", "Wholesale", "Retailer")
        texts = sorted(plain_categories(world)) if title == "Best sellers" else groups
        text = dice.pick(texts)
        first, last = days_of(months[0]["month"])
        if world.value(SITE, report.count, first, f"{last} 23:59:59", text) < 2:
            return None
        query = {"from": first, "to": last, "search": text, "sort": report.sorting}
        return Case(
            {
                "period": period.text,
                "report": title,
                "narrowed": f"{report.narrowed_by.lower()} {text}",
                "sorting": report.sorting,
            },
            shows(f"__SHOPPING_ADMIN__/reports/{report.path}?{urlencode(query)}"),
            {"filters": period.filters, "narrowed": {report.narrowed_by: text}},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort the months by revenue, then give the other report the days of the first."""
        yield from open_report(screen, "Sales by month", "It has the revenue of every month.")
        yield from apply_filters(screen, case.notes["filters"], sort="Revenue: high to low")
        month = first_of(lines(screen, "Period")).cells["Period"]
        title = case.values["report"]
        yield from open_section(screen, "Reports", f"{month} had the highest revenue.")
        yield screen.click("link", title, f"Now I set this report up for {month}.")
        first, last = days_of(month)
        yield from apply_filters(
            screen,
            {FROM: first, TO: last, **case.notes["narrowed"]},
            sort=REPORTS[title].sort,
            thought="The report is wanted in this order.",
        )
        yield screen.stop("", f"The report shows {month}, narrowed down and sorted as wanted.")


_RATINGS = {
    "with 5 stars": ("5", "5 stars", 5, 5),
    "with 4 stars": ("4", "4 stars", 4, 4),
    "with 3 stars": ("3", "3 stars", 3, 3),
    "with 2 stars": ("2", "2 stars", 2, 2),
    "with 1 star": ("1", "1 star", 1, 1),
    "with fewer than 3 stars": ("low", "Below 3 stars", 1, 2),
    "with 4 stars or more": ("high", "4 stars and more", 4, 5),
}
"""The parameter's value, the choice in the list box, and the bounds, by the intent's words."""


_REVIEWS_A_PAGE = 15


_YEARS = tuple(Period(year, f"{year}-01-01", f"{year}-12-31") for year in ("2024", "2025"))


class ReviewsPage(Template):
    """A later page is opened of a list of reviews that is filtered and sorted."""

    number = 59
    sites = (SITE,)
    split = "train"
    intents = (
        "Show the {place} page of {status} reviews {rating} from {period}, {sorting}.",
        "Show me the {place} page of all {status} reviews {rating} that were written in {period}, "
        "{sorting}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw filters that enough reviews pass for the page to exist."""
        status = dice.pick(("approved", "pending", "rejected"))
        # Few reviews are not approved: a shorter time has no second page of them.
        period = draw_period(dice) if status == "approved" else dice.pick(_YEARS)
        rating = dice.pick(tuple(_RATINGS))
        place = dice.pick(("second", "second", "third"))
        sorting, sort = dice.pick((("oldest first", "oldest"), ("sorted by product", "product")))
        page = 3 if place == "third" else 2
        key, label, lowest, highest = _RATINGS[rating]
        number = world.value(
            SITE,
            "SELECT count(*) FROM reviews WHERE status = ? AND rating BETWEEN ? AND ? "
            "AND created_at BETWEEN ? AND ?",
            status,
            lowest,
            highest,
            *period.between,
        )
        if number <= (page - 1) * _REVIEWS_A_PAGE:
            return None
        query = {
            "status": status,
            "rating": key,
            "from": period.first,
            "to": period.last,
            "sort": sort,
            "page": str(page),
        }
        return Case(
            {
                "place": place,
                "status": status,
                "rating": rating,
                "period": period.text,
                "sorting": sorting,
            },
            shows(f"__SHOPPING_ADMIN__/reviews?{urlencode(query)}"),
            {
                "filters": {"Status": status, "Rating": label, **period.filters},
                "turned": page - 1,
            },
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter and sort the reviews, then turn pages."""
        yield from open_section(screen, "Reviews", "All reviews are in this section.")
        sort = "Oldest first" if case.values["sorting"] == "oldest first" else "Product"
        yield from apply_filters(
            screen, case.notes["filters"], sort=sort, thought="The list is wanted in this order."
        )
        for _ in range(case.notes["turned"]):
            yield screen.click("link", "Next", f"I want the {case.values['place']} page.")
        yield screen.stop("", f"This is the {case.values['place']} page of the list.")
