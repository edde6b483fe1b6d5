"""The default branch of a project: its commits and its files."""

from __future__ import annotations

import hashlib
import sqlite3
from datetime import datetime, timedelta

from agentgym_envs.sites.gitlab.licences import LICENCE, fill_slots
from worlds.dice import Dice
from worlds.sites.gitlab.projects import LAST_DAY, Made
from worlds.sites.gitlab.words import COMMIT_MESSAGES, PARTS
from worlds.sites.moments import timestamp, working_moment
from worlds.words import read_words

BRANCH = "main"

_SOURCES = read_words("sites/gitlab/sources.toml")
COMMON: dict[str, str] = _SOURCES["common"]
START: dict[str, str] = _SOURCES["start"]
FILES: dict[str, dict[str, str]] = _SOURCES["files"]
"""Small, plausible files for a project of each kind.

Slots are written `<name>`, since code is full of braces.
"""


def sha_of(project: int, number: int) -> str:
    """Return the name of a project's nth commit."""
    return hashlib.sha1(f"forgeyard {project} {number}".encode()).hexdigest()


def make_repository(connection: sqlite3.Connection, dice: Dice, project: Made) -> None:
    """Add commits and files to the default branch."""
    connection.execute(
        "INSERT INTO branches (project_id, name, author_id, created_at) VALUES (?, ?, ?, ?)",
        (project.number, BRANCH, project.owner, timestamp(project.started)),
    )
    first = _add_commits(connection, dice, project)
    last = connection.execute("SELECT max(id) FROM commits").fetchone()[0]
    slots = _slots(dice, project)
    rows = []
    for path, text in _files(project).items():
        commit = first if dice.chance(0.3) else dice.between(first, last)
        path = fill_slots(path, slots)
        rows.append((project.number, BRANCH, path, fill_slots(text, slots), commit))
    connection.executemany(
        "INSERT INTO files (project_id, branch, path, content, commit_id) VALUES (?, ?, ?, ?, ?)",
        rows,
    )


def _add_commits(connection: sqlite3.Connection, dice: Dice, project: Made) -> int:
    parts = PARTS[project.kind]
    number = dice.between(8, 25) if project.is_fork else dice.between(25, 95)
    # Work comes in waves, so that months differ and the last year holds most of it.
    recent = max(project.started, datetime(2025, 2, 1))
    moments = sorted(
        working_moment(dice, recent if dice.chance(0.75) else project.started, LAST_DAY)
        for _ in range(number)
    )
    start = project.started + timedelta(minutes=3)
    rows = [(project.owner, "Start the project", start)]
    for moment in moments:
        message = dice.pick(COMMIT_MESSAGES).format(part=dice.pick(parts))
        rows.append((dice.early(project.team), message, max(moment, start)))
    last_id = connection.execute("SELECT coalesce(max(id), 0) FROM commits").fetchone()[0]
    connection.executemany(
        "INSERT INTO commits (project_id, branch, sha, author_id, message, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [
            (project.number, BRANCH, sha_of(project.number, place), author, text, timestamp(moment))
            for place, (author, text, moment) in enumerate(rows)
        ],
    )
    connection.execute(
        "UPDATE projects SET updated_at = ? WHERE id = ?", (timestamp(rows[-1][2]), project.number)
    )
    return int(last_id) + 1


def _files(project: Made) -> dict[str, str]:
    licence = {"LICENSE": LICENCE} if project.licence else {}
    return COMMON | licence | FILES[project.kind]


def _slots(dice: Dice, project: Made) -> dict[str, str]:
    part, other, third = dice.sample(PARTS[project.kind], 3)
    version = f"{dice.between(0, 3)}.{dice.between(0, 11)}.{dice.between(0, 9)}"
    return {
        "start": START[project.kind],
        "name": project.name,
        "slug": project.slug,
        "module": project.slug.replace("-", "_"),
        "description": project.description,
        "licence": project.licence or "",
        "owner": project.owner_person.name,
        "owner_username": project.owner_person.username,
        "year": str(project.started.year),
        "part": part,
        "other": other,
        "third": third,
        "version": version,
        "indent": dice.pick(("2", "4", "8")),
        "timeout": str(dice.between(2, 90)),
        "workers": str(dice.between(2, 12)),
        "days": str(dice.between(7, 400)),
        "port": str(dice.between(3000, 9000)),
    }
