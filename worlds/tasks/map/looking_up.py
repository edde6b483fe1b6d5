"""Tasks that look one thing up about one place."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.categories import BY_NAME
from agentgym_envs.sites.map.hours import DAYS, clock
from worlds.dice import Dice
from worlds.tasks.goals import Answer, answers, identifier, measure, name
from worlds.tasks.map import draws, steps
from worlds.tasks.screen import Screen, first_of
from worlds.tasks.template import Case, Template, World

_REACH = 2.0  # km: what the nearby page shows at first


_CLEAR = 0.03  # km between the nearest and the next


KEEPS_HOURS = "EXISTS (SELECT 1 FROM hours h WHERE h.place_id = p.id AND h.closes < 1440)"
"""SQL: a place p closes on some day."""


class NearestPhone(Template):
    """The phone number of the nearest place of a kind."""

    number = 62
    sites = ("map",)
    split = "train"
    intents = (
        "Give the phone number of the {kind} nearest to {place}, {town}, as the crow flies.",
        "I am at {place} in {town}. What is the phone number of the {kind} nearest to me as the "
        "crow flies?",
    )
    kinds = ("Pharmacy", "Bakery", "Supermarket", "Bank", "Charging station", "Cafe", "Hotel",
             "Petrol station", "Bookshop", "Bicycle shop", "Doctor", "Museum")  # fmt: skip

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place and a kind of which one is clearly the nearest."""
        place, kind = draws.draw_place(world, dice), dice.pick(self.kinds)
        others = world.rows(
            "map",
            "SELECT * FROM places WHERE category = ? AND id != ? AND town_id = ?",
            *(kind, place["id"], place["town_id"]),
        )
        near = sorted((hypot(o["x"] - place["x"], o["y"] - place["y"]), o["phone"]) for o in others)
        near = [entry for entry in near if entry[0] <= _REACH]
        if len(near) < 2 or near[1][0] - near[0][0] < _CLEAR or place["category"] == kind:
            return None
        values = {
            "kind": BY_NAME[kind].name.lower(),
            "place": place["name"],
            "town": place["town"],
        }
        return Case(values, answers(identifier(near[0][1])))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the nearby places by kind and open the first."""
        yield from steps.open_place(screen, case.values["place"], case.values["town"])
        yield screen.click("link", "Nearby", "The nearby page sorts by distance.")
        yield screen.choose("Category", case.values["kind"].capitalize())
        yield screen.click("button", "Show nearby places")
        link, text = first_of(steps.results(screen))
        yield screen.click_node(link, f"{link.name} comes first: {text}.")
        phone = steps.fact(screen, "Phone")
        yield screen.stop(phone, f"The details give the phone number {phone}.")


class ClosingTime(Template):
    """The time at which a place closes on a day."""

    number = 74
    sites = ("map",)
    split = "train"
    intents = (
        "When does {place} in {town} close on {day}, if it opens?",
        "At what time does {place} in {town} close on {day}, if it opens at all that day?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place that keeps hours, and a day."""
        place = draws.draw_place(world, dice, KEEPS_HOURS)
        day = dice.below(7)
        closes = world.value(
            "map", "SELECT closes FROM hours WHERE place_id = ? AND day = ?", place["id"], day
        )
        if closes is None and dice.chance(0.7):
            return None
        values = {"place": place["name"], "town": place["town"], "day": DAYS[day]}
        return Case(values, answers(_CLOSED if closes is None else measure("time", clock(closes))))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the place's opening hours."""
        yield from steps.open_place(screen, case.values["place"], case.values["town"])
        hours = steps.fact(screen, case.values["day"])
        thought = f"On {case.values['day']} the hours are {hours}."
        yield screen.stop(hours.rpartition("-")[2].lower(), thought)


_CLOSED: Answer = {
    **name("closed all day"),
    "also": ["closed", "does not open", "doesn't open", "is not open", "isn't open", "not open"],
}
