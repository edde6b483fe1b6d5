"""Tasks that go through the places of a kind in a town: count, compare, pick out."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.categories import BY_NAME
from agentgym_envs.sites.map.hours import DAYS
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.goals import NONE, answers, changes, impossible, name, number, page, row
from worlds.tasks.map import draws, steps
from worlds.tasks.screen import ElementNotFound, Screen, over_pages
from worlds.tasks.template import Case, Template, World


class OpenAtTime(Template):
    """The number of places of a kind that are open at a moment of the week."""

    number = 63
    sites = ("map",)
    split = "train"
    intents = (
        "How many {kind} in {town} are open on {day} at {time}?",
        "I get to {town} on {day} at {time}. How many {kind} are open then?",
    )
    kinds = ("Restaurant", "Cafe", "Pub", "Bakery", "Supermarket", "Museum", "Pharmacy")
    times = ("08:15", "12:45", "16:15", "17:45", "18:15", "19:45", "20:15", "21:15")

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw kind, town and moment, so that some places are shut only at that time."""
        kind, day, time = dice.pick(self.kinds), dice.below(7), dice.pick(self.times)
        town = draws.draw_towns(world, dice, 1)[0]
        minute = int(time[:2]) * 60 + int(time[3:])
        spans = world.rows(
            "map",
            "SELECT h.opens, h.closes FROM hours h JOIN places p ON p.id = h.place_id"
            " JOIN towns t ON t.id = p.town_id WHERE p.category = ? AND t.name = ? AND h.day = ?",
            *(kind, town, day),
        )
        count = sum(span["opens"] <= minute < span["closes"] for span in spans)
        if not 0 < count < len(spans):
            return None
        values = {
            "kind": BY_NAME[kind].plural.lower(),
            "town": town,
            "day": DAYS[day],
            "time": time,
        }
        return Case(values, answers(number(count, kind.lower())))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter by day and count the hours that hold the time."""
        day, time = case.values["day"], case.values["time"]
        yield from steps.search(screen, f"{case.values['kind']} in {case.values['town']}")
        yield screen.choose("Open on", day, f"With the filter the list tells the hours on {day}.")
        yield screen.click("button", "Apply filters")
        listed = yield from over_pages(screen, lambda: steps.results(screen))
        spans = [text.partition(f"{day} ")[2].partition("-") for _, text in listed]
        number = sum(not closes or opens <= time < closes for opens, _, closes in spans)
        yield screen.stop(str(number), f"{number} of them are open at {time}.")


class FreeMuseums(Template):
    """Puts every free museum of a town on a list."""

    number = 64
    sites = ("map",)
    split = "train"
    intents = (
        "Put every free museum in {town} on my list {list}.",
        "Which museums in {town} are free? Put all of them on my list {list}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a town with one to three free museums, and a list without them."""
        town = draws.draw_towns(world, dice, 1)[0]
        museums = world.rows(
            "map",
            "SELECT p.id, p.price FROM places p JOIN towns t ON t.id = p.town_id"
            " WHERE p.category = 'Museum' AND t.name = ? ORDER BY p.id",
            town,
        )
        free = [museum["id"] for museum in museums if museum["price"] == 0]
        chosen = dice.pick(
            world.rows("map", "SELECT id, name FROM lists WHERE user_id = ? ORDER BY id", AGENT_ID)
        )
        saved = world.rows("map", "SELECT place_id FROM saved WHERE list_id = ?", chosen["id"])
        if not 1 <= len(free) <= 3 or len(museums) > 6:
            return None
        if set(free) & {each["place_id"] for each in saved}:
            return None
        added = [row("saved", list_id=chosen["id"], place_id=place, note="") for place in free]
        return Case({"town": town, "list": chosen["name"]}, changes(*added))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open one museum after the other and save those that are free."""
        query = f"museums in {case.values['town']}"
        yield from steps.search(screen, query)
        names = [link.name for link, _ in steps.results(screen)]
        for place, museum in enumerate(names):
            if place:
                yield from steps.search(screen, query, f"Next comes {museum}.")
            yield screen.click("link", museum, f"I look whether {museum} is free.")
            fee = steps.fact(screen, "Entrance fee")
            if fee == "Free":
                yield screen.click("link", "Save", "Its entrance is free.")
                yield screen.choose("List", case.values["list"])
                yield screen.click("button", "Save place")
        yield screen.stop("", "I have looked at every museum of the town.")


_STARS = (3, 4, 5)


def _hotels(world: World, town: str) -> list[sqlite3.Row]:
    """List the hotels of a town with their stars, the cheapest first."""
    return world.rows(
        "map",
        "SELECT p.id, p.name, p.price, f.value + 0 stars FROM places p JOIN towns t"
        " ON t.id = p.town_id JOIN facts f ON f.place_id = p.id AND f.name = 'Stars'"
        " WHERE p.category = 'Hotel' AND t.name = ? ORDER BY p.price",
        town,
    )


def _read_hotels(
    case: Case, screen: Screen
) -> Generator[ExpertMove, None, list[tuple[int, float, str]]]:
    """Open every hotel of the town and return its stars, its price and its name."""
    query = f"hotels in {case.values['town']}"
    yield from steps.search(screen, query)
    names = [link.name for link, _ in steps.results(screen)]
    hotels: list[tuple[int, float, str]] = []
    for place, hotel in enumerate(names):
        if place:
            yield from steps.search(screen, query, f"Next comes {hotel}.")
        yield screen.click("link", hotel, f"I look at the stars and the price of {hotel}.")
        stars, price = steps.fact(screen, "Stars"), steps.fact(screen, "Double room from")
        hotels.append((int(stars), float(price.removeprefix("$").replace(",", "")), hotel))
    return hotels


class CheapestHotel(Template):
    """The cheapest hotel of a town that has enough stars."""

    number = 73
    sites = ("map",)
    split = "validation"
    intents = (
        "Which hotel in {town} with {stars}+ stars has the cheapest double room?",
        "Which hotel with at least {stars} stars in {town} has the cheapest double room?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a town and stars such that a cheaper hotel has fewer of them."""
        town, stars = draws.draw_towns(world, dice, 1)[0], dice.pick(_STARS)
        hotels = _hotels(world, town)
        good = [hotel for hotel in hotels if hotel["stars"] >= stars]
        if not good or len(hotels) > 9 or hotels[0]["stars"] >= stars:
            return None
        if len(good) > 1 and good[0]["price"] == good[1]["price"]:
            return None
        return Case({"stars": str(stars), "town": town}, answers(name(good[0]["name"])))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Take the cheapest of the hotels that will do."""
        hotels = yield from _read_hotels(case, screen)
        good = [
            (price, name) for stars, price, name in hotels if stars >= int(case.values["stars"])
        ]
        cheapest, name = min(good)
        thought = f"Of those with enough stars, {name} is cheapest at ${cheapest:.2f}."
        yield screen.stop(name, thought)


class NoSuchHotel(Template):
    """The cheapest hotel with more stars than any hotel of the town has."""

    number = 155
    sites = ("map",)
    split = "validation"
    is_impossible = True
    intents = CheapestHotel.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a town and stars that none of its hotels has."""
        town, stars = draws.draw_towns(world, dice, 1)[0], dice.pick(_STARS)
        hotels = _hotels(world, town)
        if not 1 <= len(hotels) <= 9 or any(hotel["stars"] >= stars for hotel in hotels):
            return None
        slug = world.value("map", "SELECT slug FROM towns WHERE name = ?", town)
        goal = impossible(
            ("star",),
            ("hotel", "none", town),
            (*NONE, "fewer", "less", "only", "at most", "all "),
            about=[town],
            also=["enough"],
            pages=(
                page("map", "/search", q=f"hotel hotels in {town} with {stars} stars"),
                page("map", f"/town/{slug}*"),
                *(page("map", f"/place/{hotel['id']}*") for hotel in hotels),
            ),
        )
        return Case({"stars": str(stars), "town": town}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look at every hotel and find none with as many stars."""
        hotels = yield from _read_hotels(case, screen)
        most = max(stars for stars, _, _ in hotels)
        if most >= int(case.values["stars"]):
            raise ElementNotFound("a hotel has enough stars after all")
        yield screen.give_up(f"No hotel in {case.values['town']} has more than {most} stars.")
