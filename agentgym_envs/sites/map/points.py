"""Resolves a traveller's text to points: towns, places, streets, addresses.

A text may mean several points, since places in different towns share names; callers then let the
visitor choose.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from agentgym_envs.sites.map.geography import slug

MOST = 10  # points that one text is taken to mean
MAX_WORDS = 12  # of a query; the rest is dropped

PLACES = (
    "SELECT p.id, p.name, p.house, p.x, p.y, p.town_id, s.name street, s.postcode, t.name town"
    " FROM places p JOIN streets s ON s.id = p.street_id JOIN towns t ON t.id = p.town_id"
)
STREETS = (
    "SELECT s.id, s.name, s.postcode, s.town_id, (s.x1 + s.x2) / 2 x, (s.y1 + s.y2) / 2 y,"
    " t.name town FROM streets s JOIN towns t ON t.id = s.town_id"
)


@dataclass(frozen=True)
class Point:
    """A point where a way can begin and end.

    Attributes:
        kind: `"town"`, `"place"` or `"street"`.
        id: of the row.
        name: without the town.
        label: unique and understood by `resolve`: `Hotel Alma, Millbrook`.
        address: for telling points apart.
        street: where it lies within its town; empty for a town.
        town_id: of the town that it lies in.
        x: km on the sheet.
        y: km on the sheet.
    """

    kind: str
    id: int
    name: str
    label: str
    address: str
    street: str
    town_id: int
    x: float
    y: float

    @property
    def key(self) -> tuple[str, int]:
        """A unique key."""
        return self.kind, self.id

    @property
    def path(self) -> str:
        """The address of its page."""
        return f"/town/{slug(self.name)}" if self.kind == "town" else f"/{self.kind}/{self.id}"


def search_words(*texts: str) -> str:
    """Return texts as lower-case words, a space before each, for the search."""
    return " " + " ".join(re.findall(r"[a-z0-9]+", " ".join(texts).lower().replace("'", "")))


def resolve(db: sqlite3.Connection, text: str) -> list[Point]:
    """Return the points of a text's likeliest reading, none if it has none."""
    text = " ".join(text.split())[:200]
    if not text:
        return []
    towns = db.execute("SELECT * FROM towns WHERE name = ? COLLATE NOCASE", (text,)).fetchall()
    if towns:
        return [_town(towns[0])]
    name, town = _split(text)
    if town:
        points = _in_town(db, name, town)
        if points:
            return points
    points = _places(db, "p.name = ? COLLATE NOCASE", text)
    if not points:
        points = _streets(db, "s.name = ? COLLATE NOCASE", text)
    return points or _by_words(db, text)


def _split(text: str) -> tuple[str, str]:
    for separator in (", ", " in "):
        name, matched, town = text.rpartition(separator)
        if matched:
            return name.strip(), re.sub(r"^\d{5} ", "", town.strip())
    return text, ""


def _in_town(db: sqlite3.Connection, name: str, town: str) -> list[Point]:
    points = _places(
        db, "p.name = ? COLLATE NOCASE AND t.name = ? COLLATE NOCASE", name, town
    ) or _streets(db, "s.name = ? COLLATE NOCASE AND t.name = ? COLLATE NOCASE", name, town)
    address = re.fullmatch(r"([0-9]{1,4}) (.+)", name)
    if points or address is None:
        return points
    house, street = int(address.group(1)), address.group(2)
    return _places(
        db,
        "p.house = ? AND s.name = ? COLLATE NOCASE AND t.name = ? COLLATE NOCASE",
        *(house, street, town),
    ) or _streets(db, "s.name = ? COLLATE NOCASE AND t.name = ? COLLATE NOCASE", street, town)


def _by_words(db: sqlite3.Connection, text: str) -> list[Point]:
    words = search_words(text).split()[:MAX_WORDS]
    if not words:
        return []
    condition = " AND ".join("instr(p.words, ?) > 0" for _ in words)
    return _places(db, condition, *(f" {word}" for word in words))


def _places(db: sqlite3.Connection, condition: str, *values: str | int) -> list[Point]:
    sql = f"{PLACES} WHERE {condition} ORDER BY t.name, p.name LIMIT {MOST}"
    return [_place(row) for row in db.execute(sql, values)]


def _streets(db: sqlite3.Connection, condition: str, *values: str | int) -> list[Point]:
    sql = f"{STREETS} WHERE {condition} ORDER BY t.name LIMIT {MOST}"
    return [_street(row) for row in db.execute(sql, values)]


def _town(row: sqlite3.Row) -> Point:
    address = f"Town, {row['postcode']}"
    about = (row["name"], row["name"], address, "", row["id"], row["x"], row["y"])
    return Point("town", row["id"], *about)


def _place(row: sqlite3.Row) -> Point:
    return Point(
        "place",
        row["id"],
        row["name"],
        f"{row['name']}, {row['town']}",
        f"{row['house']} {row['street']}, {row['postcode']} {row['town']}",
        *(row["street"], row["town_id"], row["x"], row["y"]),
    )


def _street(row: sqlite3.Row) -> Point:
    return Point(
        "street",
        row["id"],
        row["name"],
        f"{row['name']}, {row['town']}",
        f"Street, {row['postcode']} {row['town']}",
        *(row["name"], row["town_id"], row["x"], row["y"]),
    )
