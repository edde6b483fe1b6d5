"""Moves that several of the map's solutions make, and how they read its pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from worlds.tasks.screen import ElementNotFound, Screen, enter

SITE = "map"
SEARCH = "Search the map"


def search(screen: Screen, text: str, thought: str = "") -> Iterator[ExpertMove]:
    """Search the map."""
    yield from enter(screen, SITE)
    yield screen.fill("searchbox", SEARCH, text, thought or f"I search for {text}.", enter=True)


def open_place(screen: Screen, name: str, town: str) -> Iterator[ExpertMove]:
    """Go to a place's page."""
    yield from search(screen, f"{name}, {town}", f"I look for {name} in {town} first.")
    yield screen.click("link", name, f"{name} is among the results.")


def ask_way(
    screen: Screen, start: str, goal: str, *, via: str = "", thought: str = ""
) -> Iterator[ExpertMove]:
    """Ask for directions by car."""
    yield from enter(screen, SITE)
    yield screen.click("link", "Directions", thought or "The directions page works out routes.")
    yield screen.fill("textbox", "From", start, "I fill in the start.")
    if via:
        yield screen.fill("textbox", "Via (optional)", via, "The route has to pass this town.")
    yield screen.fill("textbox", "To", goal, "I fill in the destination.", enter=True)


def compare(
    screen: Screen, start: str, goals: Sequence[str], mode: str = "Car"
) -> Iterator[ExpertMove]:
    """Ask for the distances from one start to several destinations."""
    yield from enter(screen, SITE)
    yield screen.click("link", "Distances", "The distances page compares several destinations.")
    yield screen.fill("textbox", "From", start, "I fill in where the journey starts.")
    field = "Destinations, separated by semicolons"
    if mode != "Car":
        yield screen.choose("Travel by", mode)
    yield screen.fill("textbox", field, "; ".join(goals), "I list the destinations.", enter=True)


def cells(row: Node) -> list[str]:
    """Return the texts of a table row."""
    return row.name.split(" | ")


def fact(screen: Screen, name: str) -> str:
    """Return the value of a row of a place's tables: `Phone`, `Sunday`, ..."""
    return cells(screen.starting("row", f"{name} | "))[1]


def results(screen: Screen) -> list[tuple[Node, str]]:
    """Return the places of a result list: each one's link, and the text beside it."""
    items = []
    for item in screen.all("listitem"):
        links = screen.below(item, "link")
        texts = screen.below(item, "StaticText")
        if links and texts and "·" in texts[0].name:
            items.append((links[0], texts[0].name))
    return items


def minutes(time: str) -> int:
    """Read `45 min` or `1 h 12 min`."""
    hours, _, rest = time.rpartition(" h ")
    return int(hours or 0) * 60 + int(rest.removesuffix(" min"))


def kilometres(length: str) -> float:
    """Read `1,084.3 km`."""
    return float(length.removesuffix(" km").replace(",", ""))


def to_page_with(screen: Screen, role: str, name: str) -> Iterator[ExpertMove]:
    """Turn the pages of a list until an element is there.

    Raises:
        ElementNotFound: it is on none of them.
    """
    while not screen.has(role, name):
        if not screen.has("link", "Next"):
            raise ElementNotFound(f"no {role} {name!r} on any page")
        yield screen.click("link", "Next", "It is not on this page of the list.")
