"""Tasks about the sales reports: what sells, how much, to whom, and what people look for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.shopping_admin.template_helpers import (
    FROM,
    SITE,
    TO,
    apply_filters,
    draw_month,
    draw_period,
    line_with,
    lines,
    open_report,
    open_section,
    plain_categories,
)
from agentgym_envs.webarena.tasks.template import Case, Template, World, exact_answer


class BestSeller(Template):
    """The product of a category that sold most in a period."""

    number = 30
    sites = (SITE,)
    intent = (
        "Which product of the category {category} sold the most units in {period}, orders of every "
        "status counted? Answer with its SKU alone."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a category and a period with one clear winner."""
        categories = plain_categories(world)
        category = rng.choice(sorted(categories))
        period = draw_period(rng)
        leaves = categories[category]
        rows = world.rows(
            SITE,
            "SELECT p.sku, sum(i.quantity) AS units FROM orders o "
            "JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id "
            f"WHERE p.category_id IN ({', '.join('?' * len(leaves))}) "
            "AND o.created_at BETWEEN ? AND ? GROUP BY p.id ORDER BY units DESC LIMIT 2",
            *leaves,
            *period.between,
        )
        if len(rows) < 2 or rows[0]["units"] == rows[1]["units"]:
            return None
        return Case(
            {"category": category, "period": period.text},
            exact_answer(rows[0]["sku"]),
            {"filters": {**period.filters, "Category": category}},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the report of best sellers; the winner comes first."""
        yield from open_report(screen, "Best sellers")
        yield from apply_filters(screen, case.notes["filters"])
        best = first_of(lines(screen, "SKU")).cells
        yield screen.stop(best["SKU"], f"{best['Product']} leads with {best['Units']} units.")


class CountOrders(Template):
    """How many orders of a status and size there were in a month."""

    number = 31
    sites = (SITE,)
    intent = (
        "How many orders placed in {month} have the status {status} and a total of at least "
        "{amount}? Answer with the number alone."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a month, a status and an amount that some orders reach, but not all."""
        month = draw_month(rng)
        status = rng.choice(("complete", "complete", "cancelled"))
        least = 1000 * rng.randrange(4, 30)
        query = (
            "SELECT count(*) FROM orders WHERE created_at BETWEEN ? AND ? AND status = ? "
            "AND total >= ?"
        )
        number = world.value(SITE, query, *month.between, status, least)
        if not number or number == world.value(SITE, query, *month.between, status, 0):
            return None
        filters = {**month.filters, "Status": status, "Total at least": str(least // 100)}
        return Case(
            {"month": month.text, "status": f'"{status}"', "amount": money(least)},
            exact_answer(str(number)),
            {"filters": filters},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the orders and read how many there are."""
        yield from open_section(screen, "Orders", "The grid of orders can be filtered.")
        yield from apply_filters(screen, case.notes["filters"])
        texts = [n.name for n in screen.all("StaticText") if n.name.endswith((" order", " orders"))]
        yield screen.stop(texts[0].split()[0], f"The grid says {texts[0]}.")


class Revenue(Template):
    """What orders of one status brought in over some weeks."""

    number = 32
    sites = (SITE,)
    intent = (
        "What is the total revenue of the orders with the status {status} that were placed from "
        "{first} to {last}, both days included? Answer with the amount alone, such as $1,234.50."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw two days, 20 to 250 days apart."""
        first = date(2024, 4, 1) + timedelta(days=rng.randrange(440))
        last = first + timedelta(days=rng.randrange(20, 250))
        status = rng.choice(("complete", "complete", "cancelled", "refunded"))
        revenue = world.value(
            SITE,
            "SELECT sum(total) FROM orders WHERE created_at BETWEEN ? AND ? AND status = ?",
            str(first),
            f"{last} 23:59:59",
            status,
        )
        if not revenue:
            return None
        return Case(
            {"status": f'"{status}"', "first": str(first), "last": str(last)},
            exact_answer(money(revenue)),
            {"filters": {FROM: str(first), TO: str(last), "Status": status}},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the last line of the sales report."""
        yield from open_report(screen, "Sales by month", "The sales report adds the orders up.")
        yield from apply_filters(screen, case.notes["filters"])
        total = line_with(screen, "Period", "Total").cells
        yield screen.stop(total["Revenue"], f"The line of totals says {total['Revenue']}.")


class BestCustomer(Template):
    """The customer of a group who spent most in a period."""

    number = 33
    sites = (SITE,)
    intent = (
        "Which customer of the group {group} ordered for the highest total in {period}, orders of "
        "{status} counted? Answer with the customer's e-mail address."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a group and a period with one clear winner."""
        group = rng.choice(("Wholesale", "Retailer"))
        period = draw_period(rng)
        status = rng.choice(("", "complete"))
        rows = world.rows(
            SITE,
            "SELECT c.email, sum(o.total) AS total FROM orders o "
            "JOIN customers c ON c.id = o.customer_id WHERE c.group_name = ? "
            "AND o.created_at BETWEEN ? AND ? AND ? IN ('', o.status) "
            "GROUP BY c.id ORDER BY total DESC LIMIT 2",
            group,
            *period.between,
            status,
        )
        if len(rows) < 2 or rows[0]["total"] == rows[1]["total"]:
            return None
        filters = {**period.filters, "Group": group}
        if status:
            filters["Status"] = status
        counted = f'the status "{status}" only' if status else "every status"
        return Case(
            {"group": group, "period": period.text, "status": counted},
            exact_answer(rows[0]["email"]),
            {"filters": filters},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort the report by total, then look at the first customer's page."""
        yield from open_report(screen, "Customers by orders")
        yield from apply_filters(screen, case.notes["filters"], sort="Total: high to low")
        first = first_of(lines(screen, "Customer"))
        link = screen.below(first.node, "link")[0]
        yield screen.click_node(link, "This customer spent the most; the page has the address.")
        email = next(n for n in screen.all("row") if n.name.startswith("E-mail | "))
        yield screen.stop(email.name.split(" | ")[1], "Here is the e-mail address.")


_RANKS = ("most used", "second most used", "third most used")


class MissedTerm(Template):
    """What people look for and hardly find."""

    number = 50
    sites = (SITE,)
    intent = (
        "Among the search terms that give fewer than {results} results, which one is the {rank}? "
        "Answer with the term alone."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a bound and a rank that no two terms share."""
        bound = rng.randrange(2, 30)
        rank = rng.randrange(3)
        rows = world.rows(
            SITE,
            "SELECT term, uses FROM search_terms WHERE results < ? ORDER BY uses DESC LIMIT 4",
            bound,
        )
        if len(rows) < 4 or sum(row["uses"] == rows[rank]["uses"] for row in rows) > 1:
            return None
        return Case(
            {"results": str(bound), "rank": _RANKS[rank]},
            exact_answer(rows[rank]["term"]),
            {"bound": str(bound), "rank": rank},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the report of search terms, which is sorted by uses."""
        yield from open_report(screen, "Search terms")
        yield from apply_filters(screen, {"Results below": case.notes["bound"]})
        line = lines(screen, "Term")[case.notes["rank"]].cells
        yield screen.stop(line["Term"], f"It was used {line['Uses']} times.")
