"""Tasks that ask: counts, extremes and look-ups over several pages."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.gitlab.questions import (
    EXTREME_REQUEST_RELATIONS,
    MOST_UNASSIGNED_WHAT,
)
from agentgym_envs.webarena.tasks.gitlab.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import SEEN, draw_group, draw_project
from worlds.tasks.template import Case, Template, World, exact_answer


class ExtremeRequest(Template):
    """The oldest or newest merge request of somebody."""

    number = 111
    sites = (SITE,)
    intent = (
        "What is the title of the {age} {state} merge request in {project} that {person} "
        "{relation}? Answer with the title alone."
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


class MostUnassigned(Template):
    """Which of three projects has most open issues that nobody takes."""

    number = 117
    sites = (SITE,)
    intent = (
        "Which of the projects {first}, {second} and {third} has the most open issues {what}? "
        "Answer with the name of the project alone."
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
            evaluation=exact_answer(best["name"]),
        )


class StarsTogether(Template):
    """How many stars several projects have together."""

    number = 124
    sites = (SITE,)
    intent = (
        "Add up the stars of all {group}, as far as you can see them. Answer with the sum alone."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person or a topic with several projects."""
        group = draw_group(world, dice)
        if group is None:
            return None
        return Case(
            values={"group": group.text},
            evaluation=exact_answer(str(sum(row["star_count"] for row in group.projects))),
            notes={"kind": group.kind, "name": group.name},
        )
