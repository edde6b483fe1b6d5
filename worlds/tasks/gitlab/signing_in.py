"""Tasks that begin signed out, and are somebody else's to do."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.gitlab.steps import SITE
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import REPORTING, standing_out
from worlds.tasks.goals import changes, row
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
        """Draw a member who may assign, and an issue that stands out; projects may be private."""
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
