"""The search for places: reads a query, turns it and the filters into SQL, shows the page."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from math import sqrt

from starlette.responses import Response

from agentgym_envs.sites.listing import Pages
from agentgym_envs.sites.map.categories import BY_NAME, CATEGORIES, words_for
from agentgym_envs.sites.map.hours import DAYS, span
from agentgym_envs.sites.map.points import MAX_WORDS, Point, resolve, search_words
from agentgym_envs.sites.map.site import SITE
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 12
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
    """Search filters. Empty values do not filter.

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
    for word in search_words(query.text).split()[:MAX_WORDS]:
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
        name = search_words(query.text)
        return "instr(p.words, ?) != 1, p.name, p.town_id", [name]
    return "p.name, p.town_id", []


@SITE.get("/search")
def results(context: RequestContext) -> Response:
    """Search places, towns and streets of the name first, with filters and pages."""
    text = " ".join(context.field("q").split())[:200]
    errors: dict[str, str] = {}
    choices: list[Point] = []
    query = _filtered(context, understand(context.db, text), errors)
    near = context.field("near")
    if near:
        choices = resolve(context.db, near)
        if not choices:
            errors["near"] = f"Nothing on the map is called {near[:80]!r}."
    if len(choices) == 1:
        query = replace(query, near=choices.pop())
    if query.sort == "distance" and query.near is None and not errors and not choices:
        errors["near"] = "Say from where the distance is measured."
    pages = Pages.from_request(context, count(context.db, query), PAGE_SIZE)
    rows = find(context.db, query, limit=pages.size, offset=pages.offset)
    return context.render(
        "search.html",
        text=text,
        title=_title(context, text, query),
        places=[_entry(row, query) for row in rows],
        pages=pages,
        errors=errors,
        choices=[(point, context.link(near=point.label, page=None)) for point in choices],
        also=_also(context, text) if text and pages.number == 1 else [],
        near=near,
        categories=[("", "All categories"), *((c.name, c.name) for c in CATEGORIES)],
        days=[("", "Any day"), *enumerate(DAYS)],
        sorts=list(SORTS.items()),
        chosen_day=query.day if query.day >= 0 else "",
        sort=query.sort,
    )


def _filtered(context: RequestContext, query: Query, errors: dict[str, str]) -> Query:
    category, town, sort = context.field("category"), context.field("town"), context.field("sort")
    day = context.number("day", -1)
    if category in BY_NAME:
        if query.category and query.category != category:
            query = replace(query, text=query.category)
        query = replace(query, category=category)
    if town:
        town_id = context.value("SELECT id FROM towns WHERE name = ? COLLATE NOCASE", town)
        if town_id is None:
            errors["town"] = f"There is no town called {town[:80]!r}."
        else:
            query = replace(query, town_id=town_id)
    return replace(
        query,
        day=day if 0 <= day < len(DAYS) else -1,
        wheelchair=context.field("wheelchair") == "1",
        sort=sort if sort in SORTS else "best",
    )


def _title(context: RequestContext, text: str, query: Query) -> str:
    if query.text:
        return f"Results for “{text}”"
    what = BY_NAME[query.category].plural if query.category else "All places"
    town = context.value("SELECT name FROM towns WHERE id = ?", query.town_id)
    return f"{what} in {town}" if town else what


def _entry(row: sqlite3.Row, query: Query) -> dict[str, object]:
    about = [f"{row['cuisine']} restaurant" if row["cuisine"] else row["category"]]
    about.append(f"{row['house']} {row['street']}, {row['postcode']} {row['town']}")
    if row["num_reviews"]:
        about.append(f"{row['rating']:.1f} stars ({row['num_reviews']})")
    else:
        about.append("no reviews yet")
    if query.day >= 0:
        about.append(f"{DAYS[query.day]} {span(row['opens'], row['closes'])}")
    if query.near is not None:
        about.append(f"{distance(row, query.near):.2f} km away")
    return {"id": row["id"], "name": row["name"], "about": " · ".join(about)}


def _also(context: RequestContext, text: str) -> list[tuple[str, str, str]]:
    """Return towns, streets and regions of this name: (path, name, kind)."""
    others = [
        (f"/town/{row['slug']}", row["name"], f"Town in {row['region']}, {row['postcode']}")
        for row in context.rows(
            "SELECT t.*, r.name region FROM towns t JOIN regions r ON r.id = t.region_id"
            " WHERE t.name = ? COLLATE NOCASE OR t.postcode = ?",
            text,
            text,
        )
    ]
    others += [
        (f"/region/{row['slug']}", row["name"], "Region")
        for row in context.rows("SELECT * FROM regions WHERE name = ? COLLATE NOCASE", text)
    ]
    if len(text) >= 3 and search_words(text):
        others += [
            (f"/street/{row['id']}", f"{row['name']}, {row['town']}", f"Street, {row['postcode']}")
            for row in context.rows(
                "SELECT s.id, s.name, s.postcode, t.name town FROM streets s"
                " JOIN towns t ON t.id = s.town_id WHERE s.name = ? COLLATE NOCASE"
                " OR s.postcode = ? OR s.name || ', ' || t.name = ? COLLATE NOCASE"
                " ORDER BY t.name LIMIT 5",
                *(text, text, text),
            )
        ]
    return others
