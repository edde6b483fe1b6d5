"""Tasks about stock: deliveries, an inventory, and scarce products."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.screen import Screen
from worlds.tasks.shopping_admin.draws import plain_categories
from worlds.tasks.shopping_admin.steps import (
    SITE,
    apply_filters,
    change_ticked,
    open_product,
    open_section,
    typed,
)
from worlds.tasks.template import Case, Template, World


class CountedStock(Template):
    """After an inventory, the products of a brand in a category all get the same stock."""

    number = 53
    sites = (SITE,)
    split = "train"
    intents = (
        "Set each {brand} product's stock in {category} to {number}.",
        "Set the stock of all {brand} products in {category} to {number}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a brand with two to seven products in a category, and a number."""
        categories = plain_categories(world)
        category = dice.pick(sorted(name for name, ids in categories.items() if len(ids) == 1))
        leaf = categories[category][0]
        brands = world.rows(
            SITE, "SELECT DISTINCT brand FROM products WHERE category_id = ? ORDER BY brand", leaf
        )
        brand, number = dice.pick(brands)["brand"], dice.between(3, 119)
        products = world.rows(
            SITE, "SELECT id, stock FROM products WHERE category_id = ? AND brand = ?", leaf, brand
        )
        others = [each["id"] for each in products if each["stock"] != number]
        if not others or not 2 <= len(products) <= 7:
            return None
        return Case(
            {"brand": brand, "category": category, "number": str(number)},
            changes(*(row("products", id=product, stock=number) for product in others)),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter, tick all, set the stock."""
        values = case.values
        yield from open_section(screen, "Products", "The grid can set the stock of many at once.")
        yield from apply_filters(screen, {"Brand": values["brand"], "Category": values["category"]})
        yield screen.fill("textbox", "New stock", values["number"], "This is what was counted.")
        yield from change_ticked(screen, "products", "Set stock")
        yield screen.stop("", "They all have the stock that was counted.")


class ReceiveGoods(Template):
    """A delivery is added to the stock of a product."""

    number = 40
    sites = (SITE,)
    split = "train"
    intents = (
        "Add {pieces} pieces to the stock of SKU {sku}.",
        "Add {pieces} pieces to the stock of the product with the SKU {sku}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product and a number of pieces."""
        product = dice.pick(world.rows(SITE, "SELECT id, sku, stock FROM products ORDER BY id"))
        pieces = dice.between(5, 149)
        return Case(
            {"pieces": str(pieces), "sku": product["sku"]},
            changes(row("products", id=product["id"], stock=product["stock"] + pieces)),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the stock in the product's form and add."""
        yield from open_product(screen, case.values["sku"])
        now = int(typed(screen, "Stock"))
        total = now + int(case.values["pieces"])
        yield screen.fill(
            "textbox", "Stock", str(total), f"{now} and {case.values['pieces']} are {total}."
        )
        yield screen.click("button", "Save product", "I save the new stock.")
        yield screen.stop("", "The delivery is in the stock.")


class DisableScarce(Template):
    """Products of which hardly anything is left disappear from the shop."""

    number = 39
    sites = (SITE,)
    split = "test"
    intents = (
        "Disable all {category} products with fewer than {number} in stock.",
        "Disable all {category} products of which fewer than {number} pieces are in stock.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a category and a bound that up to eight products stay under."""
        categories = plain_categories(world)
        category = dice.pick(sorted(categories))
        bound = dice.between(2, 14)
        ids = ", ".join(map(str, categories[category]))
        products = world.rows(
            SITE,
            f"SELECT id FROM products WHERE category_id IN ({ids}) AND is_enabled AND stock < ? "
            "ORDER BY id",
            bound,
        )
        if not 2 <= len(products) <= 8:
            return None
        return Case(
            {"category": category, "number": str(bound)},
            changes(*(row("products", id=each["id"], is_enabled=0) for each in products)),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter, tick all, disable."""
        yield from open_section(screen, "Products", "Many products can be disabled in the grid.")
        yield from apply_filters(
            screen,
            {
                "Category": case.values["category"],
                "Status": "enabled",
                "Stock below": case.values["number"],
            },
        )
        yield from change_ticked(screen, "products", "Disable")
        yield screen.stop("", "They are all disabled.")
