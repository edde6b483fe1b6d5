"""Questions about products and their reviews."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import money
from worlds.dice import Dice
from worlds.sites.shopping.reviews import ASPECTS
from worlds.tasks.goals import NONE, all_of, amount, answers, impossible, name, number, page
from worlds.tasks.screen import ElementNotFound, Screen, first_of, over_pages
from worlds.tasks.shopping.draws import COST, GROUPS, LEAVES, rows
from worlds.tasks.shopping.steps import (
    SITE,
    cell,
    cents_in,
    open_category,
    open_product,
    tiles,
)
from worlds.tasks.template import Case, Template, World

_REVIEWED = (
    "SELECT p.id, p.name, p.slug FROM products p WHERE p.is_enabled "
    "AND (SELECT count(*) FROM reviews r WHERE r.product_id = p.id AND r.status = 'approved') "
    "BETWEEN ? AND ? ORDER BY p.id"
)


class CheapestInColour(Template):
    """The cheapest product of a colour that can be had."""

    number = 0
    sites = (SITE,)
    split = "train"
    intents = (
        "What is the cheapest {colour} product in stock in {category}?",
        "Which {colour} product in {category} that is in stock has the lowest price?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a category and a colour with one cheapest product."""
        leaf = dice.pick(rows(world, LEAVES))
        products = rows(
            world,
            f"SELECT p.name, p.colour, p.stock, {COST} AS cost FROM products p "
            "WHERE p.category_id = ? AND p.is_enabled ORDER BY cost, p.id",
            leaf["id"],
        )
        colours = sorted({row["colour"] for row in products} - {""})
        if not colours:
            return None
        colour = dice.pick(colours)
        fitting = [row for row in products if row["colour"] == colour and row["stock"]]
        if len(fitting) < 2 or fitting[0]["cost"] == fitting[1]["cost"]:
            return None
        if products[0]["name"] == fitting[0]["name"]:
            return None  # the filters must matter
        return Case(
            {"colour": colour, "category": leaf["name"]},
            answers(name(fitting[0]["name"])),
            {"above": leaf["above"]},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter, sort by price, take the first one."""
        yield from open_category(screen, case.notes["above"], case.values["category"])
        yield screen.choose("Sort by", "Price: low to high", "Sorted so, the cheapest comes first.")
        yield screen.choose("Colour", case.values["colour"], "Only this colour counts.")
        yield screen.click("checkbox", "Only in stock", "It must be in stock.")
        yield screen.click("button", "Apply filters", "I apply the filters.")
        yield screen.stop(
            first_of(tiles(screen)).link.name, "The first one in the list is the cheapest."
        )


def uses(word: str, text: str) -> bool:
    """Return whether a text uses a word."""
    return re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None


def _stars_of(screen: Screen, word: str) -> list[int]:
    """Return the stars of each review on the page that uses a word."""
    stars = []
    for item in screen.all("listitem"):
        titles = screen.below(item, "heading")
        texts = [text.name for text in screen.below(item, "StaticText")]
        if titles and texts and uses(word, f"{titles[0].name} {texts[-1]}"):
            stars += [int(text[0]) for text in texts if text.endswith(" of 5 stars")]
    return stars


class WordInReviews(Template):
    """The number of reviews that use a word, and their stars."""

    number = 1
    sites = (SITE,)
    split = "test"
    intents = (
        'How many reviews of {product} mention "{word}", with how many stars in all?',
        'How many reviews of {product} use the word "{word}", and how many stars do they give in '
        "all?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product with two to five pages of reviews, and a word that some of them use."""
        product = dice.pick(rows(world, _REVIEWED, 7, 28))
        word = dice.pick(sorted(ASPECTS))
        texts = rows(
            world,
            "SELECT title || ' ' || body AS text, rating FROM reviews WHERE product_id = ? "
            "AND status = 'approved'",
            product["id"],
        )
        if any(word in row["text"].lower() and not uses(word, row["text"]) for row in texts):
            return None  # as a part of another word
        stars = [row["rating"] for row in texts if uses(word, row["text"])]
        if not 2 <= len(stars) < len(texts):
            return None
        answer = all_of(number(len(stars), "review"), number(sum(stars), "star"))
        return Case({"product": product["name"], "word": word}, answers(answer))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read all reviews, page after page."""
        yield from open_product(screen, case.values["product"])
        word = case.values["word"]
        stars = yield from over_pages(screen, lambda: _stars_of(screen, word))
        yield screen.stop(f"{len(stars)}, {sum(stars)}", "These were all reviews.")


_BY_DATE = (
    "SELECT nickname, rating, created_at FROM reviews WHERE product_id = ? "
    "AND status = 'approved' ORDER BY created_at DESC, id DESC"
)


def _stars(rating: int) -> str:
    return "1 star" if rating == 1 else f"{rating} stars"


def _filter_reviews(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_product(screen, case.values["product"])
    yield screen.choose("Rating", case.values["stars"], "Only reviews with this rating count.")
    yield screen.click("button", "Filter reviews", "I filter the reviews.")


class LatestAuthor(Template):
    """The author of the latest review with a given rating."""

    number = 2
    sites = (SITE,)
    split = "train"
    intents = (
        "Who wrote the latest review with {stars} of {product}?",
        "Of the reviews that give {stars} to {product}, who wrote the latest one?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product and a rating whose latest review is not the latest of all."""
        product = dice.pick(rows(world, _REVIEWED, 5, 60))
        stars = dice.between(1, 5)
        reviews = rows(world, _BY_DATE, product["id"])
        fitting = [row for row in reviews if row["rating"] == stars]
        if not fitting or reviews[0]["nickname"] == fitting[0]["nickname"]:
            return None
        days = [row["created_at"][:10] for row in fitting[:2]]
        if len(set(days)) < len(days):
            return None  # the site shows no hours
        goal = answers(name(fitting[0]["nickname"]))
        return Case({"product": product["name"], "stars": _stars(stars)}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the reviews and take the first, which is the latest."""
        yield from _filter_reviews(case, screen)
        author = screen.starting("StaticText", "By ").name
        nickname = author.removeprefix("By ").rsplit(" on ", 1)[0]
        yield screen.stop(nickname, "The first review in the list is the latest.")


class LatestAuthorOfNone(Template):
    """The author of the latest review with a rating that no review gives."""

    number = 147
    sites = (SITE,)
    split = "train"
    is_impossible = True
    intents = LatestAuthor.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product and a rating that none of its reviews gives."""
        product = dice.pick(rows(world, _REVIEWED, 5, 60))
        stars = dice.between(1, 5)
        if any(row["rating"] == stars for row in rows(world, _BY_DATE, product["id"])):
            return None
        rating = ("star", "that rating", "such review", "such a review", "rated")
        shown = page(SITE, f"/product/{product['slug']}")
        goal = impossible(rating, NONE, about=[product["name"]], pages=[shown])
        return Case({"product": product["name"], "stars": _stars(stars)}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the reviews and find none left."""
        yield from _filter_reviews(case, screen)
        if any(text.name.startswith("By ") for text in screen.all("StaticText")):
            raise ElementNotFound("a review gives this rating after all")
        yield screen.give_up(f"No review of this product gives {case.values['stars']}.")


class PriceByWeight(Template):
    """The price of 100 g of the food that is cheaper by weight."""

    number = 15
    sites = (SITE,)
    split = "test"
    intents = (
        "What do 100 g of {first} or {second}, whichever is cheaper by weight, cost to the cent?",
        "Compare {first} and {second}: what do 100 g of the one that is cheaper by weight cost, "
        "to the cent?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two foods of one category, where the dearer one is cheaper by weight."""
        foods = rows(
            world,
            f"SELECT p.name, p.category_id, p.weight_grams AS grams, {COST} AS cost "
            "FROM products p JOIN categories c ON c.id = p.category_id WHERE p.is_enabled AND "
            "c.parent_id = (SELECT id FROM categories WHERE name = 'Pantry') ORDER BY p.id",
        )
        first, second = dice.sample(foods, 2)
        prices = [row["cost"] * 100 / row["grams"] for row in (first, second)]
        if first["category_id"] != second["category_id"] or abs(prices[0] - prices[1]) < 5:
            return None
        if (first["cost"] < second["cost"]) == (prices[0] < prices[1]):
            return None
        if abs(min(prices) % 1 - 0.5) < 0.02:
            return None  # nobody shall quarrel about rounding
        goal = answers(amount(round(min(prices))))
        return Case({"first": first["name"], "second": second["name"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look at both, and calculate."""
        prices = []
        for slot in ("first", "second"):
            yield from open_product(screen, case.values[slot])
            grams = int(cell(screen, "Weight").removesuffix(" g"))
            prices.append(cents_in(screen.starting("StaticText", "$").name) * 100 / grams)
        yield screen.stop(
            money(round(min(prices))),
            f"{prices[0] / 100:.3f} and {prices[1] / 100:.3f} dollars for 100 g.",
        )


class CountUnderFilters(Template):
    """The number of products that fulfil several conditions."""

    number = 18
    sites = (SITE,)
    split = "validation"
    intents = (
        "How many {brand} products in {category} cost {least} to {most} with {stars}+ stars?",
        "How many products by {brand} in {category} cost between {least} and {most} and are rated "
        "with {stars} stars or more?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw the conditions, which a few products fulfil."""
        group = dice.pick(rows(world, GROUPS))
        products = rows(
            world,
            f"SELECT p.brand, {COST} AS cost, (SELECT round(avg(r.rating), 1) FROM reviews r "
            "WHERE r.product_id = p.id AND r.status = 'approved') AS stars FROM products p "
            "JOIN categories c ON c.id = p.category_id WHERE p.is_enabled AND c.parent_id = ? "
            "ORDER BY p.id",
            group["id"],
        )
        brand = dice.pick(sorted({row["brand"] for row in products}))
        least = dice.pick(range(5, 60, 5))
        most, stars = least + dice.pick(range(15, 120, 5)), dice.pick((3, 4))
        good = [row for row in products if row["brand"] == brand and (row["stars"] or 0) >= stars]
        count = sum(least * 100 < row["cost"] < most * 100 for row in good)
        if count < 2 or any(row["cost"] in (least * 100, most * 100) for row in good):
            return None  # nobody shall ask whether the bounds count
        values = {
            "brand": brand,
            "category": group["name"],
            "least": f"${least}",
            "most": f"${most}",
            "stars": str(stars),
        }
        return Case(values, answers(number(count, "product")))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Set every filter and read how many are left."""
        yield from open_category(screen, case.values["category"])
        for field, slot in (("Lowest price ($)", "least"), ("Highest price ($)", "most")):
            yield screen.fill("textbox", field, case.values[slot].removeprefix("$"))
        yield screen.choose("Brand", case.values["brand"], "Only this brand counts.")
        yield screen.choose(
            "Rating", f"{case.values['stars']} stars and up", "And only well-rated products."
        )
        yield screen.click("button", "Apply filters", "I apply the filters.")
        for heading in screen.all("heading"):
            if match := re.fullmatch(r"([\d,]+) products?", heading.name):
                yield screen.stop(match[1].replace(",", ""), "The heading tells the number.")
                return
        raise ElementNotFound("no heading tells how many products there are")
