"""Solves tasks that are done on arriving at a list: filtered and sorted issues, or people."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import apply, items, open_part
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case

FILTER_ISSUES_STATES = {"closed": "closed", "open and closed": "all"}

FILTER_ISSUES_ORDERS = {
    "the oldest at the top": ("oldest", "Oldest", "created_at"),
    "the one that is due first at the top": ("due", "Due first", "due_on"),
    "the most recently closed at the top": ("closed", "Recently closed", "closed_at DESC"),
}


def filter_issues(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Set the filters one after the other."""
    values = case.values
    yield from open_part(screen, values["project"], "Issues")
    filters = {
        "State": FILTER_ISSUES_STATES[values["state"]].capitalize(),
        **case.notes,
        "Sort by": FILTER_ISSUES_ORDERS[values["order"]][1],
    }
    yield from apply(screen, filters)
    yield screen.stop("", "The list shows what was asked for, in this order.")


PEOPLE_AROUND_REQUEST_PEOPLE = {"who follow": "followers", "who are followed by": "following"}

PEOPLE_AROUND_REQUEST_WHICH = {
    "was merged last": ("merged", "finished_at DESC", "Recently finished"),
    "was closed last without being merged": ("closed", "finished_at DESC", "Recently finished"),
    "was opened last of those that are still open": ("open", "created_at DESC", "Newest"),
    "was opened first of those that are still open": ("open", "created_at", "Oldest"),
}


def people_around_request(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Go from the merge request to the person, and from there to the list."""
    values = case.values
    state, _, order = PEOPLE_AROUND_REQUEST_WHICH[values["which"]]
    yield from open_part(screen, values["project"], "Merge requests")
    yield from apply(screen, {"State": state.capitalize(), "Sort by": order})
    first = first_of(items(screen, "Merge requests")).link
    yield screen.click_node(first, "Sorted like this, the first one is the one I want.")
    person = _person_after(screen, ", opened " if values["role"] == "author" else "Reviewer:")
    yield screen.click_node(person, f"{person.name} is the {values['role']}.")
    word = PEOPLE_AROUND_REQUEST_PEOPLE[values["people"]].removesuffix("s")
    link = first_of(node for node in screen.all("link") if f" {word}" in node.name)
    yield screen.click_node(link, "The profile leads to the list.")
    yield screen.stop("", "These are the people.")


def _person_after(screen: Screen, words: str) -> Node:
    nodes = list(screen.page.nodes)
    place = next((i for i, node in enumerate(nodes) if words in node.name), len(nodes))
    return first_of([node for node in nodes[place:] if node.role == "link"])
