"""The search page."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from starlette.responses import Response

from agentgym_envs.sites.map import search
from agentgym_envs.sites.map.categories import BY_NAME, CATEGORIES
from agentgym_envs.sites.map.hours import DAYS, span
from agentgym_envs.sites.map.points import Point, resolve, words_of
from agentgym_envs.sites.map.site import SITE
from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 12


@SITE.get("/search")
def results(context: RequestContext) -> Response:
    """Search places, filtered, sorted and paginated; towns and streets of the name come first."""
    text = " ".join(context.field("q").split())[:200]
    errors: dict[str, str] = {}
    choices: list[Point] = []
    query = _filtered(context, search.understand(context.db, text), errors)
    near = context.field("near")
    if near:
        choices = resolve(context.db, near)
        if not choices:
            errors["near"] = f"Nothing on the map is called {near[:80]!r}."
    if len(choices) == 1:
        query = replace(query, near=choices.pop())
    if query.sort == "distance" and query.near is None and not errors and not choices:
        errors["near"] = "Say from where the distance is measured."
    pages = Pages.of(context, search.count(context.db, query), PAGE_SIZE)
    rows = search.find(context.db, query, limit=pages.size, offset=pages.offset)
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
        sorts=list(search.SORTS.items()),
        chosen_day=query.day if query.day >= 0 else "",
        sort=query.sort,
    )


def _filtered(context: RequestContext, query: search.Query, errors: dict[str, str]) -> search.Query:
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
        sort=sort if sort in search.SORTS else "best",
    )


def _title(context: RequestContext, text: str, query: search.Query) -> str:
    if query.text:
        return f"Results for “{text}”"
    what = BY_NAME[query.category].plural if query.category else "All places"
    town = context.value("SELECT name FROM towns WHERE id = ?", query.town_id)
    return f"{what} in {town}" if town else what


def _entry(row: sqlite3.Row, query: search.Query) -> dict[str, object]:
    about = [f"{row['cuisine']} restaurant" if row["cuisine"] else row["category"]]
    about.append(f"{row['house']} {row['street']}, {row['postcode']} {row['town']}")
    if row["num_reviews"]:
        about.append(f"{row['rating']:.1f} stars ({row['num_reviews']})")
    else:
        about.append("no reviews yet")
    if query.day >= 0:
        about.append(f"{DAYS[query.day]} {span(row['opens'], row['closes'])}")
    if query.near is not None:
        about.append(f"{search.distance(row, query.near):.2f} km away")
    return {"id": row["id"], "name": row["name"], "about": " · ".join(about)}


def _also(context: RequestContext, text: str) -> list[tuple[str, str, str]]:
    """Return towns, streets and regions of this name: (path, name, what it is)."""
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
    if len(text) >= 3 and words_of(text):
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
