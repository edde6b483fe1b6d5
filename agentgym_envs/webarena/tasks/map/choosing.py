"""Tasks that go through the places of a kind in a town: count, compare, pick out."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.map.categories import BY_NAME
from agentgym_envs.webarena.sites.map.community import AGENT_ID
from agentgym_envs.webarena.sites.map.hours import DAYS
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import Screen, over_pages
from agentgym_envs.webarena.tasks.template import (
    Case,
    Template,
    World,
    changed,
    exact_answer,
    state_of,
)


class OpenAtTime(Template):
    """How many places of a kind are open at a moment of the week."""

    number = 63
    sites = ("map",)
    split = "train"
    intent = "How many {kind} in {town} are open on {day} at {time}? Answer with the number alone."
    kinds = ("Restaurant", "Cafe", "Pub", "Bakery", "Supermarket", "Museum", "Pharmacy")
    times = ("08:15", "12:45", "16:15", "17:45", "18:15", "19:45", "20:15", "21:15")

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw kind, town and moment; some that open on that day must be shut just then."""
        kind, day, time = rng.choice(self.kinds), rng.randrange(7), rng.choice(self.times)
        town = steps.draw_towns(world, rng, 1)[0]
        minute = int(time[:2]) * 60 + int(time[3:])
        spans = world.rows(
            "map",
            "SELECT h.opens, h.closes FROM hours h JOIN places p ON p.id = h.place_id"
            " JOIN towns t ON t.id = p.town_id WHERE p.category = ? AND t.name = ? AND h.day = ?",
            *(kind, town, day),
        )
        number = sum(span["opens"] <= minute < span["closes"] for span in spans)
        if not 0 < number < len(spans):
            return None
        values = {
            "kind": BY_NAME[kind].plural.lower(),
            "town": town,
            "day": DAYS[day],
            "time": time,
        }
        return Case(values, exact_answer(str(number)))

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
    intent = (
        "Put every museum in {town} that has free entrance on my list {list}. Put nothing else on "
        "it and take nothing off it."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a town with one to three free museums, and a list without them."""
        town = steps.draw_towns(world, rng, 1)[0]
        museums = world.rows(
            "map",
            "SELECT p.id, p.price FROM places p JOIN towns t ON t.id = p.town_id"
            " WHERE p.category = 'Museum' AND t.name = ? ORDER BY p.id",
            town,
        )
        free = [museum["id"] for museum in museums if museum["price"] == 0]
        chosen = rng.choice(
            world.rows("map", "SELECT id, name FROM lists WHERE user_id = ? ORDER BY id", AGENT_ID)
        )
        before = [
            row["place_id"]
            for row in world.rows(
                "map",
                "SELECT place_id FROM saved WHERE list_id = ? ORDER BY place_id",
                chosen["id"],
            )
        ]
        if not 1 <= len(free) <= 3 or len(museums) > 6 or set(free) & set(before):
            return None
        after = sorted([*before, *free])
        query = f"SELECT place_id FROM saved WHERE list_id = {chosen['id']} ORDER BY place_id"
        num_saved = world.value("map", "SELECT count(*) FROM saved")
        return Case(
            {"town": town, "list": chosen["name"]},
            changed(
                state_of("map", query, [[place] for place in after]),
                state_of("map", "SELECT count(*) FROM saved", [[num_saved + len(free)]]),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open one museum after the other and save those that are free."""
        query = f"museums in {case.values['town']}"
        yield from steps.search(screen, query)
        names = [link.name for link, _ in steps.results(screen)]
        for number, name in enumerate(names):
            if number:
                yield from steps.search(screen, query, f"Next comes {name}.")
            yield screen.click("link", name, f"I look whether {name} is free.")
            fee = steps.fact(screen, "Entrance fee")
            if fee == "Free":
                yield screen.click("link", "Save", "Its entrance is free.")
                yield screen.choose("List", case.values["list"])
                yield screen.click("button", "Save place")
        yield screen.stop("", "I have looked at every museum of the town.")


class CheapestHotel(Template):
    """The cheapest hotel of a town that has enough stars."""

    number = 73
    sites = ("map",)
    split = "validation"
    intent = (
        "Which hotel with at least {stars} stars in {town} has the cheapest double room? Answer "
        "with the hotel's name alone."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a town and stars such that a cheaper hotel has fewer of them."""
        town, stars = steps.draw_towns(world, rng, 1)[0], rng.choice((3, 4, 5))
        hotels = world.rows(
            "map",
            "SELECT p.name, p.price, f.value + 0 stars FROM places p JOIN towns t"
            " ON t.id = p.town_id JOIN facts f ON f.place_id = p.id AND f.name = 'Stars'"
            " WHERE p.category = 'Hotel' AND t.name = ? ORDER BY p.price",
            town,
        )
        good = [hotel for hotel in hotels if hotel["stars"] >= stars]
        if not good or len(hotels) > 9 or hotels[0]["stars"] >= stars:
            return None
        if len(good) > 1 and good[0]["price"] == good[1]["price"]:
            return None
        return Case({"stars": str(stars), "town": town}, exact_answer(good[0]["name"]))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open every hotel, read stars and price, and keep the cheapest that will do."""
        query = f"hotels in {case.values['town']}"
        yield from steps.search(screen, query)
        names = [link.name for link, _ in steps.results(screen)]
        hotels: list[tuple[float, str]] = []
        for number, name in enumerate(names):
            if number:
                yield from steps.search(screen, query, f"Next comes {name}.")
            yield screen.click("link", name, f"I look at the stars and the price of {name}.")
            stars, price = steps.fact(screen, "Stars"), steps.fact(screen, "Double room from")
            if int(stars) >= int(case.values["stars"]):
                hotels.append((float(price.removeprefix("$").replace(",", "")), name))
        cheapest, name = min(hotels)
        thought = f"Of those with enough stars, {name} is cheapest at ${cheapest:.2f}."
        yield screen.stop(name, thought)
