"""The projects with their members, stars, labels and milestones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agentgym_envs.sites.gitlab.licences import LICENCES
from agentgym_envs.sites.people import AGENT, Person
from worlds.dice import Dice
from worlds.sites.gitlab.projects_list import (
    FORKED,
    INTERNAL,
    JOINED,
    OWN,
    PRIVATE,
    PROJECTS,
)
from worlds.sites.gitlab.words import LABELS, MILESTONES
from worlds.sites.moments import timestamp, working_moment
from worlds.sites.setting import TOWNS

NUM_OWNERS = 34
LAST_DAY = datetime(2026, 3, 13, 18)


@dataclass
class Made:
    """A project while its content is made.

    Attributes:
        number: its id.
        kind: which words and files it has.
        owner: id of the owner.
        team: ids of those who work on it, the busiest first; the owner is one of them.
        outsiders: ids of users who only report issues.
        started: when it began.
        is_agents: whether the agent owns it or is a member.
    """

    number: int
    kind: str
    name: str
    slug: str
    description: str
    owner: int
    owner_person: Person
    licence: str | None
    started: datetime
    team: list[int]
    outsiders: list[int]
    is_agents: bool
    is_fork: bool
    label_ids: list[int] = field(default_factory=list)
    milestone_ids: list[int] = field(default_factory=list)


def slug_of(name: str) -> str:
    """Write a project's name as it stands in addresses."""
    return name.lower().replace(" ", "-")


def is_private(name: str) -> bool:
    """Return whether the project of this name is seen by its members only."""
    return name in PRIVATE or dict(OWN).get(name) == "private"


def make_projects(
    connection: sqlite3.Connection, dice: Dice, users: Sequence[Person], scale: int
) -> Iterator[Made]:
    """Add the projects, one after the other."""
    owners = dice.sample(range(2, len(users) + 1), NUM_OWNERS * scale)
    own = dict(OWN)
    made: dict[str, Made] = {}
    rows = [(*row, "") for row in PROJECTS]
    by_name = {row[1]: row for row in PROJECTS}
    rows += [(*by_name[name], town) for name, town in FORKED]
    rows += _further(dice, scale)
    for number, (kind, name, description, topics, town) in enumerate(rows, 1):
        origin = made.get(name)
        owner = 1 if name in own else dice.pick(owners)
        if town and origin is not None:
            others = [other for other in owners if other != origin.owner]
            owner, description = dice.pick(others), f"{description}; the edition of {town}"
            name = f"{name} {town}"
        project = _draw(dice, users, number, kind, name, description, owner, is_fork=bool(town))
        made[name] = project
        _insert(connection, dice, project, topics, own.get(name), origin if town else None)
        _add_members(connection, dice, project)
        _add_labels(connection, dice, project)
        _add_milestones(connection, dice, project)
        yield project
    _add_stars(connection, dice, list(made.values()), len(users))


def _further(dice: Dice, scale: int) -> list[tuple[str, str, str, str, str]]:
    """Return a larger world's additional projects: the listed ones in other towns."""
    hidden = {*dict(OWN), *PRIVATE, *INTERNAL}
    forked = set(FORKED)
    rows = [
        (kind, f"{name} {town}", f"{description}, in {town}", topics, "")
        for kind, name, description, topics in PROJECTS
        for town in TOWNS
        if name not in hidden and (name, town) not in forked
    ]
    return dice.sample(rows, (scale - 1) * (len(PROJECTS) + len(FORKED)))


def _draw(
    dice: Dice, users: Sequence[Person], number: int, kind: str, name: str, description: str,
    owner: int, *, is_fork: bool,
) -> Made:  # fmt: skip
    others = [other for other in range(2, len(users) + 1) if other != owner]
    drawn = dice.sample(others, 30)
    team = drawn[: dice.between(2, 3) if is_fork else dice.between(4, 9)]
    is_agents = owner == 1 or name in dict(JOINED)
    if is_agents:
        team.insert(dice.between(1, 3), 1)
    if owner not in team:
        team.insert(dice.below(3), owner)
    return Made(
        number=number,
        kind=kind,
        name=name,
        slug=slug_of(name),
        description=description,
        owner=owner,
        owner_person=AGENT if owner == 1 else users[owner - 1],
        licence=dice.pick(LICENCES) if dice.chance(0.75) else None,
        started=working_moment(dice, datetime(2022, 1, 10), datetime(2024, 6, 1))
        if not is_fork
        else working_moment(dice, datetime(2024, 8, 1), datetime(2025, 6, 1)),
        team=team,
        outsiders=drawn[12:],
        is_agents=is_agents,
        is_fork=is_fork,
    )


def _insert(
    connection: sqlite3.Connection,
    dice: Dice,
    project: Made,
    topics: str,
    visibility: str | None,
    origin: Made | None,
) -> None:
    if visibility is None:
        visibility = "private" if project.name in PRIVATE else "public"
        visibility = "internal" if project.name in INTERNAL else visibility
    connection.execute(
        "INSERT INTO projects (id, owner_id, slug, name, description, visibility, licence, topics, "
        "forked_from, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (project.number, project.owner, project.slug, project.name, project.description,
         visibility, project.licence, topics, origin.number if origin else None,
         timestamp(project.started), timestamp(project.started)),
    )  # fmt: skip


def _add_members(connection: sqlite3.Connection, dice: Dice, project: Made) -> None:
    joined = dict(JOINED)
    people = list(project.team) + dice.sample(project.outsiders, dice.between(1, 4))
    rows = []
    for place, user in enumerate(dict.fromkeys(people)):
        if user == project.owner:
            role = "Owner"
        elif user == 1:
            role = joined[project.name]
        elif place >= len(project.team):
            role = dice.pick(("Guest", "Guest", "Reporter"))
        else:
            role = dice.pick(("Reporter", "Developer", "Developer", "Developer", "Maintainer"))
        until = LAST_DAY + timedelta(days=dice.between(20, 500))
        expires = timestamp(until)[:10] if role != "Owner" and dice.chance(0.15) else None
        since = project.started + timedelta(days=dice.between(0, 200), minutes=dice.below(600))
        since = project.started if role == "Owner" else since
        rows.append((project.number, user, role, None if user == 1 else expires, timestamp(since)))
    connection.executemany("INSERT INTO members VALUES (?, ?, ?, ?, ?)", rows)


def _add_labels(connection: sqlite3.Connection, dice: Dice, project: Made) -> None:
    chosen = [*LABELS[:2], *dice.sample(LABELS[2:], dice.between(4, 6))]
    for name, colour in chosen:
        added = connection.execute(
            "INSERT INTO labels (project_id, name, colour) VALUES (?, ?, ?)",
            (project.number, name, colour),
        )
        project.label_ids.append(added.lastrowid or 0)


def _add_milestones(connection: sqlite3.Connection, dice: Dice, project: Made) -> None:
    start = LAST_DAY - timedelta(days=dice.between(200, 330))
    for title in dice.sample(MILESTONES, dice.between(2, 4)):
        end = start + timedelta(days=dice.between(40, 120))
        added = connection.execute(
            "INSERT INTO milestones (project_id, title, description, starts_on, due_on, state) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (project.number, title, f"What has to be done for: {title.lower()}.",
             timestamp(start)[:10], timestamp(end)[:10],
             "closed" if end < LAST_DAY - timedelta(days=60) else "open"),
        )  # fmt: skip
        project.milestone_ids.append(added.lastrowid or 0)
        start = end + timedelta(days=dice.between(1, 20))


def _add_stars(
    connection: sqlite3.Connection, dice: Dice, projects: list[Made], num_users: int
) -> None:
    rows = []
    for project in projects:
        popularity = dice.between(3, 20) if project.is_fork else dice.between(2, 12) ** 2
        fans = dice.sample(range(2, num_users + 1), popularity)
        if is_private(project.name):  # only its members see it
            fans = [user for user in project.team if user != 1 and dice.chance(0.5)]
        rows += [(user, project.number) for user in fans]
        if dice.chance(0.12) and not is_private(project.name) and project.owner != 1:
            rows.append((1, project.number))
    connection.executemany("INSERT INTO stars VALUES (?, ?)", rows)
    connection.execute(
        "UPDATE projects SET star_count = "
        "(SELECT count(*) FROM stars WHERE stars.project_id = projects.id)"
    )
