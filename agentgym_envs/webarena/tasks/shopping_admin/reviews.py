"""Solves tasks about reviews: reading complaints, approving, correcting."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.shopping_admin.steps import (
    apply_filters,
    change_ticked,
    lines,
    open_section,
)
from agentgym_envs.webarena.tasks.solution import Case


def complaints(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def approve_reviews(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter, tick all, approve."""
    yield from open_section(screen, "Reviews", "Reviews are approved in their grid.")
    yield from apply_filters(screen, case.notes["filters"])
    yield from change_ticked(screen, "reviews", "Approve")
    yield screen.stop("", "All of them are approved.")


def correct_review(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
