"""Tasks about the sales reports: best sellers, revenue, customers and search terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import money
from worlds.dice import Dice
from worlds.tasks.goals import amount, answers, identifier, name, number
from worlds.tasks.screen import Screen, first_of
from worlds.tasks.shopping_admin.draws import draw_month, draw_period, plain_categories
from worlds.tasks.shopping_admin.steps import (
    FROM,
    SITE,
    TO,
    apply_filters,
    line_with,
    lines,
    open_report,
    open_section,
)
from worlds.tasks.template import Case, Template, World


class BestSeller(Template):
    """The product of a category that sold most in a period."""

    number = 30
    sites = (SITE,)
    split = "train"
    intents = (
        "Which {category} SKU sold most units across all orders of {period}?",
        "Which SKU in {category} sold the most units in {period}, counting orders of every status?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a category and a period with one clear winner."""
        categories = plain_categories(world)
        category = dice.pick(sorted(categories))
        period = draw_period(dice)
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
            answers(identifier(rows[0]["sku"])),
            {"filters": {**period.filters, "Category": category}},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the report of best sellers and take its first line."""
        yield from open_report(screen, "Best sellers")
        yield from apply_filters(screen, case.notes["filters"])
        best = first_of(lines(screen, "SKU")).cells
        yield screen.stop(best["SKU"], f"{best['Product']} leads with {best['Units']} units.")


class CountOrders(Template):
    """The number of orders of a status and size in a month."""

    number = 31
    sites = (SITE,)
    split = "train"
    intents = (
        "How many {month} orders of at least {amount} are {status}?",
        "How many {status} orders of at least {amount} were placed in {month}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a month, a status and an amount that some orders reach, but not all."""
        month = draw_month(dice)
        status = dice.pick(("complete", "complete", "cancelled"))
        least = 1000 * dice.between(4, 29)
        query = (
            "SELECT count(*) FROM orders WHERE created_at BETWEEN ? AND ? AND status = ? "
            "AND total >= ?"
        )
        count = world.value(SITE, query, *month.between, status, least)
        if not count or count == world.value(SITE, query, *month.between, status, 0):
            return None
        filters = {**month.filters, "Status": status, "Total at least": str(least // 100)}
        return Case(
            {"month": month.text, "status": status, "amount": money(least)},
            answers(number(count, "order")),
            {"filters": filters},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the orders and read how many there are."""
        yield from open_section(screen, "Orders", "The grid of orders can be filtered.")
        yield from apply_filters(screen, case.notes["filters"])
        texts = [n.name for n in screen.all("StaticText") if n.name.endswith((" order", " orders"))]
        yield screen.stop(texts[0].split()[0], f"The grid says {texts[0]}.")


class Revenue(Template):
    """The revenue of one status's orders over some weeks."""

    number = 32
    sites = (SITE,)
    split = "test"
    intents = (
        "What revenue did {status} orders from {first} through {last} make?",
        "What is the revenue of the {status} orders placed from {first} through {last}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two days, 20 to 250 days apart."""
        first = date(2024, 4, 1) + timedelta(days=dice.below(440))
        last = first + timedelta(days=dice.between(20, 249))
        status = dice.pick(("complete", "complete", "cancelled", "refunded"))
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
            {"status": status, "first": str(first), "last": str(last)},
            answers(amount(revenue)),
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
    split = "train"
    intents = (
        "Which {group} customer spent most in {period}, {status} counted? Give the e-mail address.",
        "Give the e-mail address of the {group} customer who spent most in {period}, {status} "
        "counted.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a group and a period with one clear winner."""
        group = dice.pick(("Wholesale", "Retailer"))
        period = draw_period(dice)
        status = dice.pick(("", "complete"))
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
        counted = f"only {status} orders" if status else "all orders"
        return Case(
            {"group": group, "period": period.text, "status": counted},
            answers(name(rows[0]["email"])),
            {"filters": filters},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort the report by total, then look at the first customer's page."""
        yield from open_report(screen, "Customers by orders")
        yield from apply_filters(screen, case.notes["filters"], sort="Total: high to low")
        first = first_of(lines(screen, "Customer"))
        link = screen.below(first.node, "link")[0]
        yield screen.click_node(link, "This customer spent the most; the page has the address.")
        email = first_of(n for n in screen.all("row") if n.name.startswith("E-mail | "))
        yield screen.stop(email.name.split(" | ")[1], "Here is the e-mail address.")


_RANKS = ("most used", "second most used", "third most used")


class MissedTerm(Template):
    """A frequent search term with few results."""

    number = 50
    sites = (SITE,)
    split = "train"
    intents = (
        "Name the {rank} search term containing “{part}” with fewer than {results} results.",
        "Which search term with “{part}” in it that gives fewer than {results} results is the "
        "{rank}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a word of some terms, a bound, and a rank that no two of them share."""
        terms = world.rows(SITE, "SELECT term, results FROM search_terms ORDER BY id")
        words = Counter(word for row in terms for word in row["term"].split())
        part = dice.pick(sorted(word for word, times in words.items() if times >= 3))
        bound = 1 + dice.pick([row["results"] for row in terms if part in row["term"]])
        rank = dice.below(3)
        rows = world.rows(
            SITE,
            "SELECT term, uses FROM search_terms WHERE instr(term, ?) > 0 AND results < ? "
            "ORDER BY uses DESC LIMIT 4",
            part,
            bound,
        )
        if len(rows) < max(2, rank + 1):
            return None
        if sum(each["uses"] == rows[rank]["uses"] for each in rows) > 1:
            return None
        return Case(
            {"part": part, "results": str(bound), "rank": _RANKS[rank]},
            answers(name(rows[rank]["term"])),
            {"filters": {"Term": part, "Results below": str(bound)}, "rank": rank},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the report of search terms, which is sorted by uses."""
        yield from open_report(screen, "Search terms")
        yield from apply_filters(screen, case.notes["filters"])
        line = lines(screen, "Term")[case.notes["rank"]].cells
        yield screen.stop(line["Term"], f"It was used {line['Uses']} times.")
