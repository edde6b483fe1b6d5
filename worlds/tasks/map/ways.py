"""Tasks about routes: how long, how far, through which towns."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.routes import BICYCLE, CAR, FOOT, MODES, NO_MOTORWAYS
from worlds.dice import Dice
from worlds.tasks.goals import all_of, answers, list_of, measure, name
from worlds.tasks.map import draws, steps
from worlds.tasks.screen import Screen, enter
from worlds.tasks.template import Case, Template, World

_CLEAR_MINUTES = 3  # between the best and the second best


class DriveMinutes(Template):
    """The drive between two places in different towns, in minutes."""

    number = 60
    sites = ("map",)
    split = "train"
    intents = (
        "How many minutes is the quickest drive from {start}, {here}, to {goal}, {there}?",
        "How many minutes does the quickest drive from {start} in {here} to {goal} in {there} "
        "take?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two places."""
        start, goal = draws.draw_place(world, dice), draws.draw_place(world, dice)
        if start["town"] == goal["town"]:
            return None
        way = draws.way_between(world, [draws.label(start), draws.label(goal)], CAR)
        values = {
            "start": start["name"],
            "here": start["town"],
            "goal": goal["name"],
            "there": goal["town"],
        }
        return Case(values, answers(measure("duration", f"{way.minutes} minutes", "minute")))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Ask for directions and turn the time into minutes."""
        start = f"{case.values['start']}, {case.values['here']}"
        goal = f"{case.values['goal']}, {case.values['there']}"
        yield from steps.ask_way(screen, start, goal)
        time = steps.cells(screen.starting("row", "Car | "))[2]
        total = steps.minutes(time)
        yield screen.stop(str(total), f"The car takes {time}, which is {total} minutes.")


class QuickestTown(Template):
    """The one of several towns that a car reaches first."""

    number = 61
    sites = ("map",)
    split = "train"
    intents = (
        "Which is quickest by car from {start}: {first}, {second}, {third} or {fourth}? How far?",
        "Which of {first}, {second}, {third} and {fourth} can I reach quickest by car from "
        "{start}, and how far is that?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a start and four destinations with a clear winner."""
        start, *goals = draws.draw_towns(world, dice, 5)
        ways = sorted(
            ((draws.way_between(world, [start, goal], CAR), goal) for goal in goals),
            key=lambda entry: entry[0].minutes,
        )
        (best, town), (second, _) = ways[:2]
        if second.minutes - best.minutes < _CLEAR_MINUTES:
            return None
        values = dict(zip(("first", "second", "third", "fourth"), goals, strict=True))
        return Case(
            values | {"start": start},
            answers(all_of(name(town), measure("distance", best.km, "kilometre"))),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Compare the four on the distances page."""
        goals = [case.values[name] for name in ("first", "second", "third", "fourth")]
        yield from steps.compare(screen, case.values["start"], goals)
        rows = [steps.cells(screen.starting("row", f"{goal} | ")) for goal in goals]
        town, kilometres, time = min(rows, key=lambda row: steps.minutes(row[2]))
        yield screen.stop(f"{town}, {kilometres}", f"{town} has the shortest time, {time}.")


class DetourLength(Template):
    """The length that a third town adds to a drive."""

    number = 67
    sites = ("map",)
    split = "validation"
    intents = (
        "How many km longer is the quickest drive from {start} to {goal} via {via}?",
        "How many kilometres longer is the quickest drive from {start} to {goal} if it passes "
        "{via}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw three towns, so that passing the third is a detour."""
        start, goal, via = draws.draw_towns(world, dice, 3)
        direct = draws.way_between(world, [start, goal], CAR)
        detour = draws.way_between(world, [start, via, goal], CAR)
        extra = detour.hectometres - direct.hectometres
        if extra < 10:
            return None
        values = {"start": start, "goal": goal, "via": via}
        return Case(values, answers(measure("distance", f"{extra / 10:.1f} km", "kilometre")))

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


TOWNS_ON_THE_WAY_MODES = {
    "by bicycle": BICYCLE,
    "on foot": FOOT,
    "by car without motorways": NO_MOTORWAYS,
}


class TownsOnTheWay(Template):
    """Through which towns a route leads that is not the one shown at first."""

    number = 68
    sites = ("map",)
    split = "test"
    intents = (
        "Which towns does the quickest route {mode} from {start} to {goal} pass, in order?",
        "I go from {start} to {goal} {mode} by the quickest route. Which towns do I pass, in "
        "order?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two towns with two to five in between."""
        start, goal = draws.draw_towns(world, dice, 2)
        mode = dice.pick(list(TOWNS_ON_THE_WAY_MODES))
        way = draws.way_between(world, [start, goal], TOWNS_ON_THE_WAY_MODES[mode])
        names = [leg.text.rpartition(" to ")[2] for leg in way.legs[:-1]]
        if not 2 <= len(names) <= 5:
            return None
        values = {"mode": mode, "start": start, "goal": goal}
        return Case(values, answers(list_of(*map(name, names))))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


class NearestAirport(Template):
    """The town with an airport that a car or a bicycle reaches first."""

    number = 69
    sites = ("map",)
    split = "test"
    intents = (
        "Which airport town is quickest {mode} from {town}, and how long does it take?",
        "Which town with an airport can I reach quickest {mode} from {town}, and in what time?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a town without an airport."""
        town = draws.draw_towns(world, dice, 1, "NOT has_airport")[0]
        mode = dice.pick(list(NEAREST_AIRPORT_MODES))
        airports = world.rows("map", "SELECT name FROM towns WHERE has_airport ORDER BY name")
        ways = sorted(
            (
                (
                    draws.way_between(
                        world, [town, row["name"]], MODES[NEAREST_AIRPORT_MODES[mode]]
                    ),
                    row["name"],
                )
                for row in airports
            ),
            key=lambda entry: entry[0].minutes,
        )
        (best, airport), (second, _) = ways[:2]
        if second.minutes - best.minutes < _CLEAR_MINUTES:
            return None
        return Case(
            {"town": town, "mode": mode},
            answers(all_of(name(airport), measure("duration", best.time))),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
