"""Tasks that ask about commits and who made them."""

from __future__ import annotations

import calendar
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import MONTHS
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import draw_project
from worlds.tasks.gitlab.steps import (
    SITE,
    apply,
    cells,
    fact,
    items,
    number_before,
    open_part,
    open_project,
)
from worlds.tasks.goals import all_of, answers, name, number
from worlds.tasks.screen import Screen, first_of
from worlds.tasks.template import Case, Template, World

_AUTHORS = (
    "SELECT u.id, u.name, u.email, count(*) AS number FROM commits c "
    "JOIN users u ON u.id = c.author_id WHERE c.project_id = ? AND c.branch = 'main' "
    "GROUP BY u.id ORDER BY number DESC, u.id"
)


class CommitsInMonth(Template):
    """The number of a person's commits in a month, and the last one's message."""

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the commits by author and days, and read their number."""
        yield from open_part(screen, case.values["project"], "Commits")
        filters = {
            "Author": case.values["person"],
            "From day": case.notes["first"],
            "To day": case.notes["last"],
        }
        yield from apply(screen, filters)
        number, last = number_before(screen, "commit"), first_of(items(screen, "Commits"))
        yield screen.stop(f"{number} commits, {last.link.name}", "The last one comes first.")


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Compare the contributors and look at the profile."""
        yield from open_part(screen, case.values["project"], "Contributors")
        rows = sorted(cells(screen), key=lambda row: -int(row[1]))
        name, number = rows[case.notes["place"]][:2]
        rank = case.values["rank"]
        yield screen.click("link", name, f"With {number} commits, {name} has the {rank}.", nth=-1)
        yield screen.stop(fact(screen, "E-mail: "), "The profile has the address.")


class WhereTheyLive(Template):
    """The home of the last person to change a file."""

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go through the folders to the file, then to its writer."""
        yield from open_project(screen, case.values["project"])
        *folders, name = case.values["path"].split("/")
        for folder in folders:
            yield screen.click("link", f"{folder}/", "The file lies in this folder.")
        yield screen.click("link", name, "There is the file.")
        heading = first_of(
            n.name for n in screen.page.nodes if n.name.startswith("Last changed on")
        )
        place = [node.name for node in screen.page.nodes].index(heading)
        person = first_of(node for node in screen.page.nodes[place:] if node.role == "link")
        yield screen.click_node(person, f"{person.name} changed it last.")
        yield screen.stop(fact(screen, "Location: "), "The profile says where they are.")
