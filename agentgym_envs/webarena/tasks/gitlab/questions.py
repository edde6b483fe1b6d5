"""Tasks that ask: counts, extremes and look-ups over several pages."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.template_helpers import (
    SEEN,
    SITE,
    apply,
    draw_group,
    draw_project,
    items,
    list_group,
    number_before,
    open_part,
)
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.template import Case, Template, World, exact_answer


class ExtremeRequest(Template):
    """The oldest or newest merge request of somebody."""

    number = 111
    sites = (SITE,)
    intent = (
        "What is the title of the {age} {state} merge request in {project} that {person} "
        "{relation}? Answer with the title alone."
    )
    split = "train"

    _RELATIONS = {"opened": "author", "is the reviewer of": "reviewer"}

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a person with several such merge requests."""
        project = draw_project(world, rng)
        state = rng.choice(("open", "open", "merged"))
        relation = rng.choice(tuple(self._RELATIONS))
        column = f"{self._RELATIONS[relation]}_id"
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
        person, age = rng.choice(people), rng.choice(("oldest", "newest"))
        titles = world.rows(
            SITE,
            "SELECT title, date(created_at) AS day FROM merge_requests "
            f"WHERE project_id = ? AND state = ? AND {column} = ? ORDER BY created_at, id",
            project["id"],
            state,
            person["id"],
        )
        if titles[0]["day"] == titles[1]["day"] or titles[-1]["day"] == titles[-2]["day"]:
            return None
        values = {"age": age, "state": state, "project": project["name"]}
        return Case(
            values=values | {"person": person["name"], "relation": relation},
            evaluation=exact_answer(titles[0 if age == "oldest" else -1]["title"]),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter and sort the merge requests; the first one is it."""
        values = case.values
        yield from open_part(screen, values["project"], "Merge requests")
        filters = {
            "State": values["state"].capitalize(),
            self._RELATIONS[values["relation"]].capitalize(): values["person"],
            "Sort by": values["age"].capitalize(),
        }
        yield from apply(screen, filters)
        first = first_of(items(screen, "Merge requests"))
        yield screen.stop(first.link.name, f"The first one is the {values['age']}.")


class MostUnassigned(Template):
    """Which of three projects has most open issues that nobody takes."""

    number = 117
    sites = (SITE,)
    intent = (
        "Which of the projects {first}, {second} and {third} has the most open issues {what}? "
        "Answer with the name of the project alone."
    )
    split = "test"

    _WHAT = {
        "that nobody is assigned to": ("Assignee", "Nobody", "assignee_id IS NULL"),
        "without a milestone": ("Milestone", "No milestone", "milestone_id IS NULL"),
    }

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw three projects without a tie at the top, and without confidential issues."""
        what = rng.choice(tuple(self._WHAT))
        rows = world.rows(
            SITE,
            f"SELECT p.id, p.name, sum({self._WHAT[what][2]}) AS number FROM projects p "
            f"JOIN issues i ON i.project_id = p.id AND i.state = 'open' WHERE {SEEN} "
            "GROUP BY p.id HAVING sum(i.confidential) = 0 ORDER BY p.id",
        )
        chosen = rng.sample(rows, 3)
        numbers = [row["number"] for row in chosen]
        if numbers.count(max(numbers)) > 1:
            return None
        names = [row["name"] for row in chosen]
        best = max(chosen, key=lambda row: row["number"])
        return Case(
            values=dict(zip(("first", "second", "third"), names, strict=True)) | {"what": what},
            evaluation=exact_answer(best["name"]),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Count in each project, and compare."""
        label, option, _ = self._WHAT[case.values["what"]]
        numbers: dict[str, int] = {}
        for place in ("first", "second", "third"):
            name = case.values[place]
            yield from open_part(screen, name, "Issues")
            yield from apply(screen, {label: option})
            numbers[name] = int(number_before(screen, "issue"))
        best = max(numbers, key=lambda name: numbers[name])
        yield screen.stop(best, f"{best} has the most, namely {numbers[best]}.")


class StarsTogether(Template):
    """How many stars several projects have together."""

    number = 124
    sites = (SITE,)
    intent = (
        "Add up the stars of all {group}, as far as you can see them. Answer with the sum alone."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a person or a topic with several projects."""
        group = draw_group(world, rng)
        if group is None:
            return None
        return Case(
            values={"group": group.text},
            evaluation=exact_answer(str(sum(row["star_count"] for row in group.projects))),
            notes={"kind": group.kind, "name": group.name},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """List the projects and add up."""
        yield from list_group(screen, case.notes, "Most stars")
        matches = [re.search(r"([\d,]+) stars?", item.text) for item in items(screen, "Projects")]
        stars = [int(match[1].replace(",", "")) for match in matches if match]
        sums = " + ".join(map(str, stars))
        yield screen.stop(str(sum(stars)), f"The stars are {sums}.")
