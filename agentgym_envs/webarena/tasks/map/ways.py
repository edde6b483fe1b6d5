"""Tasks about routes: how long, how far, through which towns."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.map.routes import BICYCLE, CAR, FOOT, MODES, NO_MOTORWAYS
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import Screen, enter
from agentgym_envs.webarena.tasks.template import (
    Case,
    Template,
    World,
    exact_answer,
)

_CLEAR_MINUTES = 3  # between the best and the second best


class DriveMinutes(Template):
    """How long one drives between two places in different towns."""

    number = 60
    sites = ("map",)
    split = "train"
    intent = (
        "How many minutes does the quickest drive from {start} in {here} to {goal} in {there} "
        "take? Answer with the number of minutes alone."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw two places."""
        start, goal = steps.draw_place(world, rng), steps.draw_place(world, rng)
        if start["town"] == goal["town"]:
            return None
        way = steps.way_between(world, [steps.label(start), steps.label(goal)], CAR)
        values = {
            "start": start["name"],
            "here": start["town"],
            "goal": goal["name"],
            "there": goal["town"],
        }
        return Case(values, exact_answer(str(way.minutes)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Ask for directions and turn the time into minutes."""
        start = f"{case.values['start']}, {case.values['here']}"
        goal = f"{case.values['goal']}, {case.values['there']}"
        yield from steps.ask_way(screen, start, goal)
        time = steps.cells(screen.starting("row", "Car | "))[2]
        total = steps.minutes(time)
        yield screen.stop(str(total), f"The car takes {time}, which is {total} minutes.")


class QuickestTown(Template):
    """Which of several towns one reaches first by car."""

    number = 61
    sites = ("map",)
    split = "train"
    intent = (
        "Which of {first}, {second}, {third} and {fourth} is the quickest to reach by car from "
        "{start}, and how long is that drive? Answer with the town and the length as the map "
        "writes it, like Millbrook, 84.3 km"
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a start and four destinations with a clear winner."""
        start, *goals = steps.draw_towns(world, rng, 5)
        ways = sorted(
            ((steps.way_between(world, [start, goal], CAR), goal) for goal in goals),
            key=lambda entry: entry[0].minutes,
        )
        (best, town), (second, _) = ways[:2]
        if second.minutes - best.minutes < _CLEAR_MINUTES:
            return None
        values = dict(zip(("first", "second", "third", "fourth"), goals, strict=True))
        return Case(values | {"start": start}, exact_answer(f"{town}, {best.km}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Compare the four on the distances page."""
        goals = [case.values[name] for name in ("first", "second", "third", "fourth")]
        yield from steps.compare(screen, case.values["start"], goals)
        rows = [steps.cells(screen.starting("row", f"{goal} | ")) for goal in goals]
        town, kilometres, time = min(rows, key=lambda row: steps.minutes(row[2]))
        yield screen.stop(f"{town}, {kilometres}", f"{town} has the shortest time, {time}.")


class DetourLength(Template):
    """How much longer a drive gets through a third town."""

    number = 67
    sites = ("map",)
    split = "validation"
    intent = (
        "By how many kilometres is the quickest drive from {start} to {goal} through {via} longer "
        "than the quickest drive without that stop? Answer with the number alone, with one decimal."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw three towns; passing the third must cost something."""
        start, goal, via = steps.draw_towns(world, rng, 3)
        direct = steps.way_between(world, [start, goal], CAR)
        detour = steps.way_between(world, [start, via, goal], CAR)
        extra = detour.hectometres - direct.hectometres
        if extra < 10:
            return None
        values = {"start": start, "goal": goal, "via": via}
        return Case(values, exact_answer(f"{extra / 10:.1f}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


class TownsOnTheWay(Template):
    """Through which towns a route leads that is not the one shown at first."""

    number = 68
    sites = ("map",)
    split = "test"
    intent = (
        "Which towns does the quickest route {mode} from {start} to {goal} pass on the way? Answer "
        "with their names in the order of travel, separated by commas, without start and "
        "destination."
    )
    modes = {
        "by bicycle": BICYCLE,
        "on foot": FOOT,
        "by car without motorways": NO_MOTORWAYS,
    }

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw two towns with two to five in between."""
        start, goal = steps.draw_towns(world, rng, 2)
        mode = rng.choice(list(self.modes))
        way = steps.way_between(world, [start, goal], self.modes[mode])
        names = [leg.text.rpartition(" to ")[2] for leg in way.legs[:-1]]
        if not 2 <= len(names) <= 5:
            return None
        values = {"mode": mode, "start": start, "goal": goal}
        return Case(values, exact_answer(", ".join(names)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Show the mode's way and read the steps."""
        yield from steps.ask_way(screen, case.values["start"], case.values["goal"])
        title = self.modes[case.values["mode"]].title
        yield screen.click("link", title, "The steps shown are those by car on any road.")
        legs = [node.name for node in screen.all("listitem") if node.name.startswith("Take the ")]
        names = [leg.partition(" to ")[2].partition(" (")[0] for leg in legs[:-1]]
        yield screen.stop(", ".join(names), "The steps name every town on the way.")


class NearestAirport(Template):
    """Which town with an airport one reaches first by car or bicycle."""

    number = 69
    sites = ("map",)
    split = "test"
    intent = (
        "I am in {town}, which has no airport. Which town that has one can I reach in the shortest "
        "time {mode}? Answer with the town's name and the travelling time as the map writes it, "
        "like Millbrook, 1 h 5 min"
    )
    modes = {
        "by car": "car",
        "by bicycle": "bicycle",
        "by car without motorways": "car-no-motorways",
    }

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a town without an airport."""
        town = steps.draw_towns(world, rng, 1, "NOT has_airport")[0]
        mode = rng.choice(list(self.modes))
        airports = world.rows("map", "SELECT name FROM towns WHERE has_airport ORDER BY name")
        ways = sorted(
            (
                (
                    steps.way_between(world, [town, row["name"]], MODES[self.modes[mode]]),
                    row["name"],
                )
                for row in airports
            ),
            key=lambda entry: entry[0].minutes,
        )
        (best, name), (second, _) = ways[:2]
        if second.minutes - best.minutes < _CLEAR_MINUTES:
            return None
        return Case({"town": town, "mode": mode}, exact_answer(f"{name}, {best.time}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """List the airports, then compare the ways there."""
        yield from enter(screen, steps.SITE)
        yield screen.click("link", "Towns", "The list of towns tells which ones have an airport.")
        yield screen.choose("Transport", "With an airport")
        yield screen.click("button", "Show towns")
        goals = [steps.cells(row)[0] for row in screen.all("row") if "Airport" in row.name]
        mode = MODES[self.modes[case.values["mode"]]].title
        yield from steps.compare(screen, case.values["town"], goals, mode)
        rows = [steps.cells(screen.starting("row", f"{goal} | ")) for goal in goals]
        town, _, time = min(rows, key=lambda row: steps.minutes(row[2]))
        yield screen.stop(f"{town}, {time}", f"{town} is the quickest to reach of {len(goals)}.")
