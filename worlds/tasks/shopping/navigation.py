"""Tasks that end on a page: the right one must be found and stand in the browser."""

from __future__ import annotations

from urllib.parse import urlencode

from agentgym_envs.webarena.tasks.shopping.navigation import ORDERS
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import shows
from worlds.tasks.shopping.draws import COST, GROUPS, LEAVES, rows
from worlds.tasks.template import Case, Template, World

PAGE_OF_LIST = 12
PAGE_OF_REVIEWS = 6


class SecondPageOfList(Template):
    """A category under three filters, sorted, and its second page."""

    number = 20
    sites = (SITE,)
    split = "train"
    intents = (
        "Show page 2 of {brand} products in {category}, in stock, {most} or less, {order}.",
        "Show me the second page of the {brand} products in {category} that are in stock and cost "
        "{most} or less, {order}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw the conditions; two or three pages must fulfil them, and some products not."""
        group = dice.pick(rows(world, GROUPS))
        products = rows(
            world,
            f"SELECT p.brand, p.stock, {COST} AS cost FROM products p JOIN categories c "
            "ON c.id = p.category_id WHERE p.is_enabled AND c.parent_id = ? ORDER BY p.id",
            group["id"],
        )
        brand = dice.pick(sorted({row["brand"] for row in products}))
        most, order = dice.pick(range(15, 200, 5)), dice.pick(sorted(ORDERS))
        costs = [row["cost"] for row in products if row["brand"] == brand and row["stock"]]
        number = sum(cost <= most * 100 for cost in costs)
        if not PAGE_OF_LIST < number <= min(3 * PAGE_OF_LIST, len(costs) - 1):
            return None
        query = {"sort": ORDERS[order][0], "brand": brand, "stock": 1, "page": 2, "max": most}
        url = f"__SHOPPING__/category/{group['slug']}?{urlencode(query)}"
        values = {"brand": brand, "category": group["name"], "most": f"${most}", "order": order}
        return Case(values, shows(url))


class StarsOfMostReviewed(Template):
    """The reviews with so many stars of the product that has the most reviews."""

    number = 21
    sites = (SITE,)
    split = "train"
    intents = (
        "Show only reviews giving {stars} to the most reviewed {brand} product in {category}.",
        "Show only the reviews that give {stars} to the most reviewed {brand} product in "
        "{category}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a brand with one most reviewed product, and a rating that fills up to one page."""
        leaf, stars = dice.pick(rows(world, LEAVES)), dice.between(1, 5)
        products = rows(
            world,
            "SELECT p.brand, p.slug, count(r.id) AS reviews, total(r.rating = ?) AS fitting "
            "FROM products p LEFT JOIN reviews r ON r.product_id = p.id AND r.status = 'approved' "
            "WHERE p.is_enabled AND p.category_id = ? GROUP BY p.id ORDER BY reviews DESC, p.id",
            stars,
            leaf["id"],
        )
        brand = dice.pick(sorted({row["brand"] for row in products}))
        first, *others = [row for row in products if row["brand"] == brand]
        if len(others) < 2 or first["reviews"] == others[0]["reviews"]:
            return None
        if not 1 <= first["fitting"] <= min(PAGE_OF_REVIEWS, first["reviews"] - 1):
            return None
        values = {
            "brand": brand,
            "category": leaf["name"],
            "stars": "1 star" if stars == 1 else f"{stars} stars",
        }
        url = f"__SHOPPING__/product/{first['slug']}?stars={stars}"
        return Case(values, shows(url), {"above": leaf["above"]})


class ReviewMostReduced(Template):
    """The form for a review of the product whose price was cut the most."""

    number = 22
    sites = (SITE,)
    split = "test"
    intents = (
        "Open the review form of the {category} product at {least} to {most} reduced by most "
        "dollars.",
        "Of the {category} products that now cost {least} to {most}, open the review form of the "
        "one reduced by the most dollars.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two reduced products, and amounts between which no price was cut as much."""
        reduced = rows(
            world,
            f"SELECT p.slug, p.category_id, {COST} AS cost, p.price - {COST} AS cut, c.name, "
            "g.name AS above FROM products p JOIN categories c ON c.id = p.category_id "
            "JOIN categories g ON g.id = c.parent_id WHERE p.is_enabled AND cut ORDER BY p.id",
        )
        product = dice.pick(reduced)
        others = [row for row in reduced if row["category_id"] == product["category_id"]]
        lower = [row["cost"] for row in others if row["cut"] < product["cut"]]
        if not lower:
            return None
        costs = sorted((product["cost"], dice.pick(lower)))
        least = max(1, costs[0] // 100 - dice.below(10))
        most = costs[1] // 100 + dice.between(1, 19)
        between = [row for row in others if least * 100 <= row["cost"] <= most * 100]
        if any(row["cut"] >= product["cut"] for row in between if row != product):
            return None
        return Case(
            {"category": product["name"], "least": f"${least}", "most": f"${most}"},
            shows(f"__SHOPPING__/product/{product['slug']}/review"),
            {"above": product["above"]},
        )


class BestStockedVariant(Template):
    """The page of the variant that the shop has most of, which each one's page alone tells."""

    number = 24
    sites = (SITE,)
    split = "validation"
    intents = (
        "Open the best stocked variant of the {family}.",
        "Open the page of the {family} variant of which the shop has the most pieces in stock.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a family of three or more, one of which there is most of."""
        product = dice.pick(
            rows(world, "SELECT id, name FROM products WHERE is_enabled ORDER BY id")
        )
        family = product["name"].split(",")[0]
        products = rows(
            world,
            "SELECT slug, stock FROM products WHERE is_enabled AND (name = ? OR "
            "instr(name, ? || ',') = 1) ORDER BY stock DESC, id",
            family,
            family,
        )
        if len(products) < 3 or products[0]["stock"] == products[1]["stock"]:
            return None
        url = f"__SHOPPING__/product/{products[0]['slug']}"
        return Case({"family": family}, shows(url))
