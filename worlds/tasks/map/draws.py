"""Queries for drawing that the map's templates share."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from agentgym_envs.sites.map.points import resolve
from agentgym_envs.sites.map.routes import Mode, Way, find_way, load_network
from worlds.dice import Dice
from worlds.tasks.template import World


def draw_place(world: World, dice: Dice, condition: str = "1") -> sqlite3.Row:
    """Draw a place that meets an SQL condition on `p` and `t`. The row also has `town`."""
    tables = "FROM places p JOIN towns t ON t.id = p.town_id WHERE"
    ids = world.rows("map", f"SELECT p.id {tables} {condition} ORDER BY p.id")
    number = dice.pick(ids)["id"]
    return world.rows("map", f"SELECT p.*, t.name town {tables} p.id = ?", number)[0]


def draw_towns(world: World, dice: Dice, number: int, condition: str = "1") -> list[str]:
    """Draw the names of different towns."""
    rows = world.rows("map", f"SELECT name FROM towns WHERE {condition} ORDER BY id")
    return dice.sample([row["name"] for row in rows], number)


def way_between(world: World, stops: Sequence[str], mode: Mode) -> Way:
    """Return the way that the map shows between these texts, each of which means one point."""
    database = world.database("map")
    points = [resolve(database, stop) for stop in stops]
    assert all(len(candidates) == 1 for candidates in points), stops
    return find_way(load_network(database), [candidates[0] for candidates in points], mode)


def label(place: sqlite3.Row) -> str:
    """Write a place as the map's forms take it."""
    return f"{place['name']}, {place['town']}"
