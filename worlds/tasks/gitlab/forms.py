"""Tasks that end on the form of an issue, or where there is no such issue."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import address_of, no_such, standing_out
from worlds.tasks.gitlab.steps import SITE, apply, items, open_part
from worlds.tasks.goals import impossible, shows
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.template import Case, Template, World

_MINE = (
    "SELECT p.*, {column} AS shown, c.id AS condition FROM projects p "
    "JOIN members v ON v.project_id = p.id AND v.user_id = 1 AND v.role <> 'Guest' "
    "JOIN {table} WHERE {amount} ORDER BY p.id, c.id"
)


_FITTING = "FROM issues i WHERE i.project_id = p.id AND i.state = 'open' AND {fits}"


_SOME = f"(SELECT count(*) > 1 AND NOT sum(i.confidential) {_FITTING})"


_NONE = f"NOT EXISTS (SELECT 1 {_FITTING})"


_LABELS = "EXISTS (SELECT 1 FROM issue_labels x WHERE x.issue_id = i.id AND x.label_id = c.id)"


_CONDITIONS = {
    "Label": ('have the label "{}"', "labels c ON c.project_id = p.id", "c.name", _LABELS),
    "Assignee": (
        "are assigned to {}",
        "members m ON m.project_id = p.id JOIN users c ON c.id = m.user_id AND c.id <> 1",
        "c.name",
        "i.assignee_id = c.id",
    ),
    "Milestone": (
        'are in the milestone "{}"',
        "milestones c ON c.project_id = p.id",
        "c.title",
        "i.milestone_id = c.id",
    ),
}
"""By the filter's label: the goal's words, and SQL for the choices, their names and matches."""


def _condition(
    world: World, dice: Dice, *, is_met: bool
) -> tuple[sqlite3.Row, str, list[sqlite3.Row]]:
    """Draw a condition in a project whose issues the agent edits, some or none of them fitting.

    Returns:
        The project with the condition's `shown` value, the filter's label, and what fits.
    """
    label = dice.pick(tuple(_CONDITIONS))
    _, table, column, fits = _CONDITIONS[label]
    amount = (_SOME if is_met else _NONE).format(fits=fits)
    row = dice.pick(world.rows(SITE, _MINE.format(column=column, table=table, amount=amount)))
    issues = world.rows(
        SITE,
        f"SELECT i.* FROM projects p JOIN {table} JOIN issues i ON i.project_id = p.id "
        f"AND i.state = 'open' WHERE p.id = ? AND c.id = ? AND {fits} ORDER BY i.id",
        row["id"],
        row["condition"],
    )
    return row, label, issues


def _values(project: sqlite3.Row, label: str, which: str) -> dict[str, str]:
    condition = _CONDITIONS[label][0].format(project["shown"])
    return {"project": project["name"], "condition": condition, "which": which}


EXTREMES = {
    "whose due date comes first": ("Due first", "due_on"),
    "that was opened first": ("Oldest", "created_at"),
    "that was opened last": ("Newest", "created_at DESC"),
}


def _list_fitting(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_part(screen, case.values["project"], "Issues")
    filters = {
        case.notes["label"]: case.notes["shown"],
        "Sort by": EXTREMES[case.values["which"]][0],
    }
    yield from apply(screen, filters, "Open ones are listed anyway; I apply the rest.")


class EditExtremeIssue(Template):
    """Open the form of the issue that stands out among those that fit a condition."""

    number = 125
    sites = (SITE,)
    intents = (
        "Of {project}'s open issues that {condition}, open for editing the one {which}.",
        "Find the one {which} among {project}'s open issues that {condition}, and open its edit "
        "form.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a condition that several open issues meet, one of which stands out."""
        project, label, issues = _condition(world, dice, is_met=True)
        which = dice.pick(tuple(EXTREMES))
        issue = standing_out(issues, EXTREMES[which][1])
        if issue is None:
            return None
        return Case(
            values=_values(project, label, which),
            goal=shows(f"{address_of(world, project)}/issues/{issue['iid']}/edit"),
            notes={"label": label, "shown": project["shown"]},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter and sort, and open the first one's form."""
        yield from _list_fitting(case, screen)
        first = first_of(items(screen, "Issues")).link
        yield screen.click_node(first, "Sorted like this, the first one is the one I want.")
        yield screen.click("link", "Edit issue", "This opens its form.")
        yield screen.stop("", "The form is open; nothing is to be changed.")


class EditMissingIssue(Template):
    """Open the form of an issue where no open one fits the condition."""

    number = 128
    sites = (SITE,)
    intents = EditExtremeIssue.intents
    split = "train"
    is_impossible = True

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a condition that no open issue meets."""
        project, label, _ = _condition(world, dice, is_met=False)
        home = address_of(world, project)
        values = _values(project, label, dice.pick(tuple(EXTREMES)))
        return Case(
            values=values,
            goal=impossible(
                ("issue",),
                *no_such("issue", values["condition"]),
                about=[project["name"]],
                pages=[f"{home}/{part}*" for part in ("issues", "milestones", "labels")],
            ),
            notes={"label": label, "shown": project["shown"]},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter, and find nothing."""
        yield from _list_fitting(case, screen)
        if items(screen, "Issues"):
            raise ElementNotFound("there is such an issue after all")
        yield screen.give_up(f"{case.values['project']} has no such issue that is open.")
