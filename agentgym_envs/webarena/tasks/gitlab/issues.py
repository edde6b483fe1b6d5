"""Solves tasks about issues: opening, closing, assigning, planning."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import apply, items, open_part, open_project
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case


def create_issue(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Fill in the form."""
    values = case.values
    yield from open_part(screen, values["project"], "Issues")
    yield screen.click("link", "New issue")
    yield screen.fill("textbox", "Title", values["title"])
    yield screen.choose("Assignee", values["person"])
    yield screen.fill("textbox", "Due date", case.notes["due"])
    yield screen.click("checkbox", values["label"], "This is the label that is wanted.")
    yield screen.click("button", "Create issue", "Everything is filled in.")
    yield screen.stop()


def close_labelled(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Follow the label as often as it has open issues."""
    yield from open_project(screen, case.values["project"])
    while True:
        yield screen.click("link", "Labels", "The labels lead to their open issues.")
        yield screen.click("link", case.values["label"], "This is the label.")
        issues = items(screen, "Issues")
        if not issues:
            break
        yield screen.click_node(issues[0].link, f"{len(issues)} to go; I take the first one.")
        yield screen.click("button", "Close issue", "It has to be closed.")
    yield screen.stop("", "No open issue has the label any more.")


def assign_first_due(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter, sort by due date, and edit the first one."""
    yield from open_part(screen, case.values["project"], "Issues")
    yield from apply(screen, {"Assignee": "Nobody", "Sort by": "Due first"})
    first = first_of(items(screen, "Issues"))
    yield screen.click_node(first.link, "The first one of the list is due first.")
    yield screen.click("link", "Edit issue")
    yield screen.choose("Assignee", case.values["person"])
    yield screen.click("button", "Save changes")
    yield screen.stop()


def assign_stranger(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look at the members and at what may be done with them."""
    person = case.values["person"]
    yield from open_part(screen, case.values["project"], "Members")
    if screen.has("link", person) or screen.has("button", "Invite"):
        raise ElementNotFound("the person could be assigned after all")
    yield screen.give_up(f"{person} is no member of the project, and I may not invite anybody.")


def _open_last_closed(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_part(screen, case.values["project"], "Issues")
    yield from apply(screen, {"State": "Closed", "Sort by": "Recently closed"})
    first = first_of(items(screen, "Issues")).link
    yield screen.click_node(first, "The first one was closed last.")


def reopen_last(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort the closed ones, reopen the first, comment."""
    yield from _open_last_closed(case, screen)
    yield screen.click("button", "Reopen issue")
    yield screen.fill("textbox", "Your comment", case.values["remark"])
    yield screen.click("button", "Comment")
    yield screen.stop()


def reopen_foreign(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open the issue, and find no way to reopen it."""
    yield from _open_last_closed(case, screen)
    if screen.has("button", "Reopen issue"):
        raise ElementNotFound("it could be reopened after all")
    yield screen.give_up(f"I am not allowed to reopen issues of {case.values['project']}.")
