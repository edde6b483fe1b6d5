"""Solves tasks about files and merge requests."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import (
    apply,
    items,
    open_part,
    open_project,
    text_of,
)
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case


def comment_on_request(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the one whose title speaks of it."""
    part = case.values["part"]
    yield from open_part(screen, case.values["project"], "Merge requests")
    item = first_of(i for i in items(screen, "Merge requests") if part in i.link.name)
    yield screen.click_node(item.link, f"This title speaks of the {part}.")
    yield screen.fill("textbox", "Your comment", case.values["remark"])
    yield screen.click("button", "Comment")
    yield screen.stop()


def comment_on_missing(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Search the open ones, and find none."""
    part = case.values["part"]
    yield from open_part(screen, case.values["project"], "Merge requests")
    yield from apply(screen, {"Text": part})
    if items(screen, "Merge requests"):
        raise ElementNotFound(f"there is one about the {part} after all")
    yield screen.give_up(f"No open merge request of {case.values['project']} is about the {part}.")


def raise_version(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the version, and edit the file."""
    yield from open_project(screen, case.values["project"])
    yield screen.click("link", "VERSION", "There is the file.")
    old = text_of(screen.below(screen.find("list", "Content"), "listitem")[0]).split()[-1]
    yield screen.click("link", "Edit", f"The version is {old} now.")
    new = raised(old, case.values["kind"])
    yield screen.fill("textbox", "Content", new, f"After {old} comes {new}.")
    yield screen.fill("textbox", "Commit message", case.values["message"])
    yield screen.click("button", "Commit changes", "The target branch is main already.")
    yield screen.stop()


def raised(version: str, kind: str) -> str:
    """Return the next version: a major, minor or patch release."""
    major, minor, patch = map(int, version.split("."))
    if kind == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if kind == "minor" else f"{major}.{minor}.{patch + 1}"


APPROVE_ALL_RELATIONS = {"opened": "author", "is the reviewer of": "reviewer"}


def approve_all(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """List them, and approve one after the other."""
    relation = APPROVE_ALL_RELATIONS[case.values["relation"]]
    filters = {relation.capitalize(): case.values["person"]}
    yield from open_part(screen, case.values["project"], "Merge requests")
    yield from apply(screen, filters)
    titles = [item.link.name for item in items(screen, "Merge requests")]
    for place, title in enumerate(titles):
        if place:
            yield screen.click("link", "Merge requests", "Back to the list.")
            yield from apply(screen, filters)
        yield screen.click("link", title, f"This is number {place + 1} of {len(titles)}.")
        yield screen.click("button", "Approve")
    yield screen.stop("", "All of them are approved.")
