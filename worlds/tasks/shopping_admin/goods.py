"""Tasks about products: other prices, and something new."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import money
from agentgym_envs.sites.forms import read_amount, write_amount
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.screen import Screen
from worlds.tasks.shopping_admin.draws import plain_categories
from worlds.tasks.shopping_admin.steps import (
    SITE,
    apply_filters,
    lines,
    open_line,
    open_section,
    typed,
)
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS


def _change_prices_list(screen: Screen, case: Case) -> Iterator[ExpertMove]:
    yield from open_section(screen, "Products", "I need the list of these products.")
    filters = {"Brand": case.values["brand"], "Category": case.values["category"]}
    yield from apply_filters(screen, filters)


class ChangePrices(Template):
    """The products of a brand in a category become cheaper or dearer."""

    number = 38
    sites = (SITE,)
    split = "train"
    intents = (
        "{verb} all regular {brand} prices in {category} by {amount}.",
        "{verb} the regular price of all {brand} products in {category} by {amount}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a brand with two or three products in a category."""
        categories = plain_categories(world)
        category = dice.pick(sorted(name for name, ids in categories.items() if len(ids) == 1))
        brand = dice.pick(
            world.rows(
                SITE,
                "SELECT brand, count(*) AS number FROM products WHERE category_id = ? "
                "GROUP BY brand ORDER BY brand",
                categories[category][0],
            )
        )
        if not 2 <= brand["number"] <= 3:
            return None
        cents, verb = dice.pick(((dice.between(1, 8) * 50, "Raise"), (50, "Lower"), (100, "Lower")))
        change = cents if verb == "Raise" else -cents
        products = world.rows(
            SITE,
            "SELECT id, price + ? AS price, special_price FROM products "
            "WHERE category_id = ? AND brand = ? ORDER BY id",
            change,
            categories[category][0],
            brand["brand"],
        )
        if any(each["price"] <= max(200, each["special_price"] or 0) for each in products):
            return None
        values = {
            "verb": verb,
            "brand": brand["brand"],
            "category": category,
            "amount": money(cents),
        }
        rows = [row("products", id=each["id"], price=each["price"]) for each in products]
        return Case(values, changes(*rows), {"change": change})

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the products one after the other and compute each price."""
        yield from _change_prices_list(screen, case)
        skus = [line.cells["SKU"] for line in lines(screen, "SKU")]
        for sku in skus:
            if sku != skus[0]:
                yield from _change_prices_list(screen, case)
            yield open_line(screen, "SKU", sku, "The price of this one is not changed yet.")
            price = write_amount((read_amount(typed(screen, "Price")) or 0) + case.notes["change"])
            yield screen.fill("textbox", "Price", price, f"The new price is {price}.")
            yield screen.click("button", "Save product", "I save the product.")
        yield screen.stop("", "All of the products have their new price.")


_NEW_PRODUCTS: tuple[str, ...] = WORDS["shopping_admin"]["new_products"]


class NewProduct(Template):
    """A product is added, in a brand and category that there are."""

    number = 48
    sites = (SITE,)
    split = "test"
    intents = (
        'Add "{name}" by {brand} to {category}: SKU {sku}, {price}, {stock} in stock, enabled.',
        'Add and enable the product "{name}" by {brand} in {category}: SKU {sku}, price {price}, '
        "{stock} pieces in stock.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a category, one of its brands, and new values."""
        leaf = dice.pick(
            world.rows(
                SITE,
                "SELECT c.id, c.name, above.name AS above, p.brand FROM products p "
                "JOIN categories c ON c.id = p.category_id "
                "JOIN categories above ON above.id = c.parent_id "
                "GROUP BY c.id, p.brand ORDER BY c.id, p.brand",
            )
        )
        name = f"{leaf['brand']} {dice.pick(_NEW_PRODUCTS)} {dice.pick(('Set', 'Box', 'Edition'))}"
        sku = f"NW{dice.between(1000, 9998)}-{dice.pick('ABCDEF')}"
        price, stock = dice.pick(range(500, 20000, 5)), dice.between(5, 89)
        if world.value(SITE, "SELECT 1 FROM products WHERE sku = ? OR name = ?", sku, name):
            return None
        values = {
            "name": name,
            "brand": leaf["brand"],
            "category": leaf["name"],
            "sku": sku,
            "price": money(price),
            "stock": str(stock),
        }
        product = {"name": name, "sku": sku, "brand": leaf["brand"], "category_id": leaf["id"]}
        new = row("products", **product, price=price, special_price=None, stock=stock, is_enabled=1)
        notes = {"option": f"{leaf['above']} / {leaf['name']}", "price": write_amount(price)}
        return Case(values, changes(new), notes)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Fill in the form of a new product."""
        values = case.values
        yield from open_section(screen, "Products", "Products are added in their section.")
        yield screen.click("link", "Add product", "I open the form for a new product.")
        yield screen.fill("textbox", "Product name", values["name"], "I begin with the name.")
        yield screen.fill("textbox", "SKU", values["sku"])
        yield screen.choose("Category", case.notes["option"])
        yield screen.fill("textbox", "Brand", values["brand"])
        yield screen.fill("textbox", "Price", case.notes["price"])
        yield screen.fill("textbox", "Stock", values["stock"])
        if screen.find("checkbox", "Enabled in the shop").properties.get("checked") != "true":
            yield screen.click("checkbox", "Enabled in the shop", "It shall be enabled.")
        yield screen.click("button", "Save product", "Everything is filled in, so I save.")
        yield screen.stop("", "The product has been added.")
