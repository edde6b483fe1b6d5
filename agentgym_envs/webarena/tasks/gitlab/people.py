"""Solves tasks about people: members, roles, following, one's own profile and to-dos."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT
from agentgym_envs.webarena.tasks.gitlab.steps import (
    SITE,
    apply,
    cells,
    find_person,
    items,
    open_part,
)
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter, first_of
from agentgym_envs.webarena.tasks.solution import Case


def invite_member(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the user name, then invite."""
    person = case.values["person"]
    yield from find_person(screen, person)
    result = first_of(item for item in items(screen, "Results") if item.link.name == person)
    username = result.text.removeprefix(person).split("·")[0].split()[-1]
    yield from open_part(screen, case.values["project"], "Members")
    yield screen.fill("textbox", "User name or e-mail", username, "I found the user name.")
    yield screen.choose("Role", case.values["role"])
    yield screen.fill("textbox", "Access ends on", case.notes["until"])
    yield screen.click("button", "Invite")
    yield screen.stop()


def change_roles(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the table, then change one member after the other."""
    values = case.values
    yield from open_part(screen, values["project"], "Members")
    names = [row[0] for row in cells(screen) if row[1] == values["old"]]
    for name in names:
        yield screen.click("link", f"Change {name}", f"{name} is a {values['old']}.")
        yield screen.choose("Role", values["new"])
        yield screen.click("button", "Save member")
    yield screen.stop("", f"Nobody is a {values['old']} any more.")


def update_profile(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open the profile and edit it."""
    yield from enter(screen, SITE)
    yield screen.click("link", AGENT.name, "My name leads to my profile.")
    yield screen.click("link", "Edit profile")
    yield screen.fill("textbox", "Status", case.values["status"])
    yield screen.fill("textbox", "Location", case.values["town"])
    yield screen.click("button", "Save profile")
    yield screen.stop()


def follow_author(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Go from the merge request to its author."""
    yield from _open_author(case, screen)
    yield screen.click("button", "Follow")
    yield screen.stop()


def follow_oneself(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Go from the merge request to its author, and meet the own profile."""
    yield from _open_author(case, screen)
    if screen.has("button", "Follow") or not screen.has("link", "Edit profile"):
        raise ElementNotFound("this is somebody else's profile")
    yield screen.give_up("I opened it, and I cannot follow myself.")


def _open_author(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    values = case.values
    yield from open_part(screen, values["project"], "Merge requests")
    if values["state"] != "open":
        yield from apply(screen, {"State": values["state"].capitalize()})
    yield screen.click("link", values["title"], "There is the merge request.")
    names = [node.name for node in screen.page.nodes]
    place = first_of(i for i, name in enumerate(names) if ", opened " in name)
    author = first_of(node for node in screen.page.nodes[place:] if node.role == "link")
    yield screen.click_node(author, f"{author.name} opened it.")


FINISH_TODOS_REASONS = {
    "all my": "",
    'all my "mentioned"': "mentioned",
    'all my "assigned"': "assigned",
    'all my "review requested"': "review requested",
}


def finish_todos(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter the to-dos until none is left."""
    filters = {"Project": case.values["project"]}
    if reason := FINISH_TODOS_REASONS[case.values["which"]]:
        filters["Reason"] = reason.capitalize()
    yield from enter(screen, SITE)
    yield screen.click("link", "To-dos")
    while True:
        yield from apply(screen, filters)
        buttons = [b for b in screen.all("button") if b.name.startswith("Done: ")]
        if not buttons:
            break
        yield screen.click_node(buttons[0], f"{len(buttons)} to go; I mark the first as done.")
    yield screen.stop("", "Nothing of this kind is left.")
