"""Tasks that leave the place to look open, or begin deep inside the site."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import day
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import REPORTING, SEEN, address_of, draw_day, draw_project
from worlds.tasks.gitlab.steps import SITE, cells, open_part, open_project
from worlds.tasks.goals import answers, changes, name, row, set_of
from worlds.tasks.screen import Screen, first_of
from worlds.tasks.template import Case, Template, World

_ROLES = ("Guest", "Reporter", "Developer", "Maintainer")


_WORDS = " looks after this project"


class WhomToAsk(Template):
    """A project's maintainer. Its README, its code owners and its owner agree."""

    number = 185
    sites = (SITE,)
    intents = (
        "Who is the right person to ask about {project}?",
        "I have a question about {project}. Who is the right person to ask?",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw another user's project whose files name its owner."""
        rows = world.rows(
            SITE,
            "SELECT p.name, u.name AS owner FROM projects p JOIN users u ON u.id = p.owner_id "
            "JOIN files r ON r.project_id = p.id AND r.branch = 'main' AND r.path = 'README.md' "
            "JOIN files c ON c.project_id = p.id AND c.branch = 'main' AND c.path = 'CODEOWNERS' "
            f"WHERE {SEEN} AND u.id <> 1 AND instr(r.content, u.name || ' looks after') "
            "AND trim(c.content, ' ' || char(10)) = '* @' || u.username ORDER BY p.id",
        )
        project = dice.pick(rows)
        return Case({"project": project["name"]}, answers(name(project["owner"])))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the README."""
        yield from open_project(screen, case.values["project"])
        texts = [node.name for node in screen.page.nodes if _WORDS in node.name]
        person = first_of(texts).split(_WORDS)[0]
        yield screen.stop(person, "The README says who looks after the project.")


class WhoHasRole(Template):
    """The members of one role, three to six of them."""

    number = 186
    sites = (SITE,)
    intents = (
        "Which members of {project} have the role {role}?",
        "List the names of all members of {project} whose role there is {role}.",
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a role that some people have and the agent has not."""
        project, role = draw_project(world, dice), dice.pick(_ROLES)
        members = world.rows(
            SITE,
            "SELECT u.id, u.name FROM members m JOIN users u ON u.id = m.user_id "
            "WHERE m.project_id = ? AND m.role = ? ORDER BY u.name",
            project["id"],
            role,
        )
        if not 3 <= len(members) <= 6 or any(each["id"] == 1 for each in members):
            return None
        goal = answers(set_of(*(name(each["name"]) for each in members)))
        return Case({"project": project["name"], "role": role}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the table of members."""
        yield from open_part(screen, case.values["project"], "Members")
        names = [row[0] for row in cells(screen) if row[1] == case.values["role"]]
        yield screen.stop(", ".join(names), f"{len(names)} members have this role.")


class PlanThisIssue(Template):
    """Give the issue that is on the screen a due date and a label."""

    number = 187
    sites = (SITE,)
    intents = (
        'Make this issue due {due} and label it "{label}".',
        'Set the due date of the issue on my screen to {due}, and add the label "{label}".',
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an open issue, and a label that it lacks."""
        project, due = draw_project(world, dice, REPORTING), draw_day(dice)
        sql = "SELECT * FROM issues WHERE project_id = ? AND state = 'open' ORDER BY id"
        issue = dice.pick(world.rows(SITE, sql, project["id"]))
        label = dice.pick(world.rows(SITE, _LACKING, project["id"], issue["id"]))
        if issue["due_on"] == due:
            return None
        return Case(
            values={"due": day(due), "label": label["name"]},
            goal=changes(
                row("issues", id=issue["id"], due_on=due),
                row("issue_labels", issue_id=issue["id"], label_id=label["id"]),
            ),
            notes={"due": due},
            start=f"{address_of(world, project)}/issues/{issue['iid']}",
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Edit the issue on the screen, or the one that was there when the task began."""
        if not screen.has("link", "Edit issue"):
            yield ExpertMove("tab_focus [0]", "The issue is in the first tab.")
        if not screen.has("link", "Edit issue"):
            yield ExpertMove("go_back", "The issue was open in this tab before.")
        yield screen.click("link", "Edit issue", "The issue is open already.")
        yield screen.fill("textbox", "Due date", case.notes["due"])
        yield screen.click("checkbox", case.values["label"], "The other labels stay ticked.")
        yield screen.click("button", "Save changes")
        yield screen.stop()


_LACKING = (
    "SELECT id, name FROM labels WHERE project_id = ? AND id NOT IN "
    "(SELECT label_id FROM issue_labels WHERE issue_id = ?) ORDER BY id"
)
