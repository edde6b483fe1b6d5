"""Tasks about reviews: reading complaints, approving, correcting."""

from __future__ import annotations

import re

from agentgym_envs.webarena.tasks.shopping_admin.reviews import listed
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.shopping_admin.draws import BRANDS, same
from worlds.tasks.template import Case, Template, World, changed, exact_answer, state_of


class Complaints(Template):
    """Who complains about something in the products of a brand."""

    number = 35
    sites = (SITE,)
    intent = (
        "Who gave a product of the brand {brand} fewer than 3 stars in a review that mentions the "
        'word "{word}"? Answer with the nicknames of all these reviewers in alphabetical order, '
        "separated by commas."
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a brand and a word that up to four low reviews have in common."""
        brand = dice.pick(world.rows(SITE, BRANDS))["brand"]
        low = world.rows(
            SITE,
            "SELECT r.nickname, r.title || ' ' || r.body AS text, p.brand FROM reviews r "
            "JOIN products p ON p.id = r.product_id WHERE r.rating < 3 "
            "AND instr(lower(p.name), lower(?)) > 0 ORDER BY r.id",
            brand,
        )
        words = sorted({w for row in low for w in re.findall(r"\b[a-z]{5,}\b", row["text"])})
        if not words:
            return None
        word = dice.pick(words)
        matching = [row for row in low if word in row["text"].lower()]
        exact = [row for row in matching if re.search(rf"\b{word}\b", row["text"].lower())]
        names = [row["nickname"] for row in matching]
        is_clear = len(exact) == len(matching) and all(row["brand"] == brand for row in low)
        if not is_clear or not 1 <= len(names) <= 4 or len(set(names)) < len(names):
            return None
        return Case({"brand": brand, "word": word}, exact_answer(listed(names)))


class ApproveReviews(Template):
    """Pending reviews of a brand's products are approved, but only the good ones."""

    number = 36
    sites = (SITE,)
    intent = (
        "Approve every pending review of products by {brand} that gives {stars}. Leave all other "
        "reviews as they are."
    )
    split = "train"

    _STARS = {
        "4 stars and more": ("4 stars or more", "r.rating >= 4"),
        "5 stars": ("exactly 5 stars", "r.rating = 5"),
        "4 stars": ("exactly 4 stars", "r.rating = 4"),
        "3 stars": ("exactly 3 stars", "r.rating = 3"),
    }

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a brand with some pending reviews."""
        brand = dice.pick(world.rows(SITE, BRANDS))["brand"]
        choice = dice.pick(sorted(self._STARS))
        words, condition = self._STARS[choice]
        source = "FROM reviews r JOIN products p ON p.id = r.product_id WHERE r.status = 'pending'"
        rows = world.rows(
            SITE,
            f"SELECT r.id, p.brand {source} AND {condition} "
            "AND instr(lower(p.name), lower(?)) > 0 ORDER BY r.id",
            brand,
        )
        if not 1 <= len(rows) <= 8 or any(row["brand"] != brand for row in rows):
            return None
        ids = ", ".join(str(row["id"]) for row in rows)
        return Case(
            {"brand": brand, "stars": words},
            changed(
                state_of(
                    SITE,
                    f"SELECT count(*) FROM reviews WHERE id IN ({ids}) AND status = 'approved'",
                    [(len(rows),)],
                ),
                same(
                    world,
                    "SELECT status, rating, count(*) FROM reviews "
                    f"WHERE id NOT IN ({ids}) GROUP BY status, rating ORDER BY status, rating",
                ),
            ),
            {"filters": {"Product": brand, "Status": "pending", "Rating": choice}},
        )


class CorrectReview(Template):
    """A reviewer ticked the wrong number of stars."""

    number = 37
    sites = (SITE,)
    intent = (
        '{nickname} ticked the wrong rating in the pending review "{title}" of the product '
        '"{product}": it should be {stars}. Correct the rating and approve the review.'
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a pending review that its author wrote no twin of."""
        review = dice.pick(
            world.rows(
                SITE,
                "SELECT r.id, r.nickname, r.title, r.rating, p.name FROM reviews r "
                "JOIN products p ON p.id = r.product_id WHERE r.status = 'pending' ORDER BY r.id",
            )
        )
        twins = world.value(
            SITE,
            "SELECT count(*) FROM reviews r JOIN products p ON p.id = r.product_id "
            "WHERE instr(lower(p.name), lower(?)) > 0 AND instr(lower(r.nickname), lower(?)) > 0",
            review["name"],
            review["nickname"],
        )
        rating = dice.pick([stars for stars in range(1, 6) if stars != review["rating"]])
        if twins != 1:
            return None
        stars = "1 star" if rating == 1 else f"{rating} stars"
        return Case(
            {
                "nickname": review["nickname"],
                "title": review["title"],
                "product": review["name"],
                "stars": stars,
            },
            changed(
                state_of(
                    SITE,
                    f"SELECT rating, status, title FROM reviews WHERE id = {review['id']}",
                    [(rating, "approved", review["title"])],
                ),
                same(
                    world,
                    "SELECT status, count(*), sum(rating) FROM reviews "
                    f"WHERE id <> {review['id']} GROUP BY status ORDER BY status",
                ),
            ),
        )
