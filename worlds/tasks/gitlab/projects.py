"""Tasks about projects: new ones, forks, settings, stars, milestones, files, merge requests."""

from __future__ import annotations

import sqlite3

from agentgym_envs.webarena.sites.gitlab.licences import LICENCES
from agentgym_envs.webarena.tasks.gitlab.projects import STAR_ONE_WHAT
from agentgym_envs.webarena.tasks.gitlab.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.sites.gitlab.projects_list import TOPICS
from worlds.tasks.gitlab.draws import draw_group, draw_project, one_more, quoted, same
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS

_NEW_NAMES: tuple[str, ...] = WORDS["gitlab"]["new_names"]


class ShowProject(Template):
    """Change who may see a project, and add a topic."""

    number = 107
    sites = (SITE,)
    intent = (
        'Change the visibility of {project} to {visibility} and add "{topic}" to its topics, '
        "keeping those it has."
    )
    split = "validation"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw one of the agent's projects, and what it is to be."""
        project = draw_project(world, dice, ("Owner",))
        visibility = dice.pick(("private", "internal", "public"))
        topic = dice.pick(TOPICS)
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


class StarOne(Template):
    """Star one of several projects."""

    number = 108
    sites = (SITE,)
    intent = "Among {group}, star the one that {what}."
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

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a public project and a name."""
        project, name = draw_project(world, dice), dice.pick(_NEW_NAMES)
        visibility = dice.pick(("private", "internal"))
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


class StartProject(Template):
    """Create a project and bring two people in."""

    number = 114
    sites = (SITE,)
    intent = (
        'Create a new {visibility} project called "{name}" with a README and the licence '
        "{licence}. Then invite {first} as {first_role} and {second} as {second_role}."
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw what the project is, and who comes in."""
        name, licence = dice.pick(_NEW_NAMES), dice.pick(LICENCES)
        visibility = dice.pick(("private", "internal", "public"))
        rows = world.rows(SITE, "SELECT id, email FROM users WHERE id <> 1 ORDER BY id")
        people = dice.sample(rows, 2)
        roles = [dice.pick(("Guest", "Reporter", "Developer", "Maintainer")) for _ in people]
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
