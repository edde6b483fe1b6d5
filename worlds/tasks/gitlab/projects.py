"""Tasks about projects: new ones, forks, settings, stars, milestones, files, merge requests."""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import permutations

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.gitlab.licences import LICENCES
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.sites.gitlab.projects_list import TOPICS
from worlds.tasks.gitlab.draws import draw_group, draw_project
from worlds.tasks.gitlab.steps import (
    SITE,
    items,
    list_group,
    open_part,
    open_project,
)
from worlds.tasks.goals import Way, changes, row
from worlds.tasks.screen import Screen, enter, first_of
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_NEW_NAMES: tuple[str, ...] = WORDS["gitlab"]["new_names"]


class ShowProject(Template):
    """Change who may see a project, and add a topic."""

    number = 107
    sites = (SITE,)
    intents = (
        'Make {project} {visibility} and add "{topic}" to its topics.',
        'Set the visibility of {project} to {visibility}, and add "{topic}" to its topics.',
    )
    split = "validation"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw one of the agent's projects, and its new visibility and topic."""
        project = draw_project(world, dice, ("Owner",))
        visibility, topic = dice.pick(("private", "internal", "public")), dice.pick(TOPICS)
        topics = project["topics"].split(", ")
        if visibility == project["visibility"] or topic in topics:
            return None
        after = ", ".join([*topics, topic])
        return Case(
            values={"project": project["name"], "visibility": visibility, "topic": topic},
            goal=changes(row("projects", id=project["id"], visibility=visibility, topics=after)),
            notes={"topics": after},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Change the settings."""
        yield from open_part(screen, case.values["project"], "Settings")
        yield screen.choose("Visibility", case.values["visibility"].capitalize())
        thought = "The old topics have to stay, so I write all of them."
        yield screen.fill("textbox", "Topics", case.notes["topics"], thought)
        yield screen.click("button", "Save settings")
        yield screen.stop()

    def other_ways(self, case: Case, way: Way) -> Sequence[Way]:
        """Take the topics in any order."""
        ways = []
        for topics in list(permutations(case.notes["topics"].split(", ")))[1:]:
            other = copy.deepcopy(way)
            other["gitlab"]["projects"]["changed"][0]["topics"] = ", ".join(topics)
            ways.append(other)
        return ways


STAR_ONE_WHAT = {
    "has the most stars already": "Most stars",
    "was created first": "Oldest",
    "was created last": "Newest",
    "was updated last": "Last updated",
}


class StarOne(Template):
    """Star one of several projects."""

    number = 108
    sites = (SITE,)
    intents = (
        "Among {group}, star the one that {what}.",
        "Among {group}, find the one that {what}, and star it.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a group in which one project stands out that has no star of the agent's."""
        group = draw_group(world, dice)
        what = dice.pick(tuple(STAR_ONE_WHAT))
        if group is None:
            return None
        ranked = sorted(group.projects, key=lambda row: _rank(what, row))
        project = ranked[-1]
        is_tied = _rank(what, project) == _rank(what, ranked[-2])
        star = "SELECT count(*) FROM stars WHERE user_id = ? AND project_id = ?"
        if is_tied or world.value(SITE, star, AGENT_ID, project["id"]):
            return None
        return Case(
            values={"group": group.text, "what": what},
            goal=changes(
                row("stars", user_id=AGENT_ID, project_id=project["id"]),
                row("projects", id=project["id"], star_count=project["star_count"] + 1),
            ),
            notes={"kind": group.kind, "name": group.name},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort the projects and star the first one."""
        yield from list_group(screen, case.notes, STAR_ONE_WHAT[case.values["what"]])
        first = first_of(items(screen, "Projects"))
        yield screen.click_node(first.link, f"The first one {case.values['what']}.")
        yield screen.click("button", "Star")
        yield screen.stop()


def _rank(what: str, project: sqlite3.Row) -> tuple[int, str]:
    """Return a key that is greatest for the right project. Days count, not hours."""
    if what == "has the most stars already":
        return project["star_count"], ""
    if what == "was updated last":
        return 0, project["updated_at"][:10]
    created = project["created_at"][:10]
    if what == "was created last":
        return 0, created
    return -int(created.replace("-", "")), ""


class ForkProject(Template):
    """Fork a project under another name."""

    number = 113
    sites = (SITE,)
    intents = (
        'Fork {project} as the {visibility} project "{name}".',
        'Make a fork of {project} named "{name}" with the visibility {visibility}.',
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a public project and a name."""
        project, name = draw_project(world, dice), dice.pick(_NEW_NAMES)
        visibility = dice.pick(("private", "internal"))
        if project["visibility"] != "public":
            return None
        fork = {"forked_from": project["id"], "owner_id": AGENT_ID}
        return Case(
            values={"project": project["name"], "name": name, "visibility": visibility},
            goal=changes(
                row("projects", **fork, name=name, visibility=visibility),
                # A fork that is renamed later keeps its address.
                loosely={"projects.slug": None},
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Fork it from its own page."""
        yield from open_project(screen, case.values["project"])
        yield screen.click("link", "Fork")
        yield screen.fill("textbox", "Name of your fork", case.values["name"])
        yield screen.choose("Visibility", case.values["visibility"].capitalize())
        yield screen.click("button", "Fork project")
        yield screen.stop()


class StartProject(Template):
    """Create a project and bring two people in."""

    number = 114
    sites = (SITE,)
    intents = (
        'Create the {visibility} project "{name}" with a README and {licence}; invite {first} as '
        "{first_role}, {second} as {second_role}.",
        'Create the {visibility} project "{name}" with a README and the licence {licence}, and '
        "invite {first} as {first_role} and {second} as {second_role}.",
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw the new project's fields and its members."""
        name, licence = dice.pick(_NEW_NAMES), dice.pick(LICENCES)
        visibility = dice.pick(("private", "internal", "public"))
        rows = world.rows(SITE, "SELECT id, email FROM users WHERE id <> ? ORDER BY id", AGENT_ID)
        people = dice.sample(rows, 2)
        roles = [dice.pick(("Guest", "Reporter", "Developer", "Maintainer")) for _ in people]
        members = [(person["id"], role) for person, role in zip(people, roles, strict=True)]
        return Case(
            values={
                "visibility": visibility, "name": name, "licence": licence,
                "first": people[0]["email"], "first_role": roles[0],
                "second": people[1]["email"], "second_role": roles[1],
            },
            goal=changes(
                row("projects", name=name, visibility=visibility, licence=licence),
                *(row("files", path=path) for path in ("README.md", "LICENSE")),
                *(row("members", user_id=u, role=r) for u, r in ((AGENT_ID, "Owner"), *members)),
            ),
        )  # fmt: skip

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
