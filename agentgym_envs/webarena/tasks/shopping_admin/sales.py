"""Solves tasks about the sales reports: what sells, how much, to whom, and what people look for."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    line_with,
    lines,
    open_report,
    open_section,
)
from agentgym_envs.webarena.tasks.solution import Case


def best_seller(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter the report of best sellers; the winner comes first."""
    yield from open_report(screen, "Best sellers")
    yield from apply_filters(screen, case.notes["filters"])
    best = first_of(lines(screen, "SKU")).cells
    yield screen.stop(best["SKU"], f"{best['Product']} leads with {best['Units']} units.")


def count_orders(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter the orders and read how many there are."""
    yield from open_section(screen, "Orders", "The grid of orders can be filtered.")
    yield from apply_filters(screen, case.notes["filters"])
    texts = [n.name for n in screen.all("StaticText") if n.name.endswith((" order", " orders"))]
    yield screen.stop(texts[0].split()[0], f"The grid says {texts[0]}.")


def revenue(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the last line of the sales report."""
    yield from open_report(screen, "Sales by month", "The sales report adds the orders up.")
    yield from apply_filters(screen, case.notes["filters"])
    total = line_with(screen, "Period", "Total").cells
    yield screen.stop(total["Revenue"], f"The line of totals says {total['Revenue']}.")


def best_customer(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort the report by total, then look at the first customer's page."""
    yield from open_report(screen, "Customers by orders")
    yield from apply_filters(screen, case.notes["filters"], sort="Total: high to low")
    first = first_of(lines(screen, "Customer"))
    link = screen.below(first.node, "link")[0]
    yield screen.click_node(link, "This customer spent the most; the page has the address.")
    email = first_of(n for n in screen.all("row") if n.name.startswith("E-mail | "))
    yield screen.stop(email.name.split(" | ")[1], "Here is the e-mail address.")


def missed_term(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter the report of search terms, which is sorted by uses."""
    yield from open_report(screen, "Search terms")
    yield from apply_filters(screen, case.notes["filters"])
    line = lines(screen, "Term")[case.notes["rank"]].cells
    yield screen.stop(line["Term"], f"It was used {line['Uses']} times.")
