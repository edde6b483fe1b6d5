"""Tasks about projects: new ones, forks, settings, stars, milestones, files, merge requests."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.gitlab.making.projects_list import TOPICS
from agentgym_envs.webarena.sites.gitlab.making.words import LICENCES
from agentgym_envs.webarena.tasks.gitlab.template_helpers import (
    SITE,
    draw_group,
    draw_project,
    items,
    list_group,
    one_more,
    open_part,
    open_project,
    quoted,
    same,
)
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_NEW_NAMES = (
    "Rooftop Garden", "Quiet Hours", "Ticket Stub", "Harvest Plan", "Night Bus", "Stone Soup",
    "Second Draft", "Cloud Chamber", "Paper Lantern", "Tool Shed", "Market Day", "Long Table",
)  # fmt: skip


class ShowProject(Template):
    """Change who may see a project, and add a topic."""

    number = 107
    sites = (SITE,)
    intent = (
        'Change the visibility of {project} to {visibility} and add "{topic}" to its topics, '
        "keeping those it has."
    )
    split = "validation"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw one of the agent's projects, and what it is to be."""
        project = draw_project(world, rng, ("Owner",))
        visibility = rng.choice(("private", "internal", "public"))
        topic = rng.choice(TOPICS)
        topics = project["topics"].split(", ")
        if visibility == project["visibility"] or topic in topics:
            return None
        topics_after = ", ".join([*topics, topic])
        # In whatever order the topics are: each is there, and nothing else.
        each = " + ".join(
            f"(instr(', ' || topics || ', ', {quoted(f', {one}, ')}) > 0)"
            for one in [*topics, topic]
        )
        query = (
            f"SELECT visibility, {each}, length(topics), name, description FROM projects "
            f"WHERE id = {project['id']}"
        )
        expected = [
            visibility,
            len(topics) + 1,
            len(topics_after),
            project["name"],
            project["description"],
        ]
        return Case(
            values={"project": project["name"], "visibility": visibility, "topic": topic},
            evaluation=changed(
                state_of(SITE, query, [expected]),
                same(
                    world,
                    "SELECT visibility, count(*) FROM projects "
                    f"WHERE id <> {project['id']} GROUP BY 1",
                ),
            ),
            notes={"topics": topics_after},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Change the settings."""
        yield from open_part(screen, case.values["project"], "Settings")
        yield screen.choose("Visibility", case.values["visibility"].capitalize())
        thought = "The old topics have to stay, so I write all of them."
        yield screen.fill("textbox", "Topics", case.notes["topics"], thought)
        yield screen.click("button", "Save settings")
        yield screen.stop()


class StarOne(Template):
    """Star one of several projects."""

    number = 108
    sites = (SITE,)
    intent = "Among {group}, star the one that {what}."
    split = "train"

    _WHAT = {
        "has the most stars already": "Most stars",
        "was created first": "Oldest",
        "was created last": "Newest",
        "was updated last": "Last updated",
    }

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a group in which one project stands out that has no star of the agent's."""
        group = draw_group(world, rng)
        what = rng.choice(tuple(self._WHAT))
        if group is None:
            return None
        ranked = sorted(group.projects, key=lambda row: _rank(what, row))
        project = ranked[-1]
        is_tied = _rank(what, project) == _rank(what, ranked[-2])
        star = "SELECT count(*) FROM stars WHERE user_id = 1 AND project_id = "
        if is_tied or world.value(SITE, star + str(project["id"])):
            return None
        return Case(
            values={"group": group.text, "what": what},
            evaluation=changed(
                state_of(SITE, star + str(project["id"]), [[1]]), one_more(world, "stars")
            ),
            notes={"kind": group.kind, "name": group.name},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort the projects; the first one is it."""
        yield from list_group(screen, case.notes, self._WHAT[case.values["what"]])
        first = first_of(items(screen, "Projects"))
        yield screen.click_node(first.link, f"The first one {case.values['what']}.")
        yield screen.click("button", "Star")
        yield screen.stop()


def _rank(what: str, project: sqlite3.Row) -> tuple[int, str]:
    """Return what is greatest for the project that is meant; days count, not hours."""
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
    intent = (
        'Fork {project} into my own projects under the name "{name}", with the visibility '
        "{visibility}."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a public project and a name."""
        project, name = draw_project(world, rng), rng.choice(_NEW_NAMES)
        visibility = rng.choice(("private", "internal"))
        if project["visibility"] != "public":
            return None
        return Case(
            values={"project": project["name"], "name": name, "visibility": visibility},
            evaluation=changed(
                state_of(
                    SITE,
                    "SELECT forked_from, visibility FROM projects "
                    f"WHERE owner_id = 1 AND name = {quoted(name)}",
                    [[project["id"], visibility]],
                ),
                one_more(world, "projects"),
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
    intent = (
        'Create a new {visibility} project called "{name}" with a README and the licence '
        "{licence}. Then invite {first} as {first_role} and {second} as {second_role}."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw what the project is, and who comes in."""
        name, licence = rng.choice(_NEW_NAMES), rng.choice(LICENCES)
        visibility = rng.choice(("private", "internal", "public"))
        rows = world.rows(SITE, "SELECT id, email FROM users WHERE id <> 1 ORDER BY id")
        people = rng.sample(rows, 2)
        roles = [rng.choice(("Guest", "Reporter", "Developer", "Maintainer")) for _ in people]
        members = sorted(
            [[1, "Owner"], *([p["id"], r] for p, r in zip(people, roles, strict=True))]
        )
        project = f"p.owner_id = 1 AND p.name = {quoted(name)}"
        return Case(
            values={
                "visibility": visibility, "name": name, "licence": licence,
                "first": people[0]["email"], "first_role": roles[0],
                "second": people[1]["email"], "second_role": roles[1],
            },
            evaluation=changed(
                state_of(
                    SITE,
                    f"SELECT p.visibility, p.licence, f.path FROM projects p JOIN files f "
                    f"ON f.project_id = p.id WHERE {project} ORDER BY f.path",
                    [[visibility, licence, path] for path in ("LICENSE", "README.md")],
                ),
                state_of(
                    SITE,
                    "SELECT m.user_id, m.role FROM members m JOIN projects p "
                    f"ON p.id = m.project_id WHERE {project} ORDER BY m.user_id",
                    members,
                ),
                one_more(world, "projects"),
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
