"""Tasks that are done on arriving at a list: filtered and sorted issues, or people."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence, Set
from itertools import combinations

from agentgym_envs.sites.gitlab.issues import PAGE_SIZE
from agentgym_envs.webarena.tasks.gitlab.navigation import (
    FILTER_ISSUES_ORDERS,
    FILTER_ISSUES_STATES,
    PEOPLE_AROUND_REQUEST_PEOPLE,
    PEOPLE_AROUND_REQUEST_WHICH,
)
from agentgym_envs.webarena.tasks.gitlab.steps import SITE
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import address_of, draw_project, standing_out
from worlds.tasks.goals import shows
from worlds.tasks.template import Case, Template, World

_FILTERS = {
    "label": ("Label", 'have the label "{}"', ""),
    "assignee": ("Assignee", "are assigned to {}", "nobody is assigned to"),
    "milestone": ("Milestone", 'are in the milestone "{}"', "have no milestone"),
}
"""By the query parameter: the filter's label, and how a goal says a value, and none."""

_PROJECTS = 40
_NONE = {"assignee": "Nobody", "milestone": "No milestone"}
_LABELLED = (
    "SELECT i.*, l.id AS label_id, l.name AS label, u.name AS assignee, m.title AS milestone "
    "FROM issues i LEFT JOIN issue_labels x ON x.issue_id = i.id "
    "LEFT JOIN labels l ON l.id = x.label_id LEFT JOIN users u ON u.id = i.assignee_id "
    "LEFT JOIN milestones m ON m.id = i.milestone_id "
    "WHERE i.project_id = ? AND ? IN (i.state, 'all') ORDER BY i.id, l.id"
)
"""The issues of a project, each as often as it has labels."""


class FilterIssues(Template):
    """List issues by state and two of label, assignee and milestone, sorted."""

    number = 126
    sites = (SITE,)
    intents = (
        "Show {project}'s {state} issues that {first} and {second}, {order}.",
        "Show me the {state} issues of {project} that {first} and that {second}, {order}.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw filters and an order, each of which makes a difference."""
        pair = dice.pick(tuple(combinations(_FILTERS, 2)))
        state, order = (
            dice.pick(tuple(FILTER_ISSUES_STATES)),
            dice.pick(tuple(FILTER_ISSUES_ORDERS)),
        )
        states = set(state.split(" and "))
        # Projects in which such a list tells are rare for some of these, so one is looked for.
        for _ in range(_PROJECTS):
            project = draw_project(world, dice)
            rows = world.rows(SITE, _LABELLED, project["id"], FILTER_ISSUES_STATES[state])
            row = _draw_row(dice, rows, pair)
            if row and _all_count(rows, row, pair, states, FILTER_ISSUES_ORDERS[order][2]):
                break
        else:
            return None
        texts = [_FILTERS[name][1 if row[name] else 2].format(row[name]) for name in pair]
        query = "".join(f"&{name}={row[f'{name}_id'] or 'none'}" for name in pair)
        return Case(
            values={
                "state": state,
                "project": project["name"],
                "first": texts[0],
                "second": texts[1],
                "order": order,
            },
            goal=shows(
                f"{address_of(world, project)}/issues?state={FILTER_ISSUES_STATES[state]}{query}"
                f"&sort={FILTER_ISSUES_ORDERS[order][0]}"
            ),
            notes={_FILTERS[name][0]: row[name] or _NONE[name] for name in pair},
        )


def _draw_row(dice: Dice, rows: Sequence[sqlite3.Row], pair: Sequence[str]) -> sqlite3.Row | None:
    """Draw an issue with a label, and as often with an assignee and a milestone as without."""
    for name in pair:
        is_given = name == "label" or dice.chance(0.5)
        rows = [row for row in rows if bool(row[name]) == is_given]
    if "assignee" in pair:
        rows = [row for row in rows if row["assignee_id"] != 1]
    return dice.pick(rows) if rows else None


def _all_count(
    rows: Sequence[sqlite3.Row],
    row: sqlite3.Row,
    pair: Sequence[str],
    states: Set[str],
    order: str,
) -> bool:
    """Return whether a page lists what agrees with a row, and differs without any filter."""

    def agreeing(*names: str) -> dict[int, sqlite3.Row]:
        return {r["id"]: r for r in rows if all(r[f"{n}_id"] == row[f"{n}_id"] for n in names)}

    fitting = agreeing(*pair)
    issues = list(fitting.values())
    first = standing_out(issues, order)
    return (
        first is not None
        and first["id"] != max(issues, key=lambda issue: issue["created_at"])["id"]
        and len(issues) <= PAGE_SIZE
        and not any(issue["confidential"] for issue in issues)
        and {issue["state"] for issue in issues} == states
        and all(
            any(number not in fitting and not issue["confidential"] for number, issue in more)
            for more in (agreeing(name).items() for name in pair)
        )
    )


class PeopleAroundRequest(Template):
    """Show who follows, or is followed by, somebody behind a merge request that stands out."""

    number = 127
    sites = (SITE,)
    intents = (
        "List those {people} the {role} of {project}'s merge request that {which}.",
        "Open the list of the people {people} the {role} of the merge request of {project} that "
        "{which}.",
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project, one of whose merge requests stands out."""
        project, role = draw_project(world, dice), dice.pick(("author", "reviewer"))
        which, people = (
            dice.pick(tuple(PEOPLE_AROUND_REQUEST_WHICH)),
            dice.pick(tuple(PEOPLE_AROUND_REQUEST_PEOPLE)),
        )
        state, order, _ = PEOPLE_AROUND_REQUEST_WHICH[which]
        request = standing_out(
            world.rows(
                SITE,
                "SELECT r.*, a.username AS author, w.username AS reviewer FROM merge_requests r "
                "JOIN users a ON a.id = r.author_id LEFT JOIN users w ON w.id = r.reviewer_id "
                "WHERE r.project_id = ? AND r.state = ? ORDER BY r.id",
                project["id"],
                state,
            ),
            order,
        )
        if request is None or request[f"{role}_id"] in (None, 1):
            return None
        mine, theirs = ("followed_id", "follower_id")[:: 1 if people == "who follow" else -1]
        if not world.value(
            SITE, f"SELECT count({theirs}) FROM follows WHERE {mine} = ?", request[f"{role}_id"]
        ):
            return None
        return Case(
            values={"people": people, "role": role, "project": project["name"], "which": which},
            goal=shows(f"__GITLAB__/~{request[role]}/{PEOPLE_AROUND_REQUEST_PEOPLE[people]}"),
        )
