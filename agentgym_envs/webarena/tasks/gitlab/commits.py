"""Solves tasks that ask about commits and who made them."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import (
    apply,
    cells,
    fact,
    items,
    number_before,
    open_part,
    open_project,
)
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case


def commits_in_month(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def top_contributor(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Compare the contributors and look at the profile."""
    yield from open_part(screen, case.values["project"], "Contributors")
    rows = sorted(cells(screen), key=lambda row: -int(row[1]))
    name, number = rows[case.notes["place"]][:2]
    rank = case.values["rank"]
    yield screen.click("link", name, f"With {number} commits, {name} has the {rank}.", nth=-1)
    yield screen.stop(fact(screen, "E-mail: "), "The profile has the address.")


def where_they_live(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Go through the folders to the file, then to its writer."""
    yield from open_project(screen, case.values["project"])
    *folders, name = case.values["path"].split("/")
    for folder in folders:
        yield screen.click("link", f"{folder}/", "The file lies in this folder.")
    yield screen.click("link", name, "There is the file.")
    heading = first_of(n.name for n in screen.page.nodes if n.name.startswith("Last changed on"))
    place = [node.name for node in screen.page.nodes].index(heading)
    person = first_of(node for node in screen.page.nodes[place:] if node.role == "link")
    yield screen.click_node(person, f"{person.name} changed it last.")
    yield screen.stop(fact(screen, "Location: "), "The profile says where they are.")
