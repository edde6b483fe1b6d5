"""Solves tasks about people who are known on two sites; their names are the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab import steps as code
from agentgym_envs.webarena.tasks.reddit import steps as forum
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.shopping_admin import steps as office
from agentgym_envs.webarena.tasks.solution import Case


def message_buyer(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the customer's user name and write to it."""
    yield from office.open_order(screen, case.values["order"])
    row = screen.starting("row", "Customer | ")
    name = row.name.partition(" | ")[2]
    yield screen.click_node(screen.below(row, "link")[0], f"{name} placed the order.")
    username = screen.starting("row", "User name | ").name.partition(" | ")[2]
    yield from enter(screen, forum.SITE)
    yield screen.click_node(screen.starting("link", "Messages"), "Messages are written here.")
    yield screen.click("link", "New message")
    yield screen.fill("textbox", "To", username, "This is the customer's user name.")
    yield screen.fill("textbox", "Message", case.values["text"])
    yield screen.click("button", "Send message")
    yield screen.stop("", "The message is sent.")


def group_of_contributor(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the list of contributors and change the customer."""
    yield from code.open_part(screen, case.values["project"], "Contributors")
    name, commits, *_ = max(code.cells(screen), key=lambda cells: int(cells[1]))
    thought = f"{name} has the most commits, {commits}. Now to the shop."
    yield from enter(screen, office.SITE, thought)
    yield from office.open_customer(screen, name)
    yield screen.choose("Customer group", case.values["group"])
    yield screen.click("button", "Save group")
    yield screen.stop("", "The customer is in the group.")


def star_authors_project(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the author, their profile, and the project that comes first."""
    yield from forum.open_post(screen, case.values["title"])
    username = screen.below(screen.find("article", "Post"), "link")[0].name
    yield from enter(screen, code.SITE, f"{username} wrote it. Now I look for their projects.")
    yield from code.find_person(screen, username)
    name = " ".join(part.capitalize() for part in username.split("."))
    yield screen.click("link", name, "The profile lists the projects.")
    which = case.values["which"]
    sort = {"most starred": "Most stars", "newest": "Newest", "oldest": "Oldest"}[which]
    yield from code.apply(screen, {"Sort by": sort})
    first = first_of(code.items(screen, "Projects")).link
    yield screen.click_node(first, f"{first.name} is the {which} one.")
    yield screen.click("button", "Star")
    yield screen.stop("", "The project is starred.")
