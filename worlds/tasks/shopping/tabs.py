"""Tasks that begin with a page in each of two tabs."""

from __future__ import annotations

from agentgym_envs.webarena.places import AND
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from agentgym_envs.webarena.tasks.shopping.tabs import CRITERIA
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.shopping.draws import COST, rows
from worlds.tasks.template import Case, Template, World

_COLUMNS = dict(zip(CRITERIA, ("cost", "-cost", "-stock", "stock", "-reviews"), strict=True))
"""What is least of the one that is meant."""


class BetterOfTwoTabs(Template):
    """Put the one of two products into the cart whose pages are open already."""

    number = 148
    sites = (SITE,)
    split = "train"
    intents = (
        "From my two tabs, put {quantity} of {which} into my cart.",
        "Of the two products in my tabs, put {quantity} of {which} into my cart.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two products of one category that differ in all that may be asked for."""
        products = rows(
            world,
            f"SELECT p.id, p.slug, p.category_id, p.stock, {COST} AS cost, (SELECT count(*) FROM "
            "reviews r WHERE r.product_id = p.id AND r.status = 'approved') AS reviews "
            "FROM products p WHERE p.is_enabled AND p.stock >= 12 ORDER BY p.id",
        )
        first = dice.pick(products)
        second = dice.pick(
            [each for each in products if each["category_id"] == first["category_id"]]
        )
        if any(first[column] == second[column] for column in ("cost", "stock", "reviews")):
            return None
        which, quantity = dice.pick(list(CRITERIA)), dice.between(2, 11)
        column = _COLUMNS[which]
        sign = -1 if column.startswith("-") else 1
        better = min((first, second), key=lambda each: sign * each[column.removeprefix("-")])
        return Case(
            {"quantity": str(quantity), "which": which},
            changes(row("cart_items", product_id=better["id"], quantity=quantity)),
            start=AND.join(f"__SHOPPING__/product/{each['slug']}" for each in (first, second)),
        )
