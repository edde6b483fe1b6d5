"""Solves tasks that end on the form of an issue, or where there is no such issue."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import apply, items, open_part
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case

EXTREMES = {
    "whose due date comes first": ("Due first", "due_on"),
    "that was opened first": ("Oldest", "created_at"),
    "that was opened last": ("Newest", "created_at DESC"),
}


def _list_fitting(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_part(screen, case.values["project"], "Issues")
    filters = {
        case.notes["label"]: case.notes["shown"],
        "Sort by": EXTREMES[case.values["which"]][0],
    }
    yield from apply(screen, filters, "Open ones are listed anyway; I apply the rest.")


def edit_extreme_issue(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter and sort; the first one is it."""
    yield from _list_fitting(case, screen)
    first = first_of(items(screen, "Issues")).link
    yield screen.click_node(first, "Sorted like this, the first one is the one I want.")
    yield screen.click("link", "Edit issue", "This opens its form.")
    yield screen.stop("", "The form is open; nothing is to be changed.")


def edit_missing_issue(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter, and find nothing."""
    yield from _list_fitting(case, screen)
    if items(screen, "Issues"):
        raise ElementNotFound("there is such an issue after all")
    yield screen.give_up(f"{case.values['project']} has no such issue that is open.")
