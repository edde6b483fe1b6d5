"""Tasks about stock: deliveries, an inventory, and what is nearly gone."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.shopping_admin.draws import plain_categories, same
from worlds.tasks.template import Case, Template, World, changed, state_of


class CountedStock(Template):
    """After an inventory, the products of a brand in a category all get the same stock."""

    number = 53
    sites = (SITE,)
    intent = (
        "The inventory says that of every product of the brand {brand} in the category {category} "
        "there are exactly {number} pieces. Set their stock to that."
    )
    split = "train"

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


class ReceiveGoods(Template):
    """A delivery is added to the stock of a product."""

    number = 40
    sites = (SITE,)
    intent = (
        "{pieces} pieces of the product with the SKU {sku} have just been delivered. Add them to "
        "its stock."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product and a number of pieces."""
        product = dice.pick(world.rows(SITE, "SELECT id, sku, stock FROM products ORDER BY id"))
        pieces = dice.between(5, 149)
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


class DisableScarce(Template):
    """Products of which hardly anything is left disappear from the shop."""

    number = 39
    sites = (SITE,)
    intent = (
        "Disable every enabled product in the category {category} of which fewer than {number} "
        "pieces are in stock."
    )
    split = "test"

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
