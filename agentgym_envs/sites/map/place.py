"""The page of a place and its surroundings."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.filters import money
from agentgym_envs.sites.listing import Listing, Pages
from agentgym_envs.sites.map.categories import BY_NAME, CATEGORIES
from agentgym_envs.sites.map.find import distance
from agentgym_envs.sites.map.geography import latitude, longitude
from agentgym_envs.sites.map.hours import DAYS, span
from agentgym_envs.sites.map.plan import town_plan
from agentgym_envs.sites.map.site import SITE
from agentgym_envs.sites.web import RequestContext

ACCESS = {"yes": "Yes", "limited": "Limited", "no": "No"}
RADII = (("0.5", "500 m"), ("1", "1 km"), ("2", "2 km"), ("5", "5 km"), ("20", "20 km"),
         ("40", "40 km"))  # fmt: skip
DEFAULT_RADIUS = "2"
REVIEWS_SHOWN = 3


def find_place(context: RequestContext, number: str) -> sqlite3.Row:
    """Return a place with its street and town.

    Raises:
        NotFound: there is none of this number.
    """
    return context.find(
        "There is no such place.",
        "SELECT p.*, s.name street, s.postcode, t.name town, t.slug town_slug FROM places p"
        " JOIN streets s ON s.id = p.street_id JOIN towns t ON t.id = p.town_id WHERE p.id = ?",
        number,
    )


def place_address(place: sqlite3.Row) -> str:
    """Write the address of a place."""
    return f"{place['house']} {place['street']}, {place['postcode']} {place['town']}"


@SITE.get("/place/{number}")
def place(context: RequestContext, number: str) -> Response:
    """Show a place."""
    place_row = find_place(context, number)
    opening = {
        row["day"]: span(row["opens"], row["closes"])
        for row in context.rows("SELECT * FROM hours WHERE place_id = ?", place_row["id"])
    }
    reviews = context.rows(
        "SELECT r.*, u.name author FROM reviews r JOIN users u ON u.id = r.user_id"
        " WHERE r.place_id = ? ORDER BY r.created_at DESC, r.id DESC LIMIT ?",
        *(place_row["id"], REVIEWS_SHOWN),
    )
    lists = context.rows(
        "SELECT l.id, l.name FROM saved s JOIN lists l ON l.id = s.list_id"
        " WHERE s.place_id = ? AND l.user_id = ? ORDER BY l.name",
        *(place_row["id"], context.user_id),
    )
    return context.render(
        "place.html",
        place=place_row,
        details=_details(context, place_row),
        week=[(name, opening.get(day, "Closed")) for day, name in enumerate(DAYS)],
        reviews=reviews,
        lists=lists,
        plan=town_plan(
            context.db,
            place_row["town_id"],
            label=f"Town plan of {place_row['town']} with {place_row['name']}",
            place_id=place_row["id"],
        ),
    )


@SITE.get("/place/{number}/reviews")
def reviews(context: RequestContext, number: str) -> Response:
    """List all reviews of a place."""
    row = find_place(context, number)
    listing = Listing(context, "reviews r", size=10).where("r.place_id = ?", row["id"])
    rows, pages = listing.rows(
        "r.*, u.name author",
        joined="JOIN users u ON u.id = r.user_id",
        order="r.created_at DESC, r.id DESC",
    )
    return context.render("reviews.html", place=row, reviews=rows, pages=pages)


@SITE.get("/place/{number}/nearby")
def nearby(context: RequestContext, number: str) -> Response:
    """List the places around a place, the nearest first."""
    centre = find_place(context, number)
    category = context.field("category")
    radius = context.field("within")
    if radius not in dict(RADII):
        radius = DEFAULT_RADIUS
    reach = float(radius)
    condition = "abs(p.x - ?) <= ? AND abs(p.y - ?) <= ? AND p.id != ?"
    values = [centre["x"], reach, centre["y"], reach, centre["id"]]
    if category in BY_NAME:
        condition += " AND p.category = ?"
        values.append(category)
    rows = context.rows(
        "SELECT p.id, p.name, p.category, p.house, p.x, p.y, s.name street, s.postcode,"
        " t.name town FROM places p JOIN streets s ON s.id = p.street_id"
        f" JOIN towns t ON t.id = p.town_id WHERE {condition}",
        *values,
    )
    measured = sorted((distance(centre, row), row["id"], row) for row in rows)
    measured = [entry for entry in measured if entry[0] <= reach]
    pages = Pages.from_request(context, len(measured), 10)
    return context.render(
        "nearby.html",
        place=centre,
        near=[(row, place_address(row), f"{km:.2f} km") for km, _, row in pages.cut(measured)],
        pages=pages,
        categories=[("", "All categories"), *((c.name, c.name) for c in CATEGORIES)],
        category=category,
        radii=RADII,
        radius=radius,
    )


def _details(context: RequestContext, row: sqlite3.Row) -> list[tuple[str, str]]:
    category = BY_NAME[row["category"]]
    details = [
        ("Address", place_address(row)),
        ("Coordinates", f"{latitude(row['y']):.4f}, {longitude(row['x']):.4f}"),
        ("Phone", row["phone"]),
        ("Website", row["website"] or "None"),
        ("Wheelchair access", ACCESS[row["wheelchair"]]),
    ]
    if row["cuisine"]:
        details.append(("Cuisine", row["cuisine"]))
    if row["price"] is not None:
        details.append((category.price, money(row["price"]) if row["price"] else "Free"))
    facts = context.rows("SELECT name, value FROM facts WHERE place_id = ?", row["id"])
    return details + [(fact["name"], fact["value"]) for fact in facts]
