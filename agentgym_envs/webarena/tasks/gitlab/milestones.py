"""Solves tasks about milestones: planning one, and moving what is left of one."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import apply, items, open_part, open_project
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.solution import Case


def plan_milestone(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """First the milestone, then the issue."""
    values = case.values
    yield from open_part(screen, values["project"], "Milestones")
    yield screen.click("link", "New milestone")
    yield screen.fill("textbox", "Title", values["title"])
    yield screen.fill("textbox", "Start date", case.notes["first"])
    yield screen.fill("textbox", "Due date", case.notes["last"])
    yield screen.click("button", "Create milestone")
    yield screen.click("link", "Issues", "The milestone is there; now the issue.", nth=0)
    yield from apply(screen, {"Text": values["issue"]})
    yield screen.click("link", values["issue"], "There is the issue.")
    yield screen.click("link", "Edit issue")
    yield screen.choose("Milestone", values["title"])
    yield screen.click("button", "Save changes")
    yield screen.stop()


def postpone_milestone(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Edit one open issue after the other."""
    yield from open_project(screen, case.values["project"])
    titles: list[str] | None = None
    while titles is None or titles:
        yield screen.click("link", "Milestones", "The milestones list their issues.")
        yield screen.click("link", case.values["milestone"], "This is the milestone.")
        if titles is None:
            issues = items(screen, "Issues")
            titles = [item.link.name for item in issues if "· open" in item.text]
        yield screen.click("link", titles.pop(0), f"Then {len(titles)} more are to be done.")
        yield screen.click("link", "Edit issue")
        yield screen.fill("textbox", "Due date", case.notes["due"])
        yield screen.click("button", "Save changes")
    yield screen.stop("", "All open issues of the milestone have the new date.")


def postpone_missing(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look at the milestones, and find none of this name."""
    title, project = case.values["milestone"], case.values["project"]
    yield from open_part(screen, project, "Milestones")
    if screen.has("link", title):
        raise ElementNotFound("there is such a milestone after all")
    yield screen.give_up(f'{project} has no milestone "{title}".')
