"""Tasks about milestones: planning one, and moving what is left of one."""

from __future__ import annotations

from agentgym_envs.webarena.sites.filters import day
from agentgym_envs.webarena.tasks.gitlab.steps import SITE
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import (
    DEVELOPING,
    REPORTING,
    draw_day,
    draw_project,
    one_more,
    quoted,
    same,
)
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS

_MILESTONES: tuple[str, ...] = WORDS["gitlab"]["milestones"]


class PlanMilestone(Template):
    """Create a milestone and put an issue into it."""

    number = 109
    sites = (SITE,)
    intent = (
        'Create the milestone "{title}" in {project}, from {start} to {end}, and put the open '
        'issue "{issue}" into it.'
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project, an issue, and when the milestone is."""
        project = draw_project(world, dice, REPORTING)
        issue = dice.pick(
            world.rows(
                SITE,
                "SELECT id, title FROM issues WHERE project_id = ? AND state = 'open' ORDER BY id",
                project["id"],
            )
        )
        title, first, last = dice.pick(_MILESTONES), draw_day(dice, days=60), draw_day(dice)
        if last <= first:
            return None
        return Case(
            values={
                "title": title,
                "project": project["name"],
                "start": day(first),
                "end": day(last),
                "issue": issue["title"],
            },
            evaluation=changed(
                state_of(
                    SITE,
                    "SELECT m.starts_on, m.due_on, m.state, i.id FROM milestones m "
                    "LEFT JOIN issues i ON i.milestone_id = m.id "
                    f"WHERE m.project_id = {project['id']} AND m.title = {quoted(title)}",
                    [[first, last, "open", issue["id"]]],
                ),
                one_more(world, "milestones"),
                same(
                    world,
                    f"SELECT count(*), total(milestone_id) FROM issues WHERE id <> {issue['id']}",
                ),
            ),
            notes={"first": first, "last": last},
        )


class PostponeMilestone(Template):
    """Give all open issues of a milestone a new due date."""

    number = 123
    sites = (SITE,)
    intent = (
        'Set the due date of every open issue in the milestone "{milestone}" of {project} to {due}.'
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a milestone with two or three open issues, and closed ones beside."""
        project = draw_project(world, dice, DEVELOPING)
        rows = world.rows(
            SITE,
            "SELECT m.title, group_concat(i.id) AS ids FROM milestones m "
            "JOIN issues i ON i.milestone_id = m.id WHERE m.project_id = ? AND i.state = 'open' "
            "GROUP BY m.id HAVING count(*) BETWEEN 2 AND 3 AND sum(i.confidential) = 0 "
            "ORDER BY m.id",
            project["id"],
        )
        if not rows:
            return None
        milestone, due = dice.pick(rows), draw_day(dice)
        ids = milestone["ids"]
        return Case(
            values={
                "milestone": milestone["title"],
                "project": project["name"],
                "due": day(due),
            },
            evaluation=changed(
                state_of(SITE, f"SELECT DISTINCT due_on FROM issues WHERE id IN ({ids})", [[due]]),
                same(
                    world,
                    "SELECT count(*), count(due_on), total(julianday(due_on)) FROM issues "
                    f"WHERE id NOT IN ({ids})",
                ),
                same(world, f"SELECT id, state, milestone_id FROM issues WHERE id IN ({ids})"),
            ),
            notes={"due": due},
        )
