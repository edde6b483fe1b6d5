"""Solves tasks that leave open what to look at, or begin deep inside the site."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import cells, open_part, open_project
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case

_WORDS = " looks after this project"


def whom_to_ask(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read what the README says."""
    yield from open_project(screen, case.values["project"])
    texts = [node.name for node in screen.page.nodes if _WORDS in node.name]
    person = first_of(texts).split(_WORDS)[0]
    yield screen.stop(person, "The README says who looks after the project.")


def who_has_role(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the table of members."""
    yield from open_part(screen, case.values["project"], "Members")
    names = [row[0] for row in cells(screen) if row[1] == case.values["role"]]
    yield screen.stop(", ".join(names), f"{len(names)} members have this role.")


def plan_this_issue(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Edit what is on the screen, or was when the task began."""
    if not screen.has("link", "Edit issue"):
        yield ExpertMove("tab_focus [0]", "The issue is in the first tab.")
    if not screen.has("link", "Edit issue"):
        yield ExpertMove("go_back", "The issue was open in this tab before.")
    yield screen.click("link", "Edit issue", "The issue is open already.")
    yield screen.fill("textbox", "Due date", case.notes["due"])
    yield screen.click("checkbox", case.values["label"], "The other labels stay ticked.")
    yield screen.click("button", "Save changes")
    yield screen.stop()
