"""Tasks that end on a page: the right one must be found and stand in the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import money
from worlds.dice import Dice
from worlds.tasks.goals import shows
from worlds.tasks.screen import Screen, first_of, over_pages
from worlds.tasks.shopping.draws import COST, GROUPS, LEAVES, rows
from worlds.tasks.shopping.steps import SITE, cents_in, open_category, search, tiles
from worlds.tasks.template import Case, Template, World

PAGE_OF_LIST = 12


PAGE_OF_REVIEWS = 6


ORDERS = {
    "the cheapest first": ("price", "Price: low to high"),
    "the most expensive first": ("price-down", "Price: high to low"),
    "ordered by name": ("name", "Name"),
    "the best rated first": ("stars", "Best rated"),
    "the most reviewed first": ("reviews", "Most reviewed"),
    "the newest first": ("newest", "Newest"),
}
"""A list's order in the words of a goal: its name in addresses, and on the page."""


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
        """Draw conditions that two or three pages of products fulfil, and others do not."""
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Set order and filters, then go on to the next page."""
        values = case.values
        yield from open_category(screen, values["category"])
        yield screen.choose("Sort by", ORDERS[values["order"]][1], "The list is to be in order.")
        yield screen.fill("textbox", "Highest price ($)", values["most"].removeprefix("$"))
        yield screen.choose("Brand", values["brand"], "Only this brand is wanted.")
        yield screen.click("checkbox", "Only in stock", "And only what is in stock.")
        yield screen.click("button", "Apply filters", "I apply order and filters.")
        yield screen.click("link", "Next", "This is the first page; the second one is wanted.")
        yield screen.stop("", "This is the second page of the list.")


class StarsOfMostReviewed(Template):
    """The reviews with a given rating of the product that has the most reviews."""

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter and sort the category, open the first product, filter its reviews."""
        values = case.values
        yield from open_category(screen, case.notes["above"], values["category"])
        yield screen.choose("Sort by", "Most reviewed", "Sorted so, the most reviewed comes first.")
        yield screen.choose("Brand", values["brand"], "Only this brand counts.")
        yield screen.click("button", "Apply filters", "I apply order and filter.")
        yield screen.click_node(first_of(tiles(screen)).link, "This product has the most reviews.")
        yield screen.choose("Rating", values["stars"], "Only reviews with this rating are wanted.")
        yield screen.click("button", "Filter reviews", "I filter the reviews.")
        yield screen.stop("", "These are the reviews asked for.")


def _cuts(screen: Screen) -> list[tuple[int, str]]:
    """Return by how many cents each reduced product on the page has become cheaper."""
    cuts = []
    for item in screen.all("listitem"):
        for text in screen.below(item, "StaticText"):
            if price := re.fullmatch(r"(\$\S+) instead of (\$\S+)", text.name):
                name = first_of(screen.below(item, "link")).name
                cuts.append((cents_in(price[2]) - cents_in(price[1]), name))
    return cuts


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Compare the cuts, page after page, then open the product and its form."""
        yield from open_category(screen, case.notes["above"], case.values["category"])
        for field, slot in (("Lowest price ($)", "least"), ("Highest price ($)", "most")):
            dollars = case.values[slot].removeprefix("$")
            yield screen.fill("textbox", field, dollars, "Only prices between the two count.")
        yield screen.click("button", "Apply filters", "I apply the filters.")
        cuts = yield from over_pages(
            screen, lambda: _cuts(screen), "A later page may hold a larger cut."
        )
        cut, name = max(cuts)
        if not screen.has("link", name):
            yield from search(screen, name, f"It is on a page before, with a cut of {money(cut)}.")
        yield screen.click("link", name, f"Its price has been cut the most, by {money(cut)}.")
        yield screen.click("link", "Write a review", "The form is behind this link.")
        yield screen.stop("", "The form is open; it is to stay empty.")


def _stock(screen: Screen) -> int:
    """Return how many pieces of a product the shop has, on its page."""
    if screen.has("StaticText", "Out of stock"):
        return 0
    return int(screen.starting("StaticText", "In stock: ").name.removeprefix("In stock: "))


def _variants(screen: Screen, family: str) -> list[Node]:
    """List the links to variants of a family."""
    return [
        link
        for link in screen.all("link")
        if link.name == family or link.name.startswith(f"{family},")
    ]


class BestStockedVariant(Template):
    """The page of the best stocked variant. Only a variant's own page shows its stock."""

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look at every variant, then return to the best one."""
        family = case.values["family"]
        yield from search(screen, family)
        first = first_of(_variants(screen, family))
        stock: dict[str, int] = {}
        yield screen.click_node(first, "Each variant's page tells how many there are.")
        others = [node.name for node in _variants(screen, family)]
        last = first.name
        stock[last] = _stock(screen)
        for last in others:
            yield screen.click("link", last, f"{max(stock.values())} at most so far; I go on.")
            stock[last] = _stock(screen)
        best = max(stock, key=lambda name: stock[name])
        if best != last:
            yield screen.click("link", best, f"There are {stock[best]} of it, the most of all.")
        yield screen.stop("", f"This variant is best in stock, with {stock[best]} pieces.")
