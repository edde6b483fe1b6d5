"""Tasks about stock: deliveries, an inventory, and what is nearly gone."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.shopping_admin.template_helpers import (
    SITE,
    apply_filters,
    change_ticked,
    open_product,
    open_section,
    plain_categories,
    same,
    typed,
)
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of


class CountedStock(Template):
    """After an inventory, the products of a brand in a category all get the same stock."""

    number = 53
    sites = (SITE,)
    intent = (
        "The inventory says that of every product of the brand {brand} in the category {category} "
        "there are exactly {number} pieces. Set their stock to that."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a brand with two to seven products in a category, and a number."""
        categories = plain_categories(world)
        category = rng.choice(sorted(name for name, ids in categories.items() if len(ids) == 1))
        leaf = categories[category][0]
        brands = world.rows(
            SITE, "SELECT DISTINCT brand FROM products WHERE category_id = ? ORDER BY brand", leaf
        )
        brand, number = rng.choice(brands)["brand"], rng.randrange(3, 120)
        products = world.rows(
            SITE, "SELECT id FROM products WHERE category_id = ? AND brand = ?", leaf, brand
        )
        if not 2 <= len(products) <= 7:
            return None
        ids = ", ".join(str(row["id"]) for row in products)
        return Case(
            {"brand": brand, "category": category, "number": str(number)},
            changed(
                state_of(
                    SITE,
                    f"SELECT min(stock), max(stock) FROM products WHERE id IN ({ids})",
                    [(number, number)],
                ),
                same(world, f"SELECT count(*), sum(stock) FROM products WHERE id NOT IN ({ids})"),
                same(world, "SELECT sum(price), sum(is_enabled) FROM products"),
            ),
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
    intent = (
        "{pieces} pieces of the product with the SKU {sku} have just been delivered. Add them to "
        "its stock."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product and a number of pieces."""
        product = rng.choice(world.rows(SITE, "SELECT id, sku, stock FROM products ORDER BY id"))
        pieces = rng.randrange(5, 150)
        others = f"SELECT count(*), sum(stock) FROM products WHERE id <> {product['id']}"
        return Case(
            {"pieces": str(pieces), "sku": product["sku"]},
            changed(
                state_of(
                    SITE,
                    f"SELECT stock FROM products WHERE id = {product['id']}",
                    [(product["stock"] + pieces,)],
                ),
                same(world, others),
                same(world, "SELECT sum(price), sum(is_enabled) FROM products"),
            ),
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
    intent = (
        "Disable every enabled product in the category {category} of which fewer than {number} "
        "pieces are in stock."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a category and a bound that up to eight products stay under."""
        categories = plain_categories(world)
        category = rng.choice(sorted(categories))
        bound = rng.randrange(2, 15)
        ids = ", ".join(map(str, categories[category]))
        products = world.rows(
            SITE,
            f"SELECT id FROM products WHERE category_id IN ({ids}) AND is_enabled AND stock < ? "
            "ORDER BY id",
            bound,
        )
        if not 2 <= len(products) <= 8:
            return None
        meant = ", ".join(str(row["id"]) for row in products)
        return Case(
            {"category": category, "number": str(bound)},
            changed(
                state_of(
                    SITE,
                    f"SELECT count(*) FROM products WHERE id IN ({meant}) AND NOT is_enabled",
                    [(len(products),)],
                ),
                same(
                    world,
                    f"SELECT is_enabled, count(*) FROM products WHERE id NOT IN ({meant}) "
                    "GROUP BY is_enabled ORDER BY is_enabled",
                ),
                same(world, "SELECT sum(stock), sum(price) FROM products"),
            ),
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
