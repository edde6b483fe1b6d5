"""Queries for drawing that the code host's templates share."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from worlds.dice import Dice
from worlds.sites.gitlab.projects_list import PROJECTS, TOPICS
from worlds.sites.gitlab.words import PARTS
from worlds.tasks.gitlab.steps import SITE
from worlds.tasks.template import World

SEEN = (
    "(p.visibility <> 'private' OR EXISTS "
    "(SELECT 1 FROM members v WHERE v.project_id = p.id AND v.user_id = 1))"
)
"""Condition on projects `p`: the agent sees them."""

REPORTING = ("Reporter", "Developer", "Maintainer", "Owner")
DEVELOPING = REPORTING[1:]
MANAGING = REPORTING[2:]


def draw_project(world: World, dice: Dice, roles: Sequence[str] = ()) -> sqlite3.Row:
    """Draw a project that the agent sees, or one in which they have one of these roles."""
    if not roles:
        rows = world.rows(SITE, f"SELECT p.* FROM projects p WHERE {SEEN} ORDER BY p.id")
    else:
        rows = world.rows(
            SITE,
            "SELECT p.* FROM projects p JOIN members m ON m.project_id = p.id AND m.user_id = 1 "
            f"WHERE m.role IN ({', '.join('?' * len(roles))}) ORDER BY p.id",
            *roles,
        )
    return dice.pick(rows)


def members_of(world: World, project: int) -> list[sqlite3.Row]:
    """List the members of a project without the agent."""
    return world.rows(
        SITE,
        "SELECT u.id, u.name, u.email, m.role, m.expires_on FROM members m "
        "JOIN users u ON u.id = m.user_id WHERE m.project_id = ? AND u.id <> 1 ORDER BY u.id",
        project,
    )


def strangers_of(world: World, project: int) -> list[sqlite3.Row]:
    """List the users who are no members of a project."""
    return world.rows(
        SITE,
        "SELECT id, name, username, email FROM users WHERE id NOT IN "
        "(SELECT user_id FROM members WHERE project_id = ?) ORDER BY id",
        project,
    )


def ids_in(row: sqlite3.Row) -> list[int]:
    """Read a row's column `ids`, made by `group_concat`."""
    return [int(number) for number in row["ids"].split(",")]


def parts_of(project: str) -> tuple[str, ...]:
    """List the parts of a project by its name, which may end with a town's."""
    kind = next(row[0] for row in PROJECTS if f"{project} ".startswith(f"{row[1]} "))
    return PARTS[kind]


def draw_day(dice: Dice, first: date = date(2026, 4, 1), days: int = 240) -> str:
    """Draw a day after the sites' present."""
    return (first + timedelta(days=dice.below(days))).isoformat()


def address_of(world: World, project: sqlite3.Row) -> str:
    """Return the beginning of the addresses of a project's pages."""
    owner = world.value(SITE, "SELECT username FROM users WHERE id = ?", project["owner_id"])
    return f"__GITLAB__/~{owner}/{project['slug']}"


def standing_out(rows: Sequence[sqlite3.Row], order: str) -> sqlite3.Row | None:
    """Return the first row in an order, or None if the second has the same day.

    Args:
        rows: issues or merge requests.
        order: a column of days or moments, with ` DESC` for the last first; rows without are out.
    """
    column, _, is_last = order.partition(" ")
    ranked = sorted(
        (row for row in rows if row[column]), key=lambda row: row[column], reverse=bool(is_last)
    )
    if len(ranked) < 2 or ranked[0][column][:10] == ranked[1][column][:10]:
        return None
    return ranked[0]


@dataclass(frozen=True)
class Group:
    """Some projects that can be listed together.

    Attributes:
        text: as an intent says it.
        kind: `"owner"` or `"topic"`.
        name: of the owner or topic.
        projects: those that the agent sees.
    """

    text: str
    kind: str
    name: str
    projects: tuple[sqlite3.Row, ...]


def draw_group(world: World, dice: Dice) -> Group | None:
    """Draw two to eight projects of a person or a topic, or None if there are none such."""
    if dice.chance(0.5):
        kind = "owner"
        where, value = "u.name = ?", str(world.value(SITE, _SOME_OWNER, dice.below(34)) or "")
        text = f"the projects that {value} owns"
    else:
        kind = "topic"
        value = dice.pick(TOPICS)
        where = "instr(', ' || p.topics || ', ', ', ' || ? || ', ')"
        text = f'the projects with the topic "{value}"'
    rows = world.rows(
        SITE,
        "SELECT p.*, u.name AS owner FROM projects p JOIN users u ON u.id = p.owner_id "
        f"WHERE {SEEN} AND {where} ORDER BY p.id",
        value,
    )
    return Group(text, kind, value, tuple(rows)) if 2 <= len(rows) <= 8 else None


_SOME_OWNER = (
    "SELECT u.name FROM users u WHERE u.id IN (SELECT owner_id FROM projects WHERE owner_id <> 1) "
    "ORDER BY u.id LIMIT 1 OFFSET ?"
)


def no_such(noun: str, *conditions: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return how the reason for giving up may say that there is no such thing.

    Args:
        noun: the thing; the project has some.
        conditions: by which the task tells the one that is not there.
    """
    nots = [f"{word} {rest}" for word in ("not", "n't") for rest in _NOT]
    named = {word for each in conditions for word in re.findall(r"[^\W\d_]{4,}", each)} - {"have"}
    kinds = (*_KINDS, *(f"{kind}{each} " for kind in ("", "open ") for each in conditions))
    absent = (*(f"no {kind}{noun}" for kind in kinds), *nots, *_NEITHER)
    return absent, (*conditions, *sorted(named), *_SUCH)


_KINDS = ("", "such ", "open ", "matching ", "fitting ")
_NOT = (
    *("any", "exist", "find", "found", "one of", "among", "listed", "appear", "there"),
    *("have a", "have one", "have the", "a single", "contain", "include", "assigned to any"),
    *("an open", "see any", "see an", "see a "),
)
_NEITHER = (
    *("none", "nothing", "without", " lack", "missing", "nonexistent", "zero", "0 ", "empty"),
    *("neither", "no result", "no match"),
)
_SUCH = (
    *("such", "match", "fit", "meet", "that", "this", "those", "find", "found", "exist", "result"),
    *("called", "named", "name", "condition", "criteri", "filter", "about", "subject", "search"),
    *("missing", "list"),
)
