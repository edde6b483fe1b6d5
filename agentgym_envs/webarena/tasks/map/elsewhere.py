"""A task about a place that is in another town."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.map.hours import DAYS
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.map.looking_up import KEEPS_HOURS, ClosingTime
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.template import IMPOSSIBLE, Case, Template, World, impossible


class PlaceInAnotherTown(Template):
    """Asks for the opening hours of a place that the town does not have."""

    number = 75
    sites = ("map",)
    split = "train"
    is_impossible = True
    intent = ClosingTime.intent

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a place of one town, and a town that has none of its name."""
        place = steps.draw_place(world, rng, KEEPS_HOURS)
        (town,) = steps.draw_towns(world, rng, 1)
        namesakes = world.rows(
            "map",
            "SELECT 1 FROM places p JOIN towns t ON t.id = p.town_id "
            "WHERE t.name = ? AND (p.name LIKE '%' || ? || '%' OR ? LIKE '%' || p.name || '%')",
            *(town, place["name"], place["name"]),
        )
        if namesakes or town in place["name"]:
            return None
        values = {"place": place["name"], "town": town, "day": rng.choice(DAYS)}
        return Case(values, impossible())

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Search for it in the town, then everywhere."""
        place, town = case.values["place"], case.values["town"]
        yield from steps.search(screen, f"{place}, {town}", f"I look for {place} in {town}.")
        yield from steps.search(
            screen, place, f"Nothing in {town}; I look whether it is elsewhere."
        )
        if any(f"{town}" in text for link, text in steps.results(screen) if link.name == place):
            raise ElementNotFound(f"{place} is in {town} after all")
        yield screen.stop(IMPOSSIBLE, f"{town} has no {place}.")
