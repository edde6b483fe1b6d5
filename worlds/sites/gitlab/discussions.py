"""The issues of a project: reports, labels, milestones, comments."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from worlds.dice import Dice
from worlds.sites.gitlab.projects import LAST_DAY, Made
from worlds.sites.gitlab.words import (
    BUG_TITLES,
    COMMENTS,
    FIRST_LINES,
    LAST_LINES,
    MIDDLE_LINES,
    PARTS,
    WISH_TITLES,
)
from worlds.sites.moments import timestamp, working_moment


def subjects_of(
    dice: Dice, patterns: tuple[str, ...], kind: str, number: int
) -> list[tuple[str, str]]:
    """Draw different titles for a project of a kind, each with the part that it is about."""
    parts = PARTS[kind]
    drawn = dice.sample(range(len(patterns) * len(parts)), number)
    subjects = []
    for place in drawn:
        part = parts[place % len(parts)]
        pattern = patterns[place // len(parts)]
        subjects.append((pattern.format(part=part, Part=part[0].upper() + part[1:]), part))
    return subjects


def body_of(dice: Dice, part: str) -> str:
    """Write two or three sentences about a part of a project."""
    lines = [dice.pick(FIRST_LINES), dice.pick(MIDDLE_LINES).format(part=part)]
    if dice.chance(0.6):
        lines.append(dice.pick(LAST_LINES))
    return " ".join(lines)


def make_issues(connection: sqlite3.Connection, dice: Dice, project: Made) -> None:
    """Add the issues of a project with their labels and comments."""
    if project.is_fork:
        number = dice.between(1, 4)
    else:
        number = dice.between(22, 34) if project.is_agents else dice.between(6, 14)
    subjects = subjects_of(dice, BUG_TITLES + WISH_TITLES, project.kind, number)
    begin = max(project.started, LAST_DAY - timedelta(days=430))
    moments = sorted(working_moment(dice, begin, LAST_DAY) for _ in subjects)
    for iid, (subject, moment) in enumerate(zip(subjects, moments, strict=True), 1):
        _add_issue(connection, dice, project, iid, subject, moment)


def _add_issue(
    connection: sqlite3.Connection,
    dice: Dice,
    project: Made,
    iid: int,
    subject: tuple[str, str],
    moment: datetime,
) -> None:
    title, part = subject
    inside = dice.chance(0.55)
    author = dice.early(project.team) if inside else dice.pick(project.outsiders)
    assignee = dice.early(project.team) if dice.chance(0.6) else None
    closed = dice.chance(0.4)
    end = working_moment(dice, moment, LAST_DAY) if closed else None
    due = moment + timedelta(days=dice.between(14, 260)) if dice.chance(0.45) else None
    added = connection.execute(
        "INSERT INTO issues (project_id, iid, title, body, author_id, assignee_id, state, "
        "milestone_id, due_on, confidential, created_at, closed_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (project.number, iid, title, body_of(dice, part), author, assignee,
         "closed" if closed else "open",
         dice.pick(project.milestone_ids) if dice.chance(0.4) else None,
         timestamp(due)[:10] if due else None, int(dice.chance(0.03)), timestamp(moment),
         timestamp(end) if end else None),
    )  # fmt: skip
    issue = added.lastrowid or 0
    kind_label = project.label_ids[0 if any(title.endswith(p[-12:]) for p in BUG_TITLES) else 1]
    labels = {kind_label} if dice.chance(0.7) else set()
    labels |= set(dice.sample(project.label_ids[2:], dice.below(3)))
    connection.executemany(
        "INSERT INTO issue_labels VALUES (?, ?)", [(issue, label) for label in sorted(labels)]
    )
    voices = [author, *([assignee] if assignee else []), *project.team]
    rows = []
    for _ in range(max(0, dice.between(-1, 4))):
        text = dice.pick(COMMENTS).format(part=dice.pick(PARTS[project.kind]))
        rows.append(
            (issue, dice.early(voices), text, working_moment(dice, moment, end or LAST_DAY))
        )
    rows.sort(key=lambda row: row[3])
    connection.executemany(
        "INSERT INTO notes (issue_id, author_id, body, created_at) VALUES (?, ?, ?, ?)",
        [(*row[:3], timestamp(row[3])) for row in rows],
    )
