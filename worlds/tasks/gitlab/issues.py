"""Tasks about issues: opening, closing, assigning, planning."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import day
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import (
    REPORTING,
    address_of,
    draw_day,
    draw_project,
    ids_in,
    members_of,
    parts_of,
    standing_out,
    strangers_of,
)
from worlds.tasks.gitlab.steps import SITE, apply, items, open_part, open_project
from worlds.tasks.goals import NONE, changes, impossible, row
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_NEW_TITLES: tuple[str, ...] = WORDS["gitlab"]["new_titles"]


_REMARKS: tuple[str, ...] = WORDS["gitlab"]["remarks"]


class CreateIssue(Template):
    """Open an issue with a label, an assignee and a due date."""

    number = 102
    sites = (SITE,)
    intents = (
        'Create issue "{title}" in {project}: label {label}, assignee {person}, due {due}.',
        'Open an issue "{title}" in {project} with the label {label}, assigned to {person} and '
        "due on {due}.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project and the new issue's fields."""
        project = draw_project(world, dice, REPORTING)
        sql = "SELECT id, name FROM labels WHERE project_id = ? ORDER BY id"
        label = dice.pick(world.rows(SITE, sql, project["id"]))
        person = dice.pick(members_of(world, project["id"]))
        title = dice.pick(_NEW_TITLES).format(part=dice.pick(parts_of(project["name"])))
        due = draw_day(dice)
        issue = {"project_id": project["id"], "title": title, "author_id": AGENT_ID}
        return Case(
            values={
                "title": title,
                "project": project["name"],
                "label": label["name"],
                "person": person["name"],
                "due": day(due),
            },
            goal=changes(
                row("issues", **issue, assignee_id=person["id"], due_on=due, state="open"),
                row("issue_labels", label_id=label["id"]),
                row("todos", user_id=person["id"], action="assigned"),
            ),
            notes={"due": due},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


class CloseLabelled(Template):
    """Close all open issues with a label."""

    number = 103
    sites = (SITE,)
    intents = (
        'Close all open "{label}" issues in {project}.',
        'Close every open issue in {project} that has the label "{label}".',
    )
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
        closed = [row("issues", id=number, state="closed") for number in ids_in(label)]
        return Case({"project": project["name"], "label": label["name"]}, changes(*closed))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def _first_due(world: World, project: int) -> sqlite3.Row | None:
    """Return the unassigned open issue that is due first, or None if two are."""
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
    """Assign the most urgent unassigned issue to somebody."""

    number = 104
    sites = (SITE,)
    intents = (
        "Assign {project}'s unassigned open issue that is due first to {person}.",
        "Of the open issues in {project} that nobody is assigned to, assign the one due first to "
        "{person}.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project in which one such issue is due first."""
        project = draw_project(world, dice, REPORTING)
        first = _first_due(world, project["id"])
        if first is None:
            return None
        person = dice.pick(members_of(world, project["id"]))
        goal = changes(
            row("issues", id=first["id"], assignee_id=person["id"]),
            row("todos", user_id=person["id"], action="assigned", issue_id=first["id"]),
        )
        return Case({"project": project["name"], "person": person["name"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter, sort by due date, and edit the first one."""
        yield from open_part(screen, case.values["project"], "Issues")
        yield from apply(screen, {"Assignee": "Nobody", "Sort by": "Due first"})
        first = first_of(items(screen, "Issues"))
        yield screen.click_node(first.link, "The first one of the list is due first.")
        yield screen.click("link", "Edit issue")
        yield screen.choose("Assignee", case.values["person"])
        yield screen.click("button", "Save changes")
        yield screen.stop()


class AssignStranger(Template):
    """Assign an issue to a person who is no member and cannot be invited."""

    number = 115
    sites = (SITE,)
    intents = AssignFirstDue.intents
    split = "train"
    is_impossible = True

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project where the agent may assign, but not invite."""
        project = draw_project(world, dice, ("Reporter", "Developer"))
        if _first_due(world, project["id"]) is None:
            return None
        person = dice.pick(strangers_of(world, project["id"]))
        home = address_of(world, project)
        goal = impossible(
            ("member", "assignee", "belong", "offered", "list"),
            NONE,
            (*person["name"].split(), *_SOMEBODY),
            about=(person["name"], project["name"]),
            pages=(f"{home}/members*", f"{home}/issues*"),
            also=["permission"],
        )
        return Case({"project": project["name"], "person": person["name"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for the person and for the form of an invitation among the members."""
        person = case.values["person"]
        yield from open_part(screen, case.values["project"], "Members")
        if screen.has("link", person) or screen.has("button", "Invite"):
            raise ElementNotFound("the person could be assigned after all")
        yield screen.give_up(f"{person} is no member of the project, and I may not invite anybody.")


_SOMEBODY = (
    *("she ", " he ", "they", "person", "user", "somebody", "someone", "assign", "is not", "isn't"),
    *("- not a", "no member", "no such", "offered"),
)
"""Words of reasons that the person is not the agent."""


_CLOSED = (
    "SELECT id, author_id, confidential, closed_at FROM issues "
    "WHERE project_id = ? AND state = 'closed' ORDER BY id"
)


def _open_last_closed(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_part(screen, case.values["project"], "Issues")
    yield from apply(screen, {"State": "Closed", "Sort by": "Recently closed"})
    first = first_of(items(screen, "Issues")).link
    yield screen.click_node(first, "The first one was closed last.")


class ReopenLast(Template):
    """Reopen the issue that was closed last, and comment why."""

    number = 119
    sites = (SITE,)
    intents = (
        'Reopen {project}\'s last closed issue and comment "{remark}"',
        'Reopen the most recently closed issue of {project} and comment "{remark}" on it.',
    )
    split = "validation"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project with one issue that was closed last."""
        project, remark = draw_project(world, dice, REPORTING), dice.pick(_REMARKS)
        issue = standing_out(world.rows(SITE, _CLOSED, project["id"]), "closed_at DESC")
        if issue is None:
            return None
        goal = changes(
            row("issues", id=issue["id"], state="open", closed_at=None),
            row("notes", issue_id=issue["id"], author_id=AGENT_ID, body=remark),
        )
        return Case({"project": project["name"], "remark": remark}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort the closed ones, reopen the first, comment."""
        yield from _open_last_closed(case, screen)
        yield screen.click("button", "Reopen issue")
        yield screen.fill("textbox", "Your comment", case.values["remark"])
        yield screen.click("button", "Comment")
        yield screen.stop()


class ReopenForeign(Template):
    """Reopen the last closed issue of a project in which the agent lacks the right."""

    number = 160
    sites = (SITE,)
    intents = ReopenLast.intents
    split = "validation"
    is_impossible = True

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project of others, and an issue that is not the agent's own."""
        project, remark = draw_project(world, dice), dice.pick(_REMARKS)
        issues = [
            each for each in world.rows(SITE, _CLOSED, project["id"]) if not each["confidential"]
        ]
        issue = standing_out(issues, "closed_at DESC")
        sql = "SELECT role FROM members WHERE project_id = ? AND user_id = ?"
        role = world.value(SITE, sql, project["id"], AGENT_ID)
        if role in REPORTING or issue is None or issue["author_id"] == AGENT_ID:
            return None
        home = address_of(world, project)
        pages = (f"{home}/issues/*", f"{home}/members*")
        goal = impossible(_NO_RIGHT, NONE, about=[project["name"]], pages=pages)
        return Case({"project": project["name"], "remark": remark}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the issue, and find no way to reopen it."""
        yield from _open_last_closed(case, screen)
        if screen.has("button", "Reopen issue"):
            raise ElementNotFound("it could be reopened after all")
        yield screen.give_up(f"I am not allowed to reopen issues of {case.values['project']}.")


_NO_RIGHT = (
    *("may not reopen", "allowed", "permi", "rights", "the right to", "role", "button"),
    *("guest", "reporter"),
    *("member", "access", "authoris", "authoriz", "privilege", "option to reopen", "its author"),
)
"""Words of reasons that somebody lacks the permission."""
