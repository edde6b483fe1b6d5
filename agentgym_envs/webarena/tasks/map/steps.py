"""Helps the map's templates: moves that several experts make, and queries for drawing."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.page import Node
from agentgym_envs.webarena.sites.map.points import resolve
from agentgym_envs.webarena.sites.map.routes import Mode, Way, find_way, load_network
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter
from agentgym_envs.webarena.tasks.template import World

SITE = "map"
SEARCH = "Search the map"


# Drawing ----------------------------------------------------------------------------------------


def draw_place(world: World, rng: random.Random, condition: str = "1") -> sqlite3.Row:
    """Draw a place that meets an SQL condition on `p` and `t`; the row also has `town`."""
    tables = "FROM places p JOIN towns t ON t.id = p.town_id WHERE"
    ids = world.rows("map", f"SELECT p.id {tables} {condition} ORDER BY p.id")
    number = rng.choice(ids)["id"]
    return world.rows("map", f"SELECT p.*, t.name town {tables} p.id = ?", number)[0]


def draw_towns(world: World, rng: random.Random, number: int, condition: str = "1") -> list[str]:
    """Draw the names of different towns."""
    rows = world.rows("map", f"SELECT name FROM towns WHERE {condition} ORDER BY id")
    return rng.sample([row["name"] for row in rows], number)


def way_between(world: World, stops: Sequence[str], mode: Mode) -> Way:
    """Return the way that the map shows between these texts, each of which means one point."""
    database = world.database("map")
    points = [resolve(database, stop) for stop in stops]
    assert all(len(candidates) == 1 for candidates in points), stops
    return find_way(load_network(database), [candidates[0] for candidates in points], mode)


def label(place: sqlite3.Row) -> str:
    """Write a place as the map's forms take it."""
    return f"{place['name']}, {place['town']}"


# Moves ------------------------------------------------------------------------------------------


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


# Reading ----------------------------------------------------------------------------------------


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
