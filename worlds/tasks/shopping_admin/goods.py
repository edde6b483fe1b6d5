"""Tasks about products: other prices, and something new."""

from __future__ import annotations

from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.sites.shopping_admin.entries import write_amount
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.shopping_admin.draws import plain_categories, same
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS


class ChangePrices(Template):
    """The products of a brand in a category become cheaper or dearer."""

    number = 38
    sites = (SITE,)
    intent = (
        "{verb} the regular price of every product of the brand {brand} in the category "
        "{category} by {amount}. Special prices stay as they are."
    )
    split = "train"

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


_NEW_PRODUCTS: tuple[str, ...] = WORDS["shopping_admin"]["new_products"]


class NewProduct(Template):
    """A product is added, in a brand and category that there are."""

    number = 48
    sites = (SITE,)
    intent = (
        'Add the product "{name}" of the brand {brand} to the category {category}, with the SKU '
        "{sku}, a price of {price} and {stock} pieces in stock. It shall be enabled."
    )
    split = "test"

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
