"""Tasks that go through the places of a kind in a town: count, compare, pick out."""

from __future__ import annotations

from agentgym_envs.webarena.sites.map.categories import BY_NAME
from agentgym_envs.webarena.sites.map.hours import DAYS
from agentgym_envs.webarena.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.map import draws
from worlds.tasks.template import Case, Template, World, changed, exact_answer, state_of


class OpenAtTime(Template):
    """How many places of a kind are open at a moment of the week."""

    number = 63
    sites = ("map",)
    split = "train"
    intent = "How many {kind} in {town} are open on {day} at {time}? Answer with the number alone."
    kinds = ("Restaurant", "Cafe", "Pub", "Bakery", "Supermarket", "Museum", "Pharmacy")
    times = ("08:15", "12:45", "16:15", "17:45", "18:15", "19:45", "20:15", "21:15")

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw kind, town and moment; some that open on that day must be shut just then."""
        kind, day, time = dice.pick(self.kinds), dice.below(7), dice.pick(self.times)
        town = draws.draw_towns(world, dice, 1)[0]
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


class FreeMuseums(Template):
    """Puts every free museum of a town on a list."""

    number = 64
    sites = ("map",)
    split = "train"
    intent = (
        "Put every museum in {town} that has free entrance on my list {list}. Put nothing else on "
        "it and take nothing off it."
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


class CheapestHotel(Template):
    """The cheapest hotel of a town that has enough stars."""

    number = 73
    sites = ("map",)
    split = "validation"
    intent = (
        "Which hotel with at least {stars} stars in {town} has the cheapest double room? Answer "
        "with the hotel's name alone."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a town and stars such that a cheaper hotel has fewer of them."""
        town, stars = draws.draw_towns(world, dice, 1)[0], dice.pick((3, 4, 5))
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
