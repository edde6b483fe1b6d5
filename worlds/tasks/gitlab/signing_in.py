"""Tasks that begin signed out, for another user than the agent's."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import REPORTING, standing_out
from worlds.tasks.gitlab.steps import SITE, apply, items, open_part
from worlds.tasks.goals import changes, row
from worlds.tasks.screen import Screen, enter, first_of
from worlds.tasks.template import Case, Template, World


class TakeIssueAs(Template):
    """Sign in as a member of a project, and take an issue."""

    number = 129
    sites = (SITE,)
    intents = (
        "Sign in as {username} (password {password}) and take {project}'s {age} unassigned open "
        "issue.",
        "Sign in as {username} with the password {password}, and take the {age} open issue in "
        "{project} that nobody is assigned to.",
    )
    split = "train"
    signed_in = False

    _AGES = {"oldest": "created_at", "newest": "created_at DESC"}

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a member who may assign, and an issue that stands out.

        The project may be private.
        """
        marks = ", ".join("?" * len(REPORTING))
        member = dice.pick(
            world.rows(
                SITE,
                "SELECT u.id, u.username, u.password, p.id AS project_id, p.name AS project "
                "FROM members m JOIN users u ON u.id = m.user_id "
                f"JOIN projects p ON p.id = m.project_id WHERE m.role IN ({marks}) "
                "AND u.id <> 1 ORDER BY p.id, u.id",
                *REPORTING,
            )
        )
        issues = world.rows(
            SITE,
            "SELECT * FROM issues WHERE project_id = ? AND state = 'open' "
            "AND assignee_id IS NULL ORDER BY id",
            member["project_id"],
        )
        age = dice.pick(tuple(self._AGES))
        issue = standing_out(issues, self._AGES[age])
        if issue is None or any(each["confidential"] for each in issues):
            return None
        return Case(
            values={
                "username": member["username"],
                "password": member["password"],
                "project": member["project"],
                "age": age,
            },
            goal=changes(row("issues", id=issue["id"], assignee_id=member["id"])),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sign in, sort the unassigned issues, and take the first one."""
        values = case.values
        yield from enter(screen, SITE)
        if screen.has("link", "Sign in"):
            yield screen.click("link", "Sign in", "Nobody is signed in yet.")
            yield screen.fill("textbox", "User name or email", values["username"])
            yield screen.fill("textbox", "Password", values["password"])
            yield screen.click("button", "Sign in")
        yield from open_part(screen, values["project"], "Issues")
        yield from apply(screen, {"Assignee": "Nobody", "Sort by": values["age"].capitalize()})
        first = first_of(items(screen, "Issues"))
        yield screen.click_node(first.link, f"The first one is the {values['age']}.")
        yield screen.click("button", "Assign to me", "I am signed in as the one who shall have it.")
        yield screen.stop()
