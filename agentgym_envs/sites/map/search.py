"""Searches places: reads a query, and turns it and the filters into one SQL query."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from math import sqrt

from agentgym_envs.sites.map.categories import words_for
from agentgym_envs.sites.map.points import MAX_WORDS, Point, words_of

SORTS = {
    "best": "Best match",
    "name": "Name",
    "rating": "Rating",
    "distance": "Distance",
}
COLUMNS = (
    "SELECT p.id, p.name, p.category, p.cuisine, p.house, p.rating, p.num_reviews, p.wheelchair,"
    " p.x, p.y, s.name street, s.postcode, t.name town, h.opens, h.closes"
)
JOINED = (
    "JOIN streets s ON s.id = p.street_id JOIN towns t ON t.id = p.town_id"
    " LEFT JOIN hours h ON h.place_id = p.id AND h.day = ?"
)


@dataclass(frozen=True)
class Query:
    """What is searched for; empty values do not filter.

    Attributes:
        text: words that name, kind and address must begin with, in any order.
        category: a category's name.
        town_id: 0 for all.
        day: 0 (Monday) to 6 on which it must open; -1 for any.
        wheelchair: only places with full access.
        sort: a key of `SORTS`.
        near: where distances are measured from.
    """

    text: str = ""
    category: str = ""
    town_id: int = 0
    day: int = -1
    wheelchair: bool = False
    sort: str = "best"
    near: Point | None = None


def understand(db: sqlite3.Connection, text: str) -> Query:
    """Read a query such as `pharmacies in Millbrook`: its kind and town become filters."""
    text = " ".join(text.split())[:200]
    query = Query(text)
    for separator in (" in ", ", "):
        start, matched, town = text.rpartition(separator)
        row = db.execute("SELECT id FROM towns WHERE name = ? COLLATE NOCASE", (town,)).fetchone()
        if matched and row is not None:
            query = replace(query, text=start, town_id=row["id"])
            break
    category = words_for().get(query.text.lower())
    return replace(query, text="", category=category) if category else query


def find(db: sqlite3.Connection, query: Query, *, limit: int, offset: int) -> list[sqlite3.Row]:
    """Return one page of the places found."""
    condition, values = _condition(query)
    order, order_values = _order(query)
    # The page is cut out before anything is joined to it; joining all that is found is slow.
    shown = f"SELECT p.* FROM places p WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?"
    sql = f"{COLUMNS} FROM ({shown}) p {JOINED} ORDER BY {order}"
    page = [*values, *order_values, limit, offset]
    return db.execute(sql, [*page, query.day, *order_values]).fetchall()


def count(db: sqlite3.Connection, query: Query) -> int:
    """Return how many places are found."""
    condition, values = _condition(query)
    sql = f"SELECT count(*) FROM places p WHERE {condition}"
    number: int = db.execute(sql, values).fetchone()[0]
    return number


def distance(a: sqlite3.Row | Point, b: sqlite3.Row | Point) -> float:
    """Return the km of the straight line between two rows or points with x and y."""
    ax, ay = (a.x, a.y) if isinstance(a, Point) else (a["x"], a["y"])
    bx, by = (b.x, b.y) if isinstance(b, Point) else (b["x"], b["y"])
    return sqrt((ax - bx) ** 2 + (ay - by) ** 2)


def _condition(query: Query) -> tuple[str, list[str | int]]:
    parts: list[str] = ["1"]
    values: list[str | int] = []
    for word in words_of(query.text).split()[:MAX_WORDS]:
        parts.append("instr(p.words, ?) > 0")
        values.append(f" {word}")
    if query.text and not values:
        parts.append("0")  # nothing but punctuation finds nothing
    if query.category:
        parts.append("p.category = ?")
        values.append(query.category)
    if query.town_id:
        parts.append("p.town_id = ?")
        values.append(query.town_id)
    if query.day >= 0:
        parts.append("EXISTS (SELECT 1 FROM hours o WHERE o.place_id = p.id AND o.day = ?)")
        values.append(query.day)
    if query.wheelchair:
        parts.append("p.wheelchair = 'yes'")
    return " AND ".join(parts), values


def _order(query: Query) -> tuple[str, list[str | float]]:
    if query.sort == "distance" and query.near is not None:
        near = query.near
        return (
            "(p.x - ?) * (p.x - ?) + (p.y - ?) * (p.y - ?), p.id",
            [near.x, near.x, near.y, near.y],
        )
    if query.sort == "rating":
        return "p.rating DESC, p.num_reviews DESC, p.name, p.town_id", []
    if query.sort == "best" and query.text:
        name = words_of(query.text)
        return "instr(p.words, ?) != 1, p.name, p.town_id", [name]
    return "p.name, p.town_id", []
