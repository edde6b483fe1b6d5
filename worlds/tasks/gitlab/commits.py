"""Tasks that ask about commits and who made them."""

from __future__ import annotations

import calendar

from agentgym_envs.sites.filters import MONTHS
from agentgym_envs.webarena.tasks.gitlab.steps import SITE
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import draw_project
from worlds.tasks.goals import all_of, answers, name, number
from worlds.tasks.template import Case, Template, World

_AUTHORS = (
    "SELECT u.id, u.name, u.email, count(*) AS number FROM commits c "
    "JOIN users u ON u.id = c.author_id WHERE c.project_id = ? AND c.branch = 'main' "
    "GROUP BY u.id ORDER BY number DESC, u.id"
)


class CommitsInMonth(Template):
    """How many commits somebody made in a month, and what the last one was."""

    number = 100
    sites = (SITE,)
    intents = (
        "Count {person}'s commits on {project}'s main in {month}; what is the latest one's "
        "message?",
        "How many commits did {person} make on main of {project} in {month}, and what is the last "
        "one's message?",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person and a month with at least one commit."""
        project = draw_project(world, dice)
        person = dice.pick(world.rows(SITE, _AUTHORS, project["id"]))
        year, month = dice.pick([(2025, m) for m in range(2, 13)] + [(2026, 1), (2026, 2)])
        commits = world.rows(
            SITE,
            "SELECT message, date(created_at) AS day FROM commits WHERE project_id = ? "
            "AND branch = 'main' AND author_id = ? AND created_at LIKE ? ORDER BY day DESC",
            project["id"],
            person["id"],
            f"{year}-{month:02}-%",
        )
        if len(commits) < 2 or commits[0]["day"] == commits[1]["day"]:
            return None
        first, last = f"{year}-{month:02}-01", calendar.monthrange(year, month)[1]
        return Case(
            values={
                "person": person["name"],
                "project": project["name"],
                "month": f"{MONTHS[month - 1]} {year}",
            },
            goal=answers(all_of(number(len(commits), "commit"), name(commits[0]["message"]))),
            notes={"first": first, "last": f"{first[:8]}{last:02}"},
        )


class TopContributor(Template):
    """The e-mail address of who wrote the most commits."""

    number = 101
    sites = (SITE,)
    intents = (
        "Who made the {rank} commits on {project}'s default branch? Give the e-mail address.",
        "Tell me the e-mail address in the profile of the person with the {rank} commits on the "
        "default branch of {project}.",
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project whose contributors do not tie at the rank."""
        project = draw_project(world, dice)
        rank = dice.pick(("most", "second most"))
        place = int(rank != "most")
        rows = world.rows(SITE, _AUTHORS, project["id"])
        numbers = [row["number"] for row in rows]
        if len(rows) < 3 or numbers.count(numbers[place]) > 1 or numbers.count(numbers[0]) > 1:
            return None
        return Case(
            values={"rank": rank, "project": project["name"]},
            goal=answers(name(rows[place]["email"])),
            notes={"place": place},
        )


class WhereTheyLive(Template):
    """Where somebody lives who last changed a file."""

    number = 120
    sites = (SITE,)
    intents = (
        "What is the location of whoever last changed {path} in {project}?",
        "Which location does the profile of the person who last changed {path} in {project} give?",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a file whose writer says where they are."""
        project = draw_project(world, dice)
        files = world.rows(
            SITE,
            "SELECT f.path, u.location FROM files f JOIN commits c ON c.id = f.commit_id "
            "JOIN users u ON u.id = c.author_id WHERE f.project_id = ? AND f.branch = 'main' "
            "AND u.location <> '' AND u.id <> 1 ORDER BY f.path",
            project["id"],
        )
        if not files:
            return None
        file = dice.pick(files)
        return Case(
            values={"path": file["path"], "project": project["name"]},
            goal=answers(name(file["location"])),
        )
