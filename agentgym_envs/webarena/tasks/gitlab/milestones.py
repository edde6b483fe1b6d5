"""Tasks about milestones: planning one, and moving what is left of one."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import day
from agentgym_envs.webarena.tasks.gitlab.template_helpers import (
    DEVELOPING,
    REPORTING,
    SITE,
    apply,
    draw_day,
    draw_project,
    items,
    one_more,
    open_part,
    open_project,
    quoted,
    same,
)
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_MILESTONES = (
    "Field test", "Audit", "Translation round", "Second wind", "Polish", "Data freeze",
    "Volunteer weekend", "Hardware swap",
)  # fmt: skip


class PlanMilestone(Template):
    """Create a milestone and put an issue into it."""

    number = 109
    sites = (SITE,)
    intent = (
        'Create the milestone "{title}" in {project}, from {start} to {end}, and put the open '
        'issue "{issue}" into it.'
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a project, an issue, and when the milestone is."""
        project = draw_project(world, rng, REPORTING)
        issue = rng.choice(
            world.rows(
                SITE,
                "SELECT id, title FROM issues WHERE project_id = ? AND state = 'open' ORDER BY id",
                project["id"],
            )
        )
        title, first, last = rng.choice(_MILESTONES), draw_day(rng, days=60), draw_day(rng)
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """First the milestone, then the issue."""
        values = case.values
        yield from open_part(screen, values["project"], "Milestones")
        yield screen.click("link", "New milestone")
        yield screen.fill("textbox", "Title", values["title"])
        yield screen.fill("textbox", "Start date", case.notes["first"])
        yield screen.fill("textbox", "Due date", case.notes["last"])
        yield screen.click("button", "Create milestone")
        yield screen.click("link", "Issues", "The milestone is there; now the issue.", nth=0)
        yield from apply(screen, {"Text": values["issue"]})
        yield screen.click("link", values["issue"], "There is the issue.")
        yield screen.click("link", "Edit issue")
        yield screen.choose("Milestone", values["title"])
        yield screen.click("button", "Save changes")
        yield screen.stop()


class PostponeMilestone(Template):
    """Give all open issues of a milestone a new due date."""

    number = 123
    sites = (SITE,)
    intent = (
        'Set the due date of every open issue in the milestone "{milestone}" of {project} to {due}.'
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a milestone with two or three open issues, and closed ones beside."""
        project = draw_project(world, rng, DEVELOPING)
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
        milestone, due = rng.choice(rows), draw_day(rng)
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Edit one open issue after the other."""
        yield from open_project(screen, case.values["project"])
        titles: list[str] | None = None
        while titles is None or titles:
            yield screen.click("link", "Milestones", "The milestones list their issues.")
            yield screen.click("link", case.values["milestone"], "This is the milestone.")
            if titles is None:
                issues = items(screen, "Issues")
                titles = [item.link.name for item in issues if "· open" in item.text]
            yield screen.click("link", titles.pop(0), f"Then {len(titles)} more are to be done.")
            yield screen.click("link", "Edit issue")
            yield screen.fill("textbox", "Due date", case.notes["due"])
            yield screen.click("button", "Save changes")
        yield screen.stop("", "All open issues of the milestone have the new date.")
