"""The pages that one looks around on: home, towns, regions, streets."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.map.categories import CATEGORIES
from agentgym_envs.webarena.sites.map.drawing import RATIO, country
from agentgym_envs.webarena.sites.map.plan import town_plan
from agentgym_envs.webarena.sites.map.site import SITE
from agentgym_envs.webarena.sites.paging import Pages
from agentgym_envs.webarena.sites.web import NotFound, Visit

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
def home(visit: Visit) -> Response:
    """Show the country."""
    popular = [category for category in CATEGORIES if category.name in POPULAR]
    return visit.render(
        "home.html",
        picture=country(visit.db, label="Map of Valdera", zoom=WITH_PANEL),
        popular=popular,
        regions=visit.rows("SELECT * FROM regions ORDER BY name"),
        num_places=visit.value("SELECT count(*) FROM places"),
        num_towns=visit.value("SELECT count(*) FROM towns"),
    )


@SITE.get("/towns")
def towns(visit: Visit) -> Response:
    """List the towns, filtered and sorted."""
    region, transport, sort = visit.field("region"), visit.field("transport"), visit.field("sort")
    condition, values = "1", []
    if region:
        condition, values = "r.slug = ?", [region]
    if transport in TRANSPORT:
        condition += f" AND t.has_{transport}"
    order = TOWN_SORTS.get(sort, TOWN_SORTS["name"])[1]
    joined = "FROM towns t JOIN regions r ON r.id = t.region_id"
    pages = Pages.of(visit, visit.value(f"SELECT count(*) {joined} WHERE {condition}", *values), 10)
    found = visit.rows(
        f"SELECT t.*, r.name region {joined} WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?",
        *(*values, pages.size, pages.offset),
    )
    regions = visit.rows("SELECT slug, name FROM regions ORDER BY name")
    return visit.render(
        "towns.html",
        towns=found,
        pages=pages,
        regions=[("", "All regions"), *(tuple(row) for row in regions)],
        transports=[("", "Any"), *TRANSPORT.items()],
        sorts=[(key, title) for key, (title, _) in TOWN_SORTS.items()],
        region=region,
        transport=transport,
        sort=sort,
    )


@SITE.get("/town/{name}")
def town(visit: Visit, name: str) -> Response:
    """Show a town."""
    found = visit.row(
        "SELECT t.*, r.name region, r.slug region_slug FROM towns t"
        " JOIN regions r ON r.id = t.region_id WHERE t.slug = ?",
        name,
    )
    if found is None:
        raise NotFound("There is no such town.")
    kinds = visit.rows(
        "SELECT category, count(*) number FROM places WHERE town_id = ? GROUP BY category"
        " ORDER BY category",
        found["id"],
    )
    plurals = {category.name: category.plural for category in CATEGORIES}
    roads = visit.rows(
        "SELECT r.name, r.kind, r.hectometres, t.name town, t.slug FROM roads r JOIN towns t"
        " ON t.id = CASE WHEN r.town_a = ? THEN r.town_b ELSE r.town_a END"
        " WHERE ? IN (r.town_a, r.town_b) ORDER BY t.name, r.name",
        found["id"],
        found["id"],
    )
    return visit.render(
        "town.html",
        town=found,
        kinds=[(kind["category"], plurals[kind["category"]], kind["number"]) for kind in kinds],
        roads=roads,
        plan=town_plan(visit.db, found["id"], label=f"Town plan of {found['name']}"),
        picture=country(
            visit.db,
            label=f"Map of the country around {found['name']}",
            ends=[(found["x"], found["y"])],
            zoom=(found["x"], found["y"], 62),
        ),
    )


@SITE.get("/region/{name}")
def region(visit: Visit, name: str) -> Response:
    """Show a region with its towns."""
    found = visit.row("SELECT * FROM regions WHERE slug = ?", name)
    if found is None:
        raise NotFound("There is no such region.")
    its_towns = visit.rows("SELECT * FROM towns WHERE region_id = ? ORDER BY name", found["id"])
    xs, ys = [t["x"] for t in its_towns], [t["y"] for t in its_towns]
    middle = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
    half = max(max(xs) - min(xs) + 70, (max(ys) - min(ys) + 40) * RATIO) / 2
    return visit.render(
        "region.html",
        region=found,
        towns=its_towns,
        inhabitants=sum(t["population"] for t in its_towns),
        picture=country(visit.db, label=f"Map of {found['name']}", zoom=(*middle, half)),
    )


@SITE.get("/street/{number}")
def street(visit: Visit, number: str) -> Response:
    """Show a street and what lies on it."""
    found = visit.row(
        "SELECT s.*, t.name town, t.slug town_slug FROM streets s JOIN towns t ON t.id = s.town_id"
        " WHERE s.id = ?",
        number,
    )
    if found is None:
        raise NotFound("There is no such street.")
    places = visit.rows(
        "SELECT id, house, name, category FROM places WHERE street_id = ? ORDER BY house", number
    )
    return visit.render("street.html", street=found, places=places)
