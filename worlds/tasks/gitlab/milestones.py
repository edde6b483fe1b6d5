"""Tasks about milestones: planning one, and moving the open issues of one."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import day
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import (
    DEVELOPING,
    REPORTING,
    address_of,
    draw_day,
    draw_project,
    ids_in,
    no_such,
)
from worlds.tasks.gitlab.steps import SITE, apply, items, open_part, open_project
from worlds.tasks.goals import changes, impossible, row
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_MILESTONES: tuple[str, ...] = WORDS["gitlab"]["milestones"]


class PlanMilestone(Template):
    """Create a milestone and put an issue into it."""

    number = 109
    sites = (SITE,)
    intents = (
        'Create milestone "{title}" in {project}, {start} to {end}, with open issue "{issue}".',
        'Create the milestone "{title}" in {project}, {start} to {end}, and put the open issue '
        '"{issue}" into it.',
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project, an issue, and when the milestone is."""
        project = draw_project(world, dice, REPORTING)
        sql = "SELECT id, title FROM issues WHERE project_id = ? AND state = 'open' ORDER BY id"
        issue = dice.pick(world.rows(SITE, sql, project["id"]))
        title, first, last = dice.pick(_MILESTONES), draw_day(dice, days=60), draw_day(dice)
        if last <= first:
            return None
        milestone = {"project_id": project["id"], "title": title, "state": "open"}
        return Case(
            values={
                "title": title,
                "project": project["name"],
                "start": day(first),
                "end": day(last),
                "issue": issue["title"],
            },
            goal=changes(
                row("milestones", **milestone, starts_on=first, due_on=last),
                row("issues", id=issue["id"]),
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
    """Set a new due date for all open issues of a milestone."""

    number = 123
    sites = (SITE,)
    intents = (
        'Make all open issues in {project}\'s milestone "{milestone}" due {due}.',
        'Give every open issue in {project}\'s milestone "{milestone}" the due date {due}.',
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a milestone with two or three open issues, and closed ones beside."""
        project, due = draw_project(world, dice, DEVELOPING), draw_day(dice)
        rows = world.rows(
            SITE,
            "SELECT m.title, group_concat(i.id) AS ids FROM milestones m "
            "JOIN issues i ON i.milestone_id = m.id WHERE m.project_id = ? AND i.state = 'open' "
            "GROUP BY m.id HAVING count(*) BETWEEN 2 AND 3 AND sum(i.confidential) = 0 "
            "AND NOT total(i.due_on = ?) ORDER BY m.id",
            project["id"],
            due,
        )
        if not rows:
            return None
        milestone = dice.pick(rows)
        return Case(
            values={
                "milestone": milestone["title"],
                "project": project["name"],
                "due": day(due),
            },
            goal=changes(*(row("issues", id=number, due_on=due) for number in ids_in(milestone))),
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


class PostponeMissing(Template):
    """Set a new due date for the issues of a milestone that the project lacks."""

    number = 163
    sites = (SITE,)
    intents = PostponeMilestone.intents
    split = "test"
    is_impossible = True

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a milestone that several other projects have, with a few open issues."""
        project, due = draw_project(world, dice, DEVELOPING), draw_day(dice)
        titles = world.rows(
            SITE,
            f"SELECT title FROM ({_BEGUN}) WHERE title NOT IN "
            "(SELECT title FROM milestones WHERE project_id = ?) "
            "GROUP BY title HAVING count(*) > 2 ORDER BY title",
            project["id"],
        )
        values = {"milestone": dice.pick(titles)["title"], "project": project["name"]}
        home = address_of(world, project)
        goal = impossible(
            ("milestone",),
            *no_such("milestone", values["milestone"]),
            about=(values["milestone"], project["name"]),
            pages=(f"{home}/milestones*", f"{home}/issues*"),
        )
        return Case(values | {"due": day(due)}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look at the milestones, and find none of this name."""
        title, project = case.values["milestone"], case.values["project"]
        yield from open_part(screen, project, "Milestones")
        if screen.has("link", title):
            raise ElementNotFound("there is such a milestone after all")
        yield screen.give_up(f'{project} has no milestone "{title}".')


_BEGUN = (
    "SELECT m.title FROM milestones m JOIN issues i ON i.milestone_id = m.id "
    "JOIN members a ON a.project_id = m.project_id AND a.user_id = 1 "
    "AND a.role IN ('Developer', 'Maintainer', 'Owner') "
    "WHERE i.state = 'open' GROUP BY m.id HAVING count(*) BETWEEN 2 AND 3"
)
"""SQL: the title of each milestone of the agent's projects with two or three open issues."""
