"""Solves tasks that begin signed out, and are somebody else's to do."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import SITE, apply, items, open_part
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.solution import Case


def take_issue_as(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sign in, sort what nobody has, and take the first one."""
    values = case.values
    yield from enter(screen, SITE)
    if screen.has("link", "Sign in"):
        yield screen.click("link", "Sign in", "Nobody is signed in yet.")
        yield screen.fill("textbox", "User name or email", values["username"])
        yield screen.fill("textbox", "Password", values["password"])
        yield screen.click("button", "Sign in")
    yield from open_part(screen, values["project"], "Issues")
    yield from apply(screen, {"Assignee": "Nobody", "Sort by": values["age"].capitalize()})
    first = first_of(items(screen, "Issues"))
    yield screen.click_node(first.link, f"The first one is the {values['age']}.")
    yield screen.click("button", "Assign to me", "I am signed in as the one who shall have it.")
    yield screen.stop()
