"""Tasks about reviews: reading complaints, approving, correcting."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.goals import answers, changes, name, row, set_of
from worlds.tasks.screen import Screen
from worlds.tasks.shopping_admin.draws import BRANDS
from worlds.tasks.shopping_admin.steps import (
    SITE,
    apply_filters,
    change_ticked,
    lines,
    open_section,
)
from worlds.tasks.template import Case, Template, World


class Complaints(Template):
    """The reviewers who complain about something in the products of a brand."""

    number = 35
    sites = (SITE,)
    split = "test"
    intents = (
        'Who gave a {brand} product fewer than 3 stars, mentioning "{word}"?',
        'Which reviewers gave a {brand} product fewer than 3 stars and mention "{word}"?',
    )

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
        words = sorted({w for each in low for w in re.findall(r"\b[a-z]{5,}\b", each["text"])})
        if not words:
            return None
        word = dice.pick(words)
        matching = [each for each in low if word in each["text"].lower()]
        exact = [each for each in matching if re.search(rf"\b{word}\b", each["text"].lower())]
        names = [each["nickname"] for each in matching]
        is_clear = len(exact) == len(matching) and all(each["brand"] == brand for each in low)
        if not is_clear or not 1 <= len(names) <= 4 or len(set(names)) < len(names):
            return None
        return Case({"brand": brand, "word": word}, answers(set_of(*map(name, names))))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the reviews and list the nicknames."""
        yield from open_section(screen, "Reviews", "The grid of reviews can be searched.")
        yield from apply_filters(
            screen,
            {
                "Product": case.values["brand"],
                "Text": case.values["word"],
                "Rating": "Below 3 stars",
            },
        )
        names = [line.cells["Nickname"] for line in lines(screen, "Nickname")]
        yield screen.stop(", ".join(names), "These rows are all that match.")


class ApproveReviews(Template):
    """Pending reviews of a brand's products are approved, but only the good ones."""

    number = 36
    sites = (SITE,)
    split = "train"
    intents = (
        "Approve all pending {brand} reviews that give {stars}.",
        "Approve every pending review of {brand} products that gives {stars}.",
    )

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
        reviews = world.rows(
            SITE,
            f"SELECT r.id, p.brand {source} AND {condition} "
            "AND instr(lower(p.name), lower(?)) > 0 ORDER BY r.id",
            brand,
        )
        if not 1 <= len(reviews) <= 8 or any(each["brand"] != brand for each in reviews):
            return None
        return Case(
            {"brand": brand, "stars": words},
            changes(*(row("reviews", id=each["id"], status="approved") for each in reviews)),
            {"filters": {"Product": brand, "Status": "pending", "Rating": choice}},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter, tick all, approve."""
        yield from open_section(screen, "Reviews", "Reviews are approved in their grid.")
        yield from apply_filters(screen, case.notes["filters"])
        yield from change_ticked(screen, "reviews", "Approve")
        yield screen.stop("", "All of them are approved.")


class CorrectReview(Template):
    """A reviewer ticked the wrong number of stars."""

    number = 37
    sites = (SITE,)
    split = "train"
    intents = (
        'Change {nickname}\'s pending "{product}" review to {stars} and approve it.',
        'Correct {nickname}\'s pending review of the "{product}" to {stars} and approve it.',
    )

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
        values = {
            "nickname": review["nickname"],
            "product": review["name"],
            "stars": "1 star" if rating == 1 else f"{rating} stars",
        }
        goal = changes(row("reviews", id=review["id"], rating=rating, status="approved"))
        return Case(values, goal, {"title": review["title"]})

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the review and change two fields of its form."""
        yield from open_section(screen, "Reviews", "I look for the review.")
        yield from apply_filters(
            screen, {"Product": case.values["product"], "Nickname": case.values["nickname"]}
        )
        yield screen.click("link", case.notes["title"], "This is the review.")
        yield screen.choose("Rating", case.values["stars"], "I correct the rating.")
        yield screen.choose("Status", "approved", "I approve it as well.")
        yield screen.click("button", "Save review", "Both are set, so I save.")
        yield screen.stop("", "The review is corrected and approved.")
