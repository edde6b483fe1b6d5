"""Tasks that end on a page of the map: a route, nearby places, or a place's own page."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from math import hypot
from urllib.parse import urlencode

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.categories import BY_NAME, CATEGORIES
from agentgym_envs.sites.map.find import PAGE_SIZE
from agentgym_envs.sites.map.hours import DAYS
from agentgym_envs.sites.map.place import DEFAULT_RADIUS, RADII
from agentgym_envs.sites.map.routes import BICYCLE, FOOT, NO_MOTORWAYS
from worlds.dice import Dice
from worlds.tasks.goals import shows
from worlds.tasks.map import draws, steps
from worlds.tasks.screen import Screen, enter, first_of
from worlds.tasks.template import Case, Template, World

_NEARBY_SHOWN = 10  # places on the first page of what is near


_ROUTE_TO_EXTREME_TOWN_SORTS = {
    "population": "Inhabitants, most first",
    "elevation": "Elevation, highest first",
}


ROUTE_TO_EXTREME_TOWN_FEATURES = {
    "with the most inhabitants": ("population", "DESC"),
    "with the fewest inhabitants": ("population", "ASC"),
    "at the highest elevation": ("elevation", "DESC"),
    "at the lowest elevation": ("elevation", "ASC"),
}


ROUTE_TO_EXTREME_TOWN_MODES = {
    "by bicycle": BICYCLE,
    "on foot": FOOT,
    "by car without motorways": NO_MOTORWAYS,
}


class RouteToExtremeTown(Template):
    """Shows a route through one town to another that stands out in its region."""

    number = 77
    sites = ("map",)
    split = "train"
    intents = (
        "Show directions {mode} from {start} via {via} to {region}'s town {feature}.",
        "Show me directions {mode} from {start} via {via} to the town {feature} in {region}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw region and feature, and two more towns, one of them off the direct way."""
        region = dice.pick(world.rows("map", "SELECT id, name FROM regions ORDER BY id"))
        feature, mode = (
            dice.pick(list(ROUTE_TO_EXTREME_TOWN_FEATURES)),
            dice.pick(list(ROUTE_TO_EXTREME_TOWN_MODES)),
        )
        column, order = ROUTE_TO_EXTREME_TOWN_FEATURES[feature]
        best, second = world.rows(
            "map",
            f"SELECT name, {column} size FROM towns WHERE region_id = ?"
            f" ORDER BY {column} {order}, id LIMIT 2",
            region["id"],
        )
        goal = best["name"]
        start, via = draws.draw_towns(world, dice, 2)
        if best["size"] == second["size"] or goal in (start, via):
            return None
        direct = draws.way_between(world, [start, goal], ROUTE_TO_EXTREME_TOWN_MODES[mode])
        if any(leg.text.endswith(f" to {via}") for leg in direct.legs):
            return None
        query = {
            "from": start,
            "to": goal,
            "via": via,
            "mode": ROUTE_TO_EXTREME_TOWN_MODES[mode].name,
        }
        if ROUTE_TO_EXTREME_TOWN_MODES[mode] is NO_MOTORWAYS:
            query |= {"mode": "car", "no_motorways": "1"}
        values = {
            "mode": mode,
            "start": start,
            "via": via,
            "region": region["name"],
            "feature": feature,
        }
        return Case(values, shows(f"__MAP__/directions?{urlencode(query)}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the town in the sorted list of its region, then ask for the way there."""
        region, feature = case.values["region"], case.values["feature"]
        column, order = ROUTE_TO_EXTREME_TOWN_FEATURES[feature]
        yield from enter(screen, steps.SITE)
        yield screen.click("link", "Towns", f"I look for the town {feature} in {region}.")
        yield screen.choose("Region", region, f"Only the towns in {region} count.")
        yield screen.choose(
            "Sort by", _ROUTE_TO_EXTREME_TOWN_SORTS[column], "Sorted, it stands at one of the ends."
        )
        yield screen.click("button", "Show towns")
        rows = [steps.cells(row) for row in screen.all("row")]
        towns = [row[0] for row in rows if row[1] == region]
        goal = towns[0] if order == "DESC" else towns[-1]
        yield screen.click("link", "Directions", f"It is {goal}; now I ask for the way there.")
        yield screen.fill("textbox", "From", case.values["start"], "I fill in the start.")
        yield screen.fill("textbox", "To", goal, f"{goal} is the destination.")
        yield screen.fill(
            "textbox", "Via (optional)", case.values["via"], "The route has to pass this town."
        )
        mode = ROUTE_TO_EXTREME_TOWN_MODES[case.values["mode"]]
        if mode is NO_MOTORWAYS:
            yield screen.click("checkbox", "Avoid motorways", "The car is to keep off motorways.")
        else:
            yield screen.choose("Travel by", mode.title, "The form is set to the car.")
        yield screen.click("button", "Get directions", "Everything is filled in.")
        yield screen.stop("", f"The page shows the way to {goal}, as it was asked for.")


_BY_PLURAL = {category.plural.lower(): category.name for category in CATEGORIES}


class NearBestRated(Template):
    """Shows the places of a kind around the best rated place of another kind, on one page."""

    number = 78
    sites = ("map",)
    split = "train"
    intents = (
        "Show all {kinds} within {radius} of {town}'s best rated {other}.",
        "Show me the list of all {kinds} that are within {radius} of the best rated {other} in "
        "{town}.",
    )
    others = ("Restaurant", "Cafe", "Pub", "Bakery", "Hotel", "Museum", "Supermarket", "Pharmacy",
              "School", "Park", "Bank", "Doctor")  # fmt: skip
    kinds = ("Cafe", "Bakery", "Supermarket", "Pharmacy", "Hospital", "Library", "Bookshop",
             "Bicycle shop", "Cinema", "Theatre", "Swimming pool", "Viewpoint", "Campsite",
             "Charging station", "Petrol station", "Bank", "Museum", "Park")  # fmt: skip
    # Wide circles mostly hold another number than the usual one, and would be drawn mostly.
    radii = ("500 m",) * 5 + ("1 km",) * 8 + ("20 km",) * 5 + ("40 km",) * 2

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a single best rated place, and a radius that changes the places within it."""
        other, kind = dice.pick(self.others), dice.pick(self.kinds)
        town = draws.draw_towns(world, dice, 1)[0]
        radius = dice.pick(self.radii)
        reach = next(value for value, text in RADII if text == radius)
        ranked = world.rows(
            "map",
            "SELECT p.id, p.x, p.y, p.rating FROM places p JOIN towns t ON t.id = p.town_id"
            " WHERE p.category = ? AND t.name = ? ORDER BY p.rating DESC, p.id LIMIT 2",
            *(other, town),
        )
        if other == kind or len(ranked) < 2 or not 0 < ranked[1]["rating"] < ranked[0]["rating"]:
            return None
        best = ranked[0]
        lengths = [
            hypot(row["x"] - best["x"], row["y"] - best["y"])
            for row in world.rows("map", "SELECT x, y FROM places WHERE category = ?", kind)
        ]
        number = sum(length <= float(reach) for length in lengths)
        usual = sum(length <= float(DEFAULT_RADIUS) for length in lengths)
        if not 0 < number <= _NEARBY_SHOWN or number == usual:
            return None
        values = {
            "kinds": BY_NAME[kind].plural.lower(),
            "radius": radius,
            "other": other.lower(),
            "town": town,
        }
        query = urlencode({"category": kind, "within": reach})
        return Case(values, shows(f"__MAP__/place/{best['id']}/nearby?{query}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by rating, open the first, and filter the places near it."""
        other, town = BY_NAME[case.values["other"].capitalize()], case.values["town"]
        yield from steps.search(screen, f"{other.plural.lower()} in {town}")
        yield screen.choose("Sort by", "Rating", f"I look for the best rated {other.name.lower()}.")
        yield screen.click("button", "Apply filters")
        link, _ = first_of(steps.results(screen))
        yield screen.click_node(link, f"{link.name} comes first, so it is rated best.")
        yield screen.click("link", "Nearby", "The nearby page lists what is around it.")
        kinds = case.values["kinds"]
        yield screen.choose("Category", _BY_PLURAL[kinds], f"Only {kinds} are asked for.")
        radius = case.values["radius"]
        yield screen.choose("Within", radius, f"The list is to reach {radius} far.")
        yield screen.click("button", "Show nearby places")
        yield screen.stop("", f"These are the {kinds} around {link.name}.")


class FirstOrLastOpen(Template):
    """Opens the page of the place that opens first or closes last of those with full access."""

    number = 79
    sites = ("map",)
    split = "test"
    intents = (
        "Of {town}'s fully wheelchair-accessible {kinds}, open the one that {feature} on {day}.",
        "Of the {kinds} in {town} with full wheelchair access, open the page of the one that "
        "{feature} on {day}.",
    )
    kinds = ("Restaurant", "Cafe", "Pub", "Bakery", "Supermarket", "Museum", "Bookshop",
             "Bicycle shop", "Doctor", "School", "Bank")  # fmt: skip
    features = ("opens first", "closes last")

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw kind, town and feature, then one of the days on which one place stands out."""
        kind, town = dice.pick(self.kinds), draws.draw_towns(world, dice, 1)[0]
        feature = dice.pick(self.features)
        early = "h.opens" if feature == "opens first" else "-h.closes"
        rows = world.rows(
            "map",
            f"SELECT h.day, p.id, p.wheelchair = 'yes' is_good, {early} rank FROM places p"
            " JOIN towns t ON t.id = p.town_id JOIN hours h ON h.place_id = p.id"
            " WHERE p.category = ? AND t.name = ? ORDER BY rank, p.id",
            *(kind, town),
        )
        by_day = [[row for row in rows if row["day"] == day] for day in range(len(DAYS))]
        clear = [day for day, places in enumerate(by_day) if _is_clear(places)]
        if not clear:
            return None
        day = dice.pick(clear)
        best = next(row["id"] for row in by_day[day] if row["is_good"])
        values = {
            "kinds": BY_NAME[kind].plural.lower(),
            "town": town,
            "feature": feature,
            "day": DAYS[day],
        }
        return Case(values, shows(f"__MAP__/place/{best}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter by day and access, compare the hours, and open the place."""
        day, feature = case.values["day"], case.values["feature"]
        yield from steps.search(screen, f"{case.values['kinds']} in {case.values['town']}")
        yield screen.choose("Open on", day, f"With the filter the list tells the hours on {day}.")
        yield screen.click("checkbox", "Full wheelchair access", "The others do not count.")
        yield screen.click("button", "Apply filters")
        result = []
        for link, text in steps.results(screen):
            opens, _, closes = text.partition(f" {day} ")[2].partition("-")
            result.append((opens, closes, link))
        if feature == "opens first":
            time, _, link = min(result, key=lambda entry: entry[0])
        else:
            _, time, link = max(result, key=lambda entry: entry[1])
        yield screen.click_node(link, f"{link.name} {feature}, at {time}.")
        yield screen.stop("", f"This is the page of {link.name}.")


def _is_clear(places: Sequence[sqlite3.Row]) -> bool:
    """Return whether one good place comes before the other good ones, and some other no later."""
    good = [row["rank"] for row in places if row["is_good"]]
    others = [row["rank"] for row in places if not row["is_good"]]
    is_alone = 2 <= len(good) <= PAGE_SIZE and good[0] < good[1]
    return is_alone and bool(others) and others[0] <= good[0]
