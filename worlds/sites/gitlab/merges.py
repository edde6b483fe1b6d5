"""The merge requests of a project: branches, their commits and changed files, reviews."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from worlds.dice import Dice
from worlds.sites.gitlab.discussions import body_of, subjects_of
from worlds.sites.gitlab.projects import LAST_DAY, Made
from worlds.sites.gitlab.repositories import BRANCH, sha_of
from worlds.sites.gitlab.words import (
    COMMIT_MESSAGES,
    MERGE_TITLES,
    PARTS,
    REVIEWS,
)
from worlds.sites.moments import timestamp, working_moment

_FIRST_BRANCH_COMMIT = 1000  # numbers of commits on branches, for their names


def make_merge_requests(connection: sqlite3.Connection, dice: Dice, project: Made) -> None:
    """Add the merge requests of a project. Only the open ones still have a branch."""
    number = dice.below(3) if project.is_fork else dice.between(2, 6)
    if project.is_agents:
        number = dice.between(7, 10)
    subjects = subjects_of(dice, MERGE_TITLES, project.kind, number)
    begin = max(project.started, LAST_DAY - timedelta(days=300))
    moments = sorted(working_moment(dice, begin, LAST_DAY) for _ in subjects)
    for iid, (subject, moment) in enumerate(zip(subjects, moments, strict=True), 1):
        _add_request(connection, dice, project, iid, subject, moment)


def _add_request(
    connection: sqlite3.Connection,
    dice: Dice,
    project: Made,
    iid: int,
    subject: tuple[str, str],
    moment: datetime,
) -> None:
    title, part = subject
    author = dice.early(project.team)
    state = dice.pick(("open", "open", "open", "merged", "merged", "closed"))
    others = [user for user in project.team if user != author]
    reviewer = dice.early(others) if dice.chance(0.8) else None
    branch = title.lower().replace(" ", "-")
    end = working_moment(dice, moment, LAST_DAY) if state != "open" else None
    added = connection.execute(
        "INSERT INTO merge_requests (project_id, iid, title, body, author_id, assignee_id, "
        "reviewer_id, source_branch, target_branch, state, created_at, finished_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (project.number, iid, title, body_of(dice, part), author,
         dice.pick((author, dice.early(project.team))) if dice.chance(0.7) else None, reviewer,
         branch, BRANCH, state, timestamp(moment), timestamp(end) if end else None),
    )  # fmt: skip
    request = added.lastrowid or 0
    _add_branch(connection, dice, project, request, branch, author, moment, state)
    approvers = dice.sample(others, dice.below(3))
    connection.executemany(
        "INSERT INTO approvals VALUES (?, ?)", [(request, user) for user in sorted(approvers)]
    )
    rows = []
    for _ in range(dice.below(4)):
        text = dice.pick(REVIEWS).format(part=dice.pick(PARTS[project.kind]))
        voice = author if not others or dice.chance(0.3) else dice.early(others)
        rows.append((request, voice, text, working_moment(dice, moment, end or LAST_DAY)))
    rows.sort(key=lambda row: row[3])
    connection.executemany(
        "INSERT INTO notes (merge_request_id, author_id, body, created_at) VALUES (?, ?, ?, ?)",
        [(*row[:3], timestamp(row[3])) for row in rows],
    )


def _add_branch(
    connection: sqlite3.Connection,
    dice: Dice,
    project: Made,
    request: int,
    branch: str,
    author: int,
    moment: datetime,
    state: str,
) -> None:
    if state == "closed":
        return
    if state == "open":
        connection.execute(
            "INSERT INTO branches (project_id, name, author_id, created_at) VALUES (?, ?, ?, ?)",
            (project.number, branch, author, timestamp(moment - timedelta(days=2))),
        )
    commit = 0
    for place in range(dice.between(1, 3)):
        text = dice.pick(COMMIT_MESSAGES).format(part=dice.pick(PARTS[project.kind]))
        added = connection.execute(
            "INSERT INTO commits (project_id, branch, sha, author_id, message, created_at, "
            "merge_request_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (project.number, branch if state == "open" else BRANCH,
             sha_of(project.number, _FIRST_BRANCH_COMMIT + request * 10 + place), author, text,
             timestamp(moment - timedelta(hours=20 - 6 * place)),
             request if state == "merged" else None),
        )  # fmt: skip
        commit = added.lastrowid or 0
    if state == "open":
        _change_a_file(connection, dice, project, branch, commit)


def _change_a_file(
    connection: sqlite3.Connection, dice: Dice, project: Made, branch: str, commit: int
) -> None:
    files = connection.execute(
        "SELECT path, content FROM files WHERE project_id = ? AND branch = ? "
        "AND path LIKE '%.md' ORDER BY path",
        (project.number, BRANCH),
    ).fetchall()
    path, content = dice.pick(files)
    line = f"Note: this changed with the {dice.pick(PARTS[project.kind])}.\n"
    connection.execute(
        "INSERT INTO files (project_id, branch, path, content, commit_id) VALUES (?, ?, ?, ?, ?)",
        (project.number, branch, path, content + "\n" + line, commit),
    )
