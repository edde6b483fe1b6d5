"""Tasks about the sales reports: what sells, how much, to whom, and what people look for."""

from __future__ import annotations

from datetime import date, timedelta

from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    FROM,
    SITE,
    TO,
)
from worlds.dice import Dice
from worlds.tasks.shopping_admin.draws import draw_month, draw_period, plain_categories
from worlds.tasks.template import Case, Template, World, exact_answer


class BestSeller(Template):
    """The product of a category that sold most in a period."""

    number = 30
    sites = (SITE,)
    intent = (
        "Which product of the category {category} sold the most units in {period}, orders of every "
        "status counted? Answer with its SKU alone."
    )
    split = "train"

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
            exact_answer(rows[0]["sku"]),
            {"filters": {**period.filters, "Category": category}},
        )


class CountOrders(Template):
    """How many orders of a status and size there were in a month."""

    number = 31
    sites = (SITE,)
    intent = (
        "How many orders placed in {month} have the status {status} and a total of at least "
        "{amount}? Answer with the number alone."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a month, a status and an amount that some orders reach, but not all."""
        month = draw_month(dice)
        status = dice.pick(("complete", "complete", "cancelled"))
        least = 1000 * dice.between(4, 29)
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


class Revenue(Template):
    """What orders of one status brought in over some weeks."""

    number = 32
    sites = (SITE,)
    intent = (
        "What is the total revenue of the orders with the status {status} that were placed from "
        "{first} to {last}, both days included? Answer with the amount alone, such as $1,234.50."
    )
    split = "test"

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
            {"status": f'"{status}"', "first": str(first), "last": str(last)},
            exact_answer(money(revenue)),
            {"filters": {FROM: str(first), TO: str(last), "Status": status}},
        )


class BestCustomer(Template):
    """The customer of a group who spent most in a period."""

    number = 33
    sites = (SITE,)
    intent = (
        "Which customer of the group {group} ordered for the highest total in {period}, orders of "
        "{status} counted? Answer with the customer's e-mail address."
    )
    split = "train"

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
        counted = f'the status "{status}" only' if status else "every status"
        return Case(
            {"group": group, "period": period.text, "status": counted},
            exact_answer(rows[0]["email"]),
            {"filters": filters},
        )


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

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a bound and a rank that no two terms share."""
        bound = dice.between(2, 29)
        rank = dice.below(3)
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
