"""Solves tasks about routes: how long, how far, through which towns."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.routes import BICYCLE, FOOT, MODES, NO_MOTORWAYS
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import Screen, enter
from agentgym_envs.webarena.tasks.solution import Case


def drive_minutes(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Ask for directions and turn the time into minutes."""
    start = f"{case.values['start']}, {case.values['here']}"
    goal = f"{case.values['goal']}, {case.values['there']}"
    yield from steps.ask_way(screen, start, goal)
    time = steps.cells(screen.starting("row", "Car | "))[2]
    total = steps.minutes(time)
    yield screen.stop(str(total), f"The car takes {time}, which is {total} minutes.")


def quickest_town(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Compare the four on the distances page."""
    goals = [case.values[name] for name in ("first", "second", "third", "fourth")]
    yield from steps.compare(screen, case.values["start"], goals)
    rows = [steps.cells(screen.starting("row", f"{goal} | ")) for goal in goals]
    town, kilometres, time = min(rows, key=lambda row: steps.minutes(row[2]))
    yield screen.stop(f"{town}, {kilometres}", f"{town} has the shortest time, {time}.")


def detour_length(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Ask for both ways and subtract."""
    start, goal = case.values["start"], case.values["goal"]
    yield from steps.ask_way(screen, start, goal, thought="The direct drive comes first.")
    direct = steps.kilometres(steps.cells(screen.starting("row", "Car | "))[1])
    yield screen.fill(
        "textbox",
        "Via (optional)",
        case.values["via"],
        f"The direct drive has {direct:.1f} km; now the one through {case.values['via']}.",
        enter=True,
    )
    detour = steps.kilometres(steps.cells(screen.starting("row", "Car | "))[1])
    extra = f"{detour - direct:.1f}"
    yield screen.stop(extra, f"{detour:.1f} km less {direct:.1f} km is {extra} km.")


TOWNS_ON_THE_WAY_MODES = {
    "by bicycle": BICYCLE,
    "on foot": FOOT,
    "by car without motorways": NO_MOTORWAYS,
}


def towns_on_the_way(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Show the mode's way and read the steps."""
    yield from steps.ask_way(screen, case.values["start"], case.values["goal"])
    title = TOWNS_ON_THE_WAY_MODES[case.values["mode"]].title
    yield screen.click("link", title, "The steps shown are those by car on any road.")
    legs = [node.name for node in screen.all("listitem") if node.name.startswith("Take the ")]
    names = [leg.partition(" to ")[2].partition(" (")[0] for leg in legs[:-1]]
    yield screen.stop(", ".join(names), "The steps name every town on the way.")


NEAREST_AIRPORT_MODES = {
    "by car": "car",
    "by bicycle": "bicycle",
    "by car without motorways": "car-no-motorways",
}


def nearest_airport(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """List the airports, then compare the ways there."""
    yield from enter(screen, steps.SITE)
    yield screen.click("link", "Towns", "The list of towns tells which ones have an airport.")
    yield screen.choose("Transport", "With an airport")
    yield screen.click("button", "Show towns")
    goals = [steps.cells(row)[0] for row in screen.all("row") if "Airport" in row.name]
    mode = MODES[NEAREST_AIRPORT_MODES[case.values["mode"]]].title
    yield from steps.compare(screen, case.values["town"], goals, mode)
    rows = [steps.cells(screen.starting("row", f"{goal} | ")) for goal in goals]
    town, _, time = min(rows, key=lambda row: steps.minutes(row[2]))
    yield screen.stop(f"{town}, {time}", f"{town} is the quickest to reach of {len(goals)}.")
