"""Tasks that add to the map: corrections and reviews."""

from __future__ import annotations

from agentgym_envs.webarena.sites.map.contribute import FIELDS
from agentgym_envs.webarena.sites.map.hours import DAYS, clock
from agentgym_envs.webarena.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.map import draws
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS


class CorrectPlace(Template):
    """Suggests a correction of a phone number, of hours or of wheelchair access."""

    number = 66
    sites = ("map",)
    split = "train"
    intent = (
        "The map is wrong about {place} in {town}: “{field}” should be {value}. Suggest that edit."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place and a value that differs from the map's."""
        place = draws.draw_place(world, dice)
        field = dice.pick(("phone", "phone", "wheelchair", dice.pick(DAYS).lower()))
        if field == "phone":
            value = f"{place['phone'][:8]}{dice.below(1000):03}"
        elif field == "wheelchair":
            value = dice.pick(("yes", "limited", "no"))
        else:
            opens = dice.between(12, 21) * 30
            value = f"{clock(opens)}-{clock(opens + dice.between(6, 19) * 30)}"
        if value in (place["phone"], place["wheelchair"]):
            return None
        last = world.value("map", "SELECT max(id) FROM suggestions")
        query = (
            "SELECT user_id, place_id, field, value, status FROM suggestions"
            f" WHERE id > {last} ORDER BY id"
        )
        others = world.value("map", "SELECT count(*) FROM suggestions")
        values = {
            "place": place["name"],
            "town": place["town"],
            "field": FIELDS[field],
            "value": value,
        }
        return Case(
            values,
            changed(
                state_of("map", query, [[AGENT_ID, place["id"], field, value, "pending"]]),
                state_of("map", "SELECT count(*) FROM suggestions", [[others + 1]]),
            ),
        )


class ReviewPlace(Template):
    """Reviews a place that is given by its address, not its name."""

    number = 70
    sites = ("map",)
    split = "train"
    intent = (
        "Review the {kind} at {address} in {town}: give it {stars} and write “{text}” as the text."
    )
    texts: tuple[str, ...] = WORDS["map"]["texts"]

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place that the agent has not reviewed and that is alone at its address."""
        place = draws.draw_place(
            world,
            dice,
            "p.id NOT IN (SELECT place_id FROM reviews WHERE user_id = 1)",
        )
        street = world.value("map", "SELECT name FROM streets WHERE id = ?", place["street_id"])
        rating, text = dice.between(1, 5), dice.pick(self.texts)
        mine = f"SELECT rating, body FROM reviews WHERE user_id = {AGENT_ID} AND place_id = "
        number = world.value("map", "SELECT count(*) FROM reviews")
        values = {
            "kind": place["category"].lower(),
            "address": f"{place['house']} {street}",
            "town": place["town"],
            "stars": f"{rating} star{'s' * (rating > 1)}",
            "text": text,
        }
        return Case(
            values,
            changed(
                state_of("map", f"{mine}{place['id']}", [[rating, text]]),
                state_of("map", "SELECT count(*) FROM reviews", [[number + 1]]),
            ),
        )
