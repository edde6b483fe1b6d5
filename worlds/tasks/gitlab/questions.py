"""Tasks that ask: counts, extremes and look-ups over several pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import SEEN, draw_group, draw_project, standing_out
from worlds.tasks.gitlab.steps import (
    SITE,
    apply,
    items,
    list_group,
    number_before,
    open_part,
)
from worlds.tasks.goals import answers, name, number
from worlds.tasks.screen import Screen, first_of
from worlds.tasks.template import Case, Template, World

EXTREME_REQUEST_RELATIONS = {"opened": "author", "is the reviewer of": "reviewer"}


class ExtremeRequest(Template):
    """The oldest or newest merge request of a person."""

    number = 111
    sites = (SITE,)
    intents = (
        "Give the title of {project}'s {age} {state} merge request that {person} {relation}.",
        "What is the title of {project}'s {age} {state} merge request that {person} {relation}?",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person with several such merge requests."""
        project = draw_project(world, dice)
        state = dice.pick(("open", "open", "merged"))
        relation = dice.pick(tuple(EXTREME_REQUEST_RELATIONS))
        column = f"{EXTREME_REQUEST_RELATIONS[relation]}_id"
        people = world.rows(
            SITE,
            f"SELECT u.id, u.name FROM merge_requests r JOIN users u ON u.id = r.{column} "
            "WHERE r.project_id = ? AND r.state = ? AND u.id IN "
            "(SELECT user_id FROM members WHERE project_id = r.project_id) AND u.id <> 1 "
            "GROUP BY u.id HAVING count(*) > 1 ORDER BY u.id",
            project["id"],
            state,
        )
        if not people:
            return None
        person, age = dice.pick(people), dice.pick(("oldest", "newest"))
        requests = world.rows(
            SITE,
            "SELECT title, created_at, finished_at FROM merge_requests "
            f"WHERE project_id = ? AND state = ? AND {column} = ? ORDER BY id",
            project["id"],
            state,
            person["id"],
        )
        last = " DESC" if age == "newest" else ""
        request = standing_out(requests, f"created_at{last}")
        # Of merged ones, the last to be opened is also the last to be merged: both are the newest.
        if request is None or (
            state == "merged" and standing_out(requests, f"finished_at{last}") != request
        ):
            return None
        values = {"age": age, "state": state, "project": project["name"]}
        return Case(
            values=values | {"person": person["name"], "relation": relation},
            goal=answers(name(request["title"])),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter and sort the merge requests, and answer with the first one."""
        values = case.values
        yield from open_part(screen, values["project"], "Merge requests")
        filters = {
            "State": values["state"].capitalize(),
            EXTREME_REQUEST_RELATIONS[values["relation"]].capitalize(): values["person"],
            "Sort by": values["age"].capitalize(),
        }
        yield from apply(screen, filters)
        first = first_of(items(screen, "Merge requests"))
        yield screen.stop(first.link.name, f"The first one is the {values['age']}.")


MOST_UNASSIGNED_WHAT = {
    "that nobody is assigned to": ("Assignee", "Nobody", "assignee_id IS NULL"),
    "without a milestone": ("Milestone", "No milestone", "milestone_id IS NULL"),
}


class MostUnassigned(Template):
    """The one of three projects with the most open issues without an assignee."""

    number = 117
    sites = (SITE,)
    intents = (
        "Which has the most open issues {what}: {first}, {second} or {third}?",
        "Which of these projects has the most open issues {what}: {first}, {second} or {third}?",
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw three projects without a tie at the top, and without confidential issues."""
        what = dice.pick(tuple(MOST_UNASSIGNED_WHAT))
        rows = world.rows(
            SITE,
            f"SELECT p.id, p.name, sum({MOST_UNASSIGNED_WHAT[what][2]}) AS number FROM projects p "
            f"JOIN issues i ON i.project_id = p.id AND i.state = 'open' WHERE {SEEN} "
            "GROUP BY p.id HAVING sum(i.confidential) = 0 ORDER BY p.id",
        )
        chosen = dice.sample(rows, 3)
        numbers = [row["number"] for row in chosen]
        if numbers.count(max(numbers)) > 1:
            return None
        names = [row["name"] for row in chosen]
        best = max(chosen, key=lambda row: row["number"])
        return Case(
            values=dict(zip(("first", "second", "third"), names, strict=True)) | {"what": what},
            goal=answers(name(best["name"])),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Count in each project, and compare."""
        label, option, _ = MOST_UNASSIGNED_WHAT[case.values["what"]]
        numbers: dict[str, int] = {}
        for place in ("first", "second", "third"):
            name = case.values[place]
            yield from open_part(screen, name, "Issues")
            yield from apply(screen, {label: option})
            numbers[name] = int(number_before(screen, "issue"))
        best = max(numbers, key=lambda name: numbers[name])
        yield screen.stop(best, f"{best} has the most, namely {numbers[best]}.")


class StarsTogether(Template):
    """The number of stars that several projects have together."""

    number = 124
    sites = (SITE,)
    intents = (
        "Add up the stars of {group}.",
        "How many stars do {group} have in total?",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person or a topic with several projects."""
        group = draw_group(world, dice)
        if group is None:
            return None
        return Case(
            values={"group": group.text},
            goal=answers(number(sum(row["star_count"] for row in group.projects), "star")),
            notes={"kind": group.kind, "name": group.name},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """List the projects and add up."""
        yield from list_group(screen, case.notes, "Most stars")
        matches = [re.search(r"([\d,]+) stars?", item.text) for item in items(screen, "Projects")]
        stars = [int(match[1].replace(",", "")) for match in matches if match]
        sums = " + ".join(map(str, stars))
        yield screen.stop(f"{sum(stars)} stars", f"The stars are {sums}.")
