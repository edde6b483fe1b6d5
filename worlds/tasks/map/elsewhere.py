"""A task about a place that is in another town."""

from __future__ import annotations

from agentgym_envs.webarena.sites.map.hours import DAYS
from worlds.dice import Dice
from worlds.tasks.map import draws
from worlds.tasks.map.looking_up import KEEPS_HOURS, ClosingTime
from worlds.tasks.template import Case, Template, World, impossible


class PlaceInAnotherTown(Template):
    """Asks for the opening hours of a place that the town does not have."""

    number = 75
    sites = ("map",)
    split = "train"
    is_impossible = True
    intent = ClosingTime.intent

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place of one town, and a town that has none of its name."""
        place = draws.draw_place(world, dice, KEEPS_HOURS)
        (town,) = draws.draw_towns(world, dice, 1)
        namesakes = world.rows(
            "map",
            "SELECT 1 FROM places p JOIN towns t ON t.id = p.town_id "
            "WHERE t.name = ? AND (p.name LIKE '%' || ? || '%' OR ? LIKE '%' || p.name || '%')",
            *(town, place["name"], place["name"]),
        )
        if namesakes or town in place["name"]:
            return None
        values = {"place": place["name"], "town": town, "day": dice.pick(DAYS)}
        return Case(values, impossible())
