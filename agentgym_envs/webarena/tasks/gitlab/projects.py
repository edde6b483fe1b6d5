"""Solves tasks about projects: new ones, forks, settings and stars."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import (
    SITE,
    items,
    list_group,
    open_part,
    open_project,
)
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.solution import Case


def show_project(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Change the settings."""
    yield from open_part(screen, case.values["project"], "Settings")
    yield screen.choose("Visibility", case.values["visibility"].capitalize())
    thought = "The old topics have to stay, so I write all of them."
    yield screen.fill("textbox", "Topics", case.notes["topics"], thought)
    yield screen.click("button", "Save settings")
    yield screen.stop()


STAR_ONE_WHAT = {
    "has the most stars already": "Most stars",
    "was created first": "Oldest",
    "was created last": "Newest",
    "was updated last": "Last updated",
}


def star_one(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort the projects; the first one is it."""
    yield from list_group(screen, case.notes, STAR_ONE_WHAT[case.values["what"]])
    first = first_of(items(screen, "Projects"))
    yield screen.click_node(first.link, f"The first one {case.values['what']}.")
    yield screen.click("button", "Star")
    yield screen.stop()


def fork_project(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Fork it from its own page."""
    yield from open_project(screen, case.values["project"])
    yield screen.click("link", "Fork")
    yield screen.fill("textbox", "Name of your fork", case.values["name"])
    yield screen.choose("Visibility", case.values["visibility"].capitalize())
    yield screen.click("button", "Fork project")
    yield screen.stop()


def start_project(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Fill in the form, then invite twice."""
    values = case.values
    yield from enter(screen, SITE)
    yield screen.click("link", "New project")
    yield screen.fill("textbox", "Project name", values["name"])
    yield screen.choose("Visibility", values["visibility"].capitalize())
    yield screen.choose("Licence", values["licence"])
    yield screen.click("checkbox", "Begin with a README", "A README is wanted.")
    yield screen.click("button", "Create project")
    yield screen.click("link", "Members", "The project is there; now the people.")
    for who in ("first", "second"):
        yield screen.fill("textbox", "User name or e-mail", values[who])
        yield screen.choose("Role", values[f"{who}_role"])
        yield screen.click("button", "Invite")
    yield screen.stop()
