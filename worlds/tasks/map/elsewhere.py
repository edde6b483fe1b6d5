"""A task about a place that is in another town."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.hours import DAYS
from worlds.dice import Dice
from worlds.tasks.goals import impossible, page
from worlds.tasks.map import draws, steps
from worlds.tasks.map.looking_up import KEEPS_HOURS, ClosingTime
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.template import Case, Template, World


class PlaceInAnotherTown(Template):
    """Asks for the opening hours of a place that the town does not have."""

    number = 75
    sites = ("map",)
    split = "train"
    is_impossible = True
    intents = ClosingTime.intents

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
        slug = world.value("map", "SELECT slug FROM towns WHERE name = ?", town)
        goal = impossible(
            *_reason(place["name"], town, place["town"]),
            about=[place["name"]],
            pages=(page("map", f"/place/{place['id']}*"), page("map", f"/town/{slug}*"),
                   page("map", "/search", q=f"{place['name']} {town}")),
        )  # fmt: skip
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Search for it in the town, then everywhere."""
        place, town = case.values["place"], case.values["town"]
        yield from steps.search(screen, f"{place}, {town}", f"I look for {place} in {town}.")
        yield from steps.search(
            screen, place, f"Nothing in {town}; I look whether it is elsewhere."
        )
        if any(f"{town}" in text for link, text in steps.results(screen) if link.name == place):
            raise ElementNotFound(f"{place} is in {town} after all")
        yield screen.give_up(f"{town} has no {place}.")


def _reason(place: str, town: str, real_town: str) -> tuple[tuple[str, ...], ...]:
    """Return phrases that say the place is not in the town, or where it really is."""
    nots = tuple(f"{no} {at}{town}" for no in ("not", "n't") for at in ("in ", "located in "))
    here = (*nots, f"outside {town}", f"outside of {town}")
    nowhere = ("no such", "no place", "not exist", "n't exist", "not find", "n't find",
               "not found", "be found", "nothing", "no result", "no match", "not there",
               "n't there", "nowhere", "no entry", "elsewhere", "another town", "other town",
               "different town", "wrong town", "not on the map", "not have a place",
               "n't have a place", "not list")  # fmt: skip
    names = (
        f"no {place}",
        f"not have {place}",
        f"n't have {place}",
        f"in {real_town}",
        f"not have a {place}",
        f" lacks {place}",
    )
    words = [word for word in place.split() if len(word) > 3]
    where = (town, "town", "there", "elsewhere", "that")
    # That there is no such town is another reason.
    which = (place, *words, "place", "it ", "it'", "such", "find", "found", "result", "match",
             "locat", "elsewhere", " town", "nothing", "nowhere", "entry", real_town)  # fmt: skip
    return where, (*here, *nowhere, *names), which
