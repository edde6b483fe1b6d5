"""Solves tasks that end on a list as somebody wants to see it: filtered, sorted, at some page."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    FROM,
    TO,
    apply_filters,
    lines,
    open_report,
    open_section,
)
from agentgym_envs.webarena.tasks.solution import Case


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


def report_of_month(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def days_of(month: str) -> tuple[str, str]:
    """Return the first and last day of a month written `YYYY-MM`."""
    year, number = map(int, month.split("-"))
    return f"{month}-01", f"{month}-{calendar.monthrange(year, number)[1]}"


def reviews_page(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter and sort the reviews, then turn pages."""
    yield from open_section(screen, "Reviews", "All reviews are in this section.")
    sort = "Oldest first" if case.values["sorting"] == "oldest first" else "Product"
    yield from apply_filters(
        screen, case.notes["filters"], sort=sort, thought="The list is wanted in this order."
    )
    for _ in range(case.notes["turned"]):
        yield screen.click("link", "Next", f"I want the {case.values['place']} page.")
    yield screen.stop("", f"This is the {case.values['place']} page of the list.")
