"""Solves tasks that end on a page of the map: a route, what lies near a place, a place."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.categories import BY_NAME, CATEGORIES
from agentgym_envs.sites.map.routes import BICYCLE, FOOT, NO_MOTORWAYS
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.solution import Case

_BY_PLURAL = {category.plural.lower(): category.name for category in CATEGORIES}
ROUTE_TO_EXTREME_TOWN_MODES = {
    "by bicycle": BICYCLE,
    "on foot": FOOT,
    "by car without motorways": NO_MOTORWAYS,
}

ROUTE_TO_EXTREME_TOWN_FEATURES = {
    "with the most inhabitants": ("population", "DESC"),
    "with the fewest inhabitants": ("population", "ASC"),
    "at the highest elevation": ("elevation", "DESC"),
    "at the lowest elevation": ("elevation", "ASC"),
}

_ROUTE_TO_EXTREME_TOWN_SORTS = {
    "population": "Inhabitants, most first",
    "elevation": "Elevation, highest first",
}


def route_to_extreme_town(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def near_best_rated(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort by rating, open the first, and filter what is near it."""
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


def first_or_last_open(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
