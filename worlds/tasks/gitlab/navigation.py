"""Tasks that are done on arriving at a list: filtered and sorted issues, or people."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence, Set
from itertools import combinations

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.gitlab.issues import PAGE_SIZE
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import address_of, draw_project, standing_out
from worlds.tasks.gitlab.steps import SITE, apply, items, open_part
from worlds.tasks.goals import shows
from worlds.tasks.screen import Screen, first_of
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


FILTER_ISSUES_ORDERS = {
    "the oldest at the top": ("oldest", "Oldest", "created_at"),
    "the one that is due first at the top": ("due", "Due first", "due_on"),
    "the most recently closed at the top": ("closed", "Recently closed", "closed_at DESC"),
}


FILTER_ISSUES_STATES = {"closed": "closed", "open and closed": "all"}


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Set the filters one after the other."""
        values = case.values
        yield from open_part(screen, values["project"], "Issues")
        filters = {
            "State": FILTER_ISSUES_STATES[values["state"]].capitalize(),
            **case.notes,
            "Sort by": FILTER_ISSUES_ORDERS[values["order"]][1],
        }
        yield from apply(screen, filters)
        yield screen.stop("", "The list shows what was asked for, in this order.")


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
    """Return whether one page lists all matching issues, and each filter is needed."""

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


def _person_after(screen: Screen, words: str) -> Node:
    nodes = list(screen.page.nodes)
    place = next((i for i, node in enumerate(nodes) if words in node.name), len(nodes))
    return first_of([node for node in nodes[place:] if node.role == "link"])


PEOPLE_AROUND_REQUEST_WHICH = {
    "was merged last": ("merged", "finished_at DESC", "Recently finished"),
    "was closed last without being merged": ("closed", "finished_at DESC", "Recently finished"),
    "was opened last of those that are still open": ("open", "created_at DESC", "Newest"),
    "was opened first of those that are still open": ("open", "created_at", "Oldest"),
}


PEOPLE_AROUND_REQUEST_PEOPLE = {"who follow": "followers", "who are followed by": "following"}


class PeopleAroundRequest(Template):
    """Show the followers or the followed of a merge request's author or reviewer."""

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go from the merge request to the person, and from there to the list."""
        values = case.values
        state, _, order = PEOPLE_AROUND_REQUEST_WHICH[values["which"]]
        yield from open_part(screen, values["project"], "Merge requests")
        yield from apply(screen, {"State": state.capitalize(), "Sort by": order})
        first = first_of(items(screen, "Merge requests")).link
        yield screen.click_node(first, "Sorted like this, the first one is the one I want.")
        person = _person_after(screen, ", opened " if values["role"] == "author" else "Reviewer:")
        yield screen.click_node(person, f"{person.name} is the {values['role']}.")
        word = PEOPLE_AROUND_REQUEST_PEOPLE[values["people"]].removesuffix("s")
        link = first_of(node for node in screen.all("link") if f" {word}" in node.name)
        yield screen.click_node(link, "The profile leads to the list.")
        yield screen.stop("", "These are the people.")
