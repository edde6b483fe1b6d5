"""Moves that several of the code host's solutions make, and how they read its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from worlds.tasks.screen import ElementNotFound, Screen, enter

SITE = "gitlab"


@dataclass(frozen=True)
class Item:
    """An item of a list.

    Attributes:
        link: its first link.
        text: everything in it.
    """

    link: Node
    text: str


def text_of(node: Node) -> str:
    """Return the text of an element and all in it."""
    return " ".join(inner.name for inner, _ in node.walk() if inner.name)


def items(screen: Screen, name: str) -> list[Item]:
    """Read the list of this name. Items without a link are left out."""
    result = []
    for node in screen.below(screen.find("list", name), "listitem"):
        links = screen.below(node, "link")
        if links:
            result.append(Item(links[0], text_of(node)))
    return result


def number_before(screen: Screen, noun: str) -> str:
    """Return the number in a text such as `12 commits`.

    Raises:
        ElementNotFound: no such text is on the page.
    """
    for node in screen.page.nodes:
        match = re.fullmatch(rf"([\d,]+) {noun}s?", node.name)
        if match:
            return match[1].replace(",", "")
    raise ElementNotFound(f"no number of {noun}s on {screen.url}")


def fact(screen: Screen, beginning: str) -> str:
    """Return the rest of the page's first text with this beginning.

    Raises:
        ElementNotFound: no text begins so.
    """
    for node in screen.page.nodes:
        if node.name.startswith(beginning):
            return node.name.removeprefix(beginning)
    raise ElementNotFound(f"nothing begins with {beginning!r} on {screen.url}")


def cells(screen: Screen) -> list[list[str]]:
    """Read the rows of the page's tables, without the heading row."""
    rows = [[cell.strip() for cell in node.name.split("|")] for node in screen.all("row")]
    return rows[1:]


def open_project(screen: Screen, name: str) -> Iterator[ExpertMove]:
    """Search for a project and open it."""
    yield from enter(screen, SITE)
    thought = f"I search for the project {name}."
    yield screen.fill("searchbox", "Search Forgeyard", name, thought, enter=True)
    while not screen.has("link", name) and screen.has("link", "Next"):
        yield screen.click("link", "Next", "It is not on this page of the results.")
    yield screen.click("link", name, "There is the project.")


def open_part(screen: Screen, name: str, part: str, thought: str = "") -> Iterator[ExpertMove]:
    """Open a project, and a page of the bar at its side."""
    yield from open_project(screen, name)
    yield screen.click("link", part, thought or f"I need the project's page {part!r}.")


def find_person(screen: Screen, name: str) -> Iterator[ExpertMove]:
    """Search for a person, which brings the result onto the screen."""
    yield from enter(screen, SITE)
    thought = f"I have to find {name}."
    yield screen.fill("searchbox", "Search Forgeyard", name, thought, enter=True)
    yield screen.click("link", "People", "I look for a person, not for a project.")


def apply(screen: Screen, filters: Mapping[str, str], thought: str = "") -> Iterator[ExpertMove]:
    """Fill in the filters of a list and apply them."""
    for label, value in filters.items():
        if screen.has("combobox", label):
            yield screen.choose(label, value, f"I set {label!r} to {value!r}.")
        else:
            yield screen.fill("textbox", label, value, f"I filter {label!r} by {value!r}.")
    yield screen.click("button", "Apply", thought or "Now I apply the filters.")


def list_group(screen: Screen, group: Mapping[str, str], sort: str) -> Iterator[ExpertMove]:
    """List a person's projects or a topic's, sorted."""
    if group["kind"] == "owner":
        yield from find_person(screen, group["name"])
        yield screen.click("link", group["name"], "The profile lists the person's projects.")
        yield from apply(screen, {"Sort by": sort})
    else:
        yield from enter(screen, SITE)
        yield screen.click("link", "Explore", "Projects of a topic can be found among all.")
        yield from apply(screen, {"Topic": group["name"], "Sort by": sort})
