"""Tasks about issues: opening, closing, assigning, planning."""

from __future__ import annotations

import sqlite3

from agentgym_envs.webarena.sites.filters import day
from agentgym_envs.webarena.tasks.gitlab.steps import SITE
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import (
    REPORTING,
    draw_day,
    draw_project,
    members_of,
    one_more,
    parts_of,
    quoted,
    same,
    strangers_of,
)
from worlds.tasks.template import Case, Template, World, changed, impossible, state_of
from worlds.tasks.words import WORDS

_NEW_TITLES: tuple[str, ...] = WORDS["gitlab"]["new_titles"]

_REMARKS: tuple[str, ...] = WORDS["gitlab"]["remarks"]


class CreateIssue(Template):
    """Open an issue with a label, an assignee and a due date."""

    number = 102
    sites = (SITE,)
    intent = (
        'Open an issue titled "{title}" in {project}, label it {label}, assign it to {person} and '
        "make it due on {due}."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project and what the issue holds."""
        project = draw_project(world, dice, REPORTING)
        label = dice.pick(
            world.rows(
                SITE, "SELECT name FROM labels WHERE project_id = ? ORDER BY id", project["id"]
            )
        )["name"]
        person = dice.pick(members_of(world, project["id"]))
        title = dice.pick(_NEW_TITLES).format(part=dice.pick(parts_of(project["name"])))
        due = draw_day(dice)
        return Case(
            values={
                "title": title,
                "project": project["name"],
                "label": label,
                "person": person["name"],
                "due": day(due),
            },
            evaluation=changed(
                state_of(
                    SITE,
                    "SELECT i.assignee_id, i.due_on, i.state, i.author_id, group_concat(l.name) "
                    "FROM issues i LEFT JOIN issue_labels x ON x.issue_id = i.id "
                    "LEFT JOIN labels l ON l.id = x.label_id "
                    f"WHERE i.project_id = {project['id']} AND i.title = {quoted(title)} "
                    "GROUP BY i.id",
                    [[person["id"], due, "open", 1, label]],
                ),
                one_more(world, "issues"),
                one_more(world, "issue_labels"),
            ),
            notes={"due": due},
        )


class CloseLabelled(Template):
    """Close all open issues with a label."""

    number = 103
    sites = (SITE,)
    intent = 'Close every open issue in {project} that has the label "{label}".'
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a label with two to four open issues."""
        project = draw_project(world, dice, REPORTING)
        rows = world.rows(
            SITE,
            "SELECT l.name, group_concat(i.id) AS ids FROM labels l "
            "JOIN issue_labels x ON x.label_id = l.id JOIN issues i ON i.id = x.issue_id "
            "WHERE l.project_id = ? AND i.state = 'open' GROUP BY l.id "
            "HAVING count(*) BETWEEN 2 AND 4 ORDER BY l.id",
            project["id"],
        )
        if not rows:
            return None
        label = dice.pick(rows)
        ids = label["ids"]
        return Case(
            values={"project": project["name"], "label": label["name"]},
            evaluation=changed(
                state_of(
                    SITE, f"SELECT DISTINCT state FROM issues WHERE id IN ({ids})", [["closed"]]
                ),
                same(
                    world, f"SELECT state, count(*) FROM issues WHERE id NOT IN ({ids}) GROUP BY 1"
                ),
                same(world, f"SELECT count(*) FROM issue_labels WHERE issue_id IN ({ids})"),
            ),
        )


def _first_due(world: World, project: int) -> sqlite3.Row | None:
    """Return the open issue of nobody's that is due first; None where it is not one alone."""
    rows = world.rows(
        SITE,
        "SELECT id, due_on FROM issues WHERE project_id = ? AND state = 'open' "
        "AND assignee_id IS NULL AND due_on IS NOT NULL ORDER BY due_on LIMIT 2",
        project,
    )
    if len(rows) < 2 or rows[0]["due_on"] == rows[1]["due_on"]:
        return None
    return rows[0]


class AssignFirstDue(Template):
    """Give the most urgent issue that nobody has to somebody."""

    number = 104
    sites = (SITE,)
    intent = (
        "In {project}, look at the open issues that nobody is assigned to, and assign the one "
        "whose due date comes first to {person}."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project in which one such issue is due first."""
        project = draw_project(world, dice, REPORTING)
        first = _first_due(world, project["id"])
        if first is None:
            return None
        person, issue = dice.pick(members_of(world, project["id"])), first["id"]
        return Case(
            values={"project": project["name"], "person": person["name"]},
            evaluation=changed(
                state_of(
                    SITE,
                    f"SELECT assignee_id, due_on, state FROM issues WHERE id = {issue}",
                    [[person["id"], first["due_on"], "open"]],
                ),
                same(
                    world,
                    "SELECT count(*), count(assignee_id), total(assignee_id) FROM issues "
                    f"WHERE id <> {issue}",
                ),
            ),
        )


class AssignStranger(Template):
    """Assign an issue to somebody who is no member and cannot be invited."""

    number = 115
    sites = (SITE,)
    intent = AssignFirstDue.intent
    split = "train"
    is_impossible = True

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project where the agent may assign, but not invite."""
        project = draw_project(world, dice, ("Reporter", "Developer"))
        if _first_due(world, project["id"]) is None:
            return None
        person = dice.pick(strangers_of(world, project["id"]))
        return Case({"project": project["name"], "person": person["name"]}, impossible())


class ReopenLast(Template):
    """Reopen what was closed last, and say why."""

    number = 119
    sites = (SITE,)
    intent = (
        "Reopen the issue of {project} that was closed most recently, and leave the comment "
        '"{remark}" on it.'
    )
    split = "validation"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project with one issue that was closed last."""
        project = draw_project(world, dice, REPORTING)
        rows = world.rows(
            SITE,
            "SELECT id, closed_at FROM issues WHERE project_id = ? AND state = 'closed' "
            "ORDER BY closed_at DESC LIMIT 2",
            project["id"],
        )
        if len(rows) < 2 or rows[0]["closed_at"][:10] == rows[1]["closed_at"][:10]:
            return None
        issue, remark = rows[0]["id"], dice.pick(_REMARKS)
        return Case(
            values={"project": project["name"], "remark": remark},
            evaluation=changed(
                state_of(SITE, f"SELECT state FROM issues WHERE id = {issue}", [["open"]]),
                same(world, f"SELECT state, count(*) FROM issues WHERE id <> {issue} GROUP BY 1"),
                state_of(
                    SITE,
                    f"SELECT count(*) FROM notes WHERE issue_id = {issue} AND author_id = 1 "
                    f"AND body = {quoted(remark)}",
                    [[1]],
                ),
                one_more(world, "notes"),
            ),
        )
