"""Helps the code host's templates: what the agent may see, checks, and moves to a place."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.page import Node
from agentgym_envs.webarena.sites.gitlab.making.projects_list import FORKED, PROJECTS, TOPICS
from agentgym_envs.webarena.sites.gitlab.making.words import PARTS
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter
from agentgym_envs.webarena.tasks.template import World, state_of

SITE = "gitlab"
SEEN = (
    "(p.visibility <> 'private' OR EXISTS "
    "(SELECT 1 FROM members v WHERE v.project_id = p.id AND v.user_id = 1))"
)
"""Condition on projects `p`: the agent sees them."""

REPORTING = ("Reporter", "Developer", "Maintainer", "Owner")
DEVELOPING = REPORTING[1:]
MANAGING = REPORTING[2:]

_KINDS = {row[1]: row[0] for row in PROJECTS}
_KINDS |= {f"{name} {town}": _KINDS[name] for name, town in FORKED}


# Drawing --------------------------------------------------------------------------------------


def draw_project(world: World, rng: random.Random, roles: Sequence[str] = ()) -> sqlite3.Row:
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
    return rng.choice(rows)


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


def parts_of(project: str) -> tuple[str, ...]:
    """List what a project of this name is made of."""
    return PARTS[_KINDS[project]]


def draw_day(rng: random.Random, first: date = date(2026, 4, 1), days: int = 240) -> str:
    """Draw a day after the sites' present."""
    return (first + timedelta(days=rng.randrange(days))).isoformat()


def address_of(world: World, project: sqlite3.Row) -> str:
    """Return the beginning of the addresses of a project's pages."""
    owner = world.value(SITE, "SELECT username FROM users WHERE id = ?", project["owner_id"])
    return f"__GITLAB__/~{owner}/{project['slug']}"


def standing_out(rows: Sequence[sqlite3.Row], order: str) -> sqlite3.Row | None:
    """Return the first one of several rows; None where the day does not tell it from the next.

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


def draw_group(world: World, rng: random.Random) -> Group | None:
    """Draw a person's projects or a topic's, two to eight; None where there are not so many."""
    if rng.random() < 0.5:
        kind = "owner"
        where, value = "u.name = ?", str(world.value(SITE, _SOME_OWNER, rng.randrange(34)) or "")
        text = f"the projects that {value} owns"
    else:
        kind = "topic"
        value = rng.choice(TOPICS)
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


# Checks ---------------------------------------------------------------------------------------


def same(world: World, query: str) -> dict[str, Any]:
    """Expect a query to give at the end what it gives at the start."""
    return state_of(SITE, query, [tuple(row) for row in world.rows(SITE, query)])


def one_more(world: World, table: str) -> dict[str, Any]:
    """Expect a table to have one row more than at the start."""
    query = f"SELECT count(*) FROM {table}"
    return state_of(SITE, query, [[world.value(SITE, query) + 1]])


def quoted(text: str) -> str:
    """Write a text as it stands in SQL."""
    return "'" + text.replace("'", "''") + "'"


# Reading --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """An item of a list.

    Attributes:
        link: its first link.
        text: everything in it.
    """

    link: Node
    text: str


def text_of(node: Node) -> str:
    """Return the text of an element and all in it."""
    return " ".join(inner.name for inner, _ in node.walk() if inner.name)


def items(screen: Screen, name: str) -> list[Item]:
    """Read the list of this name; items without a link are left out."""
    result = []
    for node in screen.below(screen.find("list", name), "listitem"):
        links = screen.below(node, "link")
        if links:
            result.append(Item(links[0], text_of(node)))
    return result


def number_before(screen: Screen, noun: str) -> str:
    """Return the number in a text such as `12 commits`.

    Raises:
        ElementNotFound: no such text is on the page.
    """
    for node in screen.page.nodes:
        match = re.fullmatch(rf"([\d,]+) {noun}s?", node.name)
        if match:
            return match[1].replace(",", "")
    raise ElementNotFound(f"no number of {noun}s on {screen.url}")


def fact(screen: Screen, beginning: str) -> str:
    """Return what follows a beginning in some text of the page.

    Raises:
        ElementNotFound: no text begins so.
    """
    for node in screen.page.nodes:
        if node.name.startswith(beginning):
            return node.name.removeprefix(beginning)
    raise ElementNotFound(f"nothing begins with {beginning!r} on {screen.url}")


def cells(screen: Screen) -> list[list[str]]:
    """Read the rows of the page's tables, without the heading row."""
    rows = [[cell.strip() for cell in node.name.split("|")] for node in screen.all("row")]
    return rows[1:]


# Moves ----------------------------------------------------------------------------------------


def open_project(screen: Screen, name: str) -> Iterator[ExpertMove]:
    """Search for a project and open it."""
    yield from enter(screen, SITE)
    thought = f"I search for the project {name}."
    yield screen.fill("searchbox", "Search Forgeyard", name, thought, enter=True)
    yield screen.click("link", name, "There is the project.")


def open_part(screen: Screen, name: str, part: str, thought: str = "") -> Iterator[ExpertMove]:
    """Open a project, and a page of the bar at its side."""
    yield from open_project(screen, name)
    yield screen.click("link", part, thought or f"I need the project's page {part!r}.")


def find_person(screen: Screen, name: str) -> Iterator[ExpertMove]:
    """Search for a person; the result is then on the screen."""
    yield from enter(screen, SITE)
    thought = f"I have to find {name}."
    yield screen.fill("searchbox", "Search Forgeyard", name, thought, enter=True)
    yield screen.click("link", "People", "I look for a person, not for a project.")


def apply(screen: Screen, filters: Mapping[str, str], thought: str = "") -> Iterator[ExpertMove]:
    """Fill in the filters of a list and apply them."""
    for label, value in filters.items():
        if screen.has("combobox", label):
            yield screen.choose(label, value, f"I set {label!r} to {value!r}.")
        else:
            yield screen.fill("textbox", label, value, f"I filter {label!r} by {value!r}.")
    yield screen.click("button", "Apply", thought or "Now I apply the filters.")


def list_group(screen: Screen, group: Mapping[str, str], sort: str) -> Iterator[ExpertMove]:
    """List a person's projects or a topic's, sorted."""
    if group["kind"] == "owner":
        yield from find_person(screen, group["name"])
        yield screen.click("link", group["name"], "The profile lists the person's projects.")
        yield from apply(screen, {"Sort by": sort})
    else:
        yield from enter(screen, SITE)
        yield screen.click("link", "Explore", "Projects of a topic can be found among all.")
        yield from apply(screen, {"Topic": group["name"], "Sort by": sort})
