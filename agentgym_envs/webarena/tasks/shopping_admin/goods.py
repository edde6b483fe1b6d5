"""Tasks about products: other prices, and something new."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.sites.shopping_admin.entries import read_amount, write_amount
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.shopping_admin.template_helpers import (
    SITE,
    apply_filters,
    lines,
    open_line,
    open_section,
    plain_categories,
    same,
    typed,
)
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of


class ChangePrices(Template):
    """The products of a brand in a category become cheaper or dearer."""

    number = 38
    sites = (SITE,)
    intent = (
        "{verb} the regular price of every product of the brand {brand} in the category "
        "{category} by {amount}. Special prices stay as they are."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a brand with two or three products in a category."""
        categories = plain_categories(world)
        category = rng.choice(sorted(name for name, ids in categories.items() if len(ids) == 1))
        brand = rng.choice(
            world.rows(
                SITE,
                "SELECT brand, count(*) AS number FROM products WHERE category_id = ? "
                "GROUP BY brand ORDER BY brand",
                categories[category][0],
            )
        )
        if not 2 <= brand["number"] <= 3:
            return None
        cents, verb = rng.choice(
            ((rng.randrange(1, 9) * 50, "Raise"), (50, "Lower"), (100, "Lower"))
        )
        change = cents if verb == "Raise" else -cents
        rows = world.rows(
            SITE,
            "SELECT id, price + ? AS price, special_price FROM products "
            "WHERE category_id = ? AND brand = ? ORDER BY id",
            change,
            categories[category][0],
            brand["brand"],
        )
        if any(row["price"] <= max(200, row["special_price"] or 0) for row in rows):
            return None
        ids = ", ".join(str(row["id"]) for row in rows)
        return Case(
            {"verb": verb, "brand": brand["brand"], "category": category, "amount": money(cents)},
            changed(
                state_of(
                    SITE,
                    f"SELECT id, price FROM products WHERE id IN ({ids}) ORDER BY id",
                    [(row["id"], row["price"]) for row in rows],
                ),
                same(world, f"SELECT count(*), sum(price) FROM products WHERE id NOT IN ({ids})"),
                same(world, "SELECT count(*), sum(special_price), sum(stock) FROM products"),
            ),
            {"change": change},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the products one after the other and compute each price."""
        yield from self._list(screen, case)
        skus = [line.cells["SKU"] for line in lines(screen, "SKU")]
        for sku in skus:
            if sku != skus[0]:
                yield from self._list(screen, case)
            yield open_line(screen, "SKU", sku, "The price of this one is not changed yet.")
            price = write_amount((read_amount(typed(screen, "Price")) or 0) + case.notes["change"])
            yield screen.fill("textbox", "Price", price, f"The new price is {price}.")
            yield screen.click("button", "Save product", "I save the product.")
        yield screen.stop("", "All of the products have their new price.")

    def _list(self, screen: Screen, case: Case) -> Iterator[ExpertMove]:
        yield from open_section(screen, "Products", "I need the list of these products.")
        filters = {"Brand": case.values["brand"], "Category": case.values["category"]}
        yield from apply_filters(screen, filters)


_NEW = ("Harvest", "Lakeside", "Meadow", "Winter", "Morning", "Cottage", "Juniper", "Festival")


class NewProduct(Template):
    """A product is added, in a brand and category that there are."""

    number = 48
    sites = (SITE,)
    intent = (
        'Add the product "{name}" of the brand {brand} to the category {category}, with the SKU '
        "{sku}, a price of {price} and {stock} pieces in stock. It shall be enabled."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a category, one of its brands, and new values."""
        leaf = rng.choice(
            world.rows(
                SITE,
                "SELECT c.id, c.name, above.name AS above, p.brand FROM products p "
                "JOIN categories c ON c.id = p.category_id "
                "JOIN categories above ON above.id = c.parent_id "
                "GROUP BY c.id, p.brand ORDER BY c.id, p.brand",
            )
        )
        name = f"{leaf['brand']} {rng.choice(_NEW)} {rng.choice(('Set', 'Box', 'Edition'))}"
        sku = f"NW{rng.randrange(1000, 9999)}-{rng.choice('ABCDEF')}"
        price, stock = rng.randrange(500, 20000, 5), rng.randrange(5, 90)
        if world.value(SITE, "SELECT 1 FROM products WHERE sku = ? OR name = ?", sku, name):
            return None
        return Case(
            {
                "name": name,
                "brand": leaf["brand"],
                "category": leaf["name"],
                "sku": sku,
                "price": money(price),
                "stock": str(stock),
            },
            changed(
                state_of(
                    SITE,
                    "SELECT name, brand, category_id, price, special_price, stock, is_enabled "
                    f"FROM products WHERE sku = '{sku}'",
                    [(name, leaf["brand"], leaf["id"], price, None, stock, 1)],
                ),
                same(world, f"SELECT count(*), sum(price) FROM products WHERE sku <> '{sku}'"),
            ),
            {"option": f"{leaf['above']} / {leaf['name']}", "price": write_amount(price)},
        )

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
