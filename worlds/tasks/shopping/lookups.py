"""Questions about products and their reviews."""

from __future__ import annotations

from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.tasks.shopping.lookups import uses
from agentgym_envs.webarena.tasks.shopping.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.sites.shopping.reviews import ASPECTS
from worlds.tasks.shopping.draws import COST, rows
from worlds.tasks.template import Case, Template, World, exact_answer

_REVIEWED = (
    "SELECT p.id, p.name FROM products p WHERE p.is_enabled AND (SELECT count(*) FROM reviews r "
    "WHERE r.product_id = p.id AND r.status = 'approved') BETWEEN ? AND ? ORDER BY p.id"
)


class CheapestInColour(Template):
    """The cheapest product of a colour that can be had."""

    number = 0
    sites = (SITE,)
    split = "train"
    intent = (
        "What is the cheapest product in {colour} in the category {category} that is in stock? "
        "Answer with its name, exactly as the shop writes it."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a category and a colour; the cheapest product must be only one."""
        leaf = dice.pick(
            rows(
                world,
                "SELECT c.id, c.name, g.name AS above FROM categories c JOIN categories g "
                "ON g.id = c.parent_id ORDER BY c.id",
            )
        )
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
            exact_answer(fitting[0]["name"]),
            {"above": leaf["above"]},
        )


class WordInReviews(Template):
    """How many reviews use a word, and how many stars these give."""

    number = 1
    sites = (SITE,)
    split = "test"
    intent = (
        'How many reviews of {product} use the word "{word}", in the title or the text, and how '
        "many stars do these give in all? Answer with the two numbers, like 3, 11"
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
        stars = [row["rating"] for row in texts if uses(word, row["text"])]
        if not 2 <= len(stars) < len(texts):
            return None
        answer = f"{len(stars)}, {sum(stars)}"
        return Case({"product": product["name"], "word": word}, exact_answer(answer))


class LatestAuthor(Template):
    """Who gave so many stars last."""

    number = 2
    sites = (SITE,)
    split = "train"
    intent = (
        "Who wrote the latest review of {product} that gives {stars}? Answer with the nickname "
        "alone."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product and a rating whose latest review is not the latest of all."""
        product = dice.pick(rows(world, _REVIEWED, 5, 60))
        stars = dice.between(1, 5)
        reviews = rows(
            world,
            "SELECT nickname, rating, created_at FROM reviews WHERE product_id = ? "
            "AND status = 'approved' ORDER BY created_at DESC, id DESC",
            product["id"],
        )
        fitting = [row for row in reviews if row["rating"] == stars]
        if not fitting or reviews[0]["nickname"] == fitting[0]["nickname"]:
            return None
        days = [row["created_at"][:10] for row in fitting[:2]]
        if len(set(days)) < len(days):
            return None  # the site shows no hours
        rating = "1 star" if stars == 1 else f"{stars} stars"
        return Case(
            {"product": product["name"], "stars": rating}, exact_answer(fitting[0]["nickname"])
        )


class PriceByWeight(Template):
    """What 100 g cost of the food that is cheaper by weight."""

    number = 15
    sites = (SITE,)
    split = "test"
    intent = (
        "Take whichever of {first} and {second} is cheaper by weight. What do 100 g of it cost? "
        "Answer with that price alone, rounded to the cent and written like $1.23."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two foods of one category; the larger price must belong to the cheaper one."""
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
        return Case(
            {"first": first["name"], "second": second["name"]},
            exact_answer(money(round(min(prices)))),
        )


class CountUnderFilters(Template):
    """How many products fulfil several conditions."""

    number = 18
    sites = (SITE,)
    split = "validation"
    intent = (
        "How many products by {brand} in the category {category} cost between {least} and {most} "
        "and are rated with {stars} stars or more? Answer with the number alone."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw the conditions; a few products must fulfil them."""
        group = dice.pick(
            rows(world, "SELECT id, name FROM categories WHERE parent_id IS NULL ORDER BY id")
        )
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
        count = sum(
            row["brand"] == brand
            and least * 100 <= row["cost"] <= most * 100
            and (row["stars"] or 0) >= stars
            for row in products
        )
        if count < 2:
            return None
        values = {
            "brand": brand,
            "category": group["name"],
            "least": f"${least}",
            "most": f"${most}",
            "stars": str(stars),
        }
        return Case(values, exact_answer(str(count)))
