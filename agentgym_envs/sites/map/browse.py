"""The pages that one looks around on: home, towns, regions, streets."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.map.categories import CATEGORIES
from agentgym_envs.sites.map.drawing import RATIO, country
from agentgym_envs.sites.map.plan import town_plan
from agentgym_envs.sites.map.site import SITE
from agentgym_envs.sites.web import RequestContext

POPULAR = ("Restaurant", "Cafe", "Hotel", "Museum", "Pharmacy", "Supermarket", "Park",
           "Charging station")  # fmt: skip
WITH_PANEL = (124, 144, 300)  # the part shown on the home page, with room for a form at the left
TOWN_SORTS = {
    "name": ("Name", "t.name"),
    "population": ("Inhabitants, most first", "t.population DESC"),
    "elevation": ("Elevation, highest first", "t.elevation DESC, t.name"),
}
TRANSPORT = {"airport": "With an airport", "railway": "With a railway station"}


@SITE.get("/")
def home(context: RequestContext) -> Response:
    """Show the country."""
    popular = [category for category in CATEGORIES if category.name in POPULAR]
    return context.render(
        "home.html",
        picture=country(context.db, label="Map of Valdera", zoom=WITH_PANEL),
        popular=popular,
        regions=context.rows("SELECT * FROM regions ORDER BY name"),
        num_places=context.value("SELECT count(*) FROM places"),
        num_towns=context.value("SELECT count(*) FROM towns"),
    )


@SITE.get("/towns")
def towns(context: RequestContext) -> Response:
    """List the towns, filtered and sorted."""
    region, transport = context.field("region"), context.field("transport")
    source = "towns t JOIN regions r ON r.id = t.region_id"
    listing = Listing(context, source, TOWN_SORTS, size=10)
    if region:
        listing.where("r.slug = ?", region)
    if transport in TRANSPORT:
        listing.where(f"t.has_{transport}")
    rows, pages = listing.rows("t.*, r.name region")
    regions = context.rows("SELECT slug, name FROM regions ORDER BY name")
    return context.render(
        "towns.html",
        towns=rows,
        pages=pages,
        regions=[("", "All regions"), *(tuple(row) for row in regions)],
        transports=[("", "Any"), *TRANSPORT.items()],
        sorts=listing.sorting,
        region=region,
        transport=transport,
        sort=context.field("sort"),
    )


@SITE.get("/town/{name}")
def town(context: RequestContext, name: str) -> Response:
    """Show a town."""
    row = context.find(
        "There is no such town.",
        "SELECT t.*, r.name region, r.slug region_slug FROM towns t"
        " JOIN regions r ON r.id = t.region_id WHERE t.slug = ?",
        name,
    )
    kinds = context.rows(
        "SELECT category, count(*) number FROM places WHERE town_id = ? GROUP BY category"
        " ORDER BY category",
        row["id"],
    )
    plurals = {category.name: category.plural for category in CATEGORIES}
    roads = context.rows(
        "SELECT r.name, r.kind, r.hectometres, t.name town, t.slug FROM roads r JOIN towns t"
        " ON t.id = CASE WHEN r.town_a = ? THEN r.town_b ELSE r.town_a END"
        " WHERE ? IN (r.town_a, r.town_b) ORDER BY t.name, r.name",
        row["id"],
        row["id"],
    )
    return context.render(
        "town.html",
        town=row,
        kinds=[(kind["category"], plurals[kind["category"]], kind["number"]) for kind in kinds],
        roads=roads,
        plan=town_plan(context.db, row["id"], label=f"Town plan of {row['name']}"),
        picture=country(
            context.db,
            label=f"Map of the country around {row['name']}",
            ends=[(row["x"], row["y"])],
            zoom=(row["x"], row["y"], 62),
        ),
    )


@SITE.get("/region/{name}")
def region(context: RequestContext, name: str) -> Response:
    """Show a region with its towns."""
    row = context.find("There is no such region.", "SELECT * FROM regions WHERE slug = ?", name)
    its_towns = context.rows("SELECT * FROM towns WHERE region_id = ? ORDER BY name", row["id"])
    xs, ys = [t["x"] for t in its_towns], [t["y"] for t in its_towns]
    middle = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
    half = max(max(xs) - min(xs) + 70, (max(ys) - min(ys) + 40) * RATIO) / 2
    return context.render(
        "region.html",
        region=row,
        towns=its_towns,
        inhabitants=sum(t["population"] for t in its_towns),
        picture=country(context.db, label=f"Map of {row['name']}", zoom=(*middle, half)),
    )


@SITE.get("/street/{number}")
def street(context: RequestContext, number: str) -> Response:
    """Show a street and the places on it."""
    row = context.find(
        "There is no such street.",
        "SELECT s.*, t.name town, t.slug town_slug FROM streets s JOIN towns t ON t.id = s.town_id"
        " WHERE s.id = ?",
        number,
    )
    places = context.rows(
        "SELECT id, house, name, category FROM places WHERE street_id = ? ORDER BY house", number
    )
    return context.render("street.html", street=row, places=places)
