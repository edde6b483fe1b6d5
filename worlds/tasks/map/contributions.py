"""Tasks that add to the map: corrections and reviews."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.contribute import FIELDS
from agentgym_envs.sites.map.hours import DAYS, clock
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.goals import changes, hours_of, identifier, impossible, page, row
from worlds.tasks.map import draws, steps
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS


class CorrectPlace(Template):
    """Suggests a correction of a phone number, of hours or of wheelchair access."""

    number = 66
    sites = ("map",)
    split = "train"
    intents = (
        "Suggest an edit of {place}, {town}: “{field}” should be {value}.",
        "The map is wrong about {place} in {town}. Suggest an edit: “{field}” should be {value}.",
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
        values = {
            "place": place["name"],
            "town": place["town"],
            "field": FIELDS[field],
            "value": value,
        }
        expected = identifier(value) if field == "phone" else hours_of(value)
        suggestion = row(
            "suggestions", user_id=AGENT_ID, place_id=place["id"], field=field, value=expected
        )
        # A comment that explains the suggestion is allowed.
        loosely = {"suggestions.comment": None} | (
            {} if isinstance(expected, str) else {"suggestions.value": expected}
        )
        return Case(values, changes(suggestion, loosely=loosely))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Fill in the form on the place's page."""
        yield from steps.open_place(screen, case.values["place"], case.values["town"])
        yield screen.click("link", "Suggest an edit")
        yield screen.choose("What is wrong", case.values["field"])
        yield screen.fill("textbox", "Correct value", case.values["value"])
        yield screen.click("button", "Send suggestion")
        yield screen.stop("", "The suggestion is sent.")


class ReviewPlace(Template):
    """Reviews a place that is given by its address, not its name."""

    number = 70
    sites = ("map",)
    split = "train"
    intents = (
        "Review the {kind} at {address}, {town}: {stars}, “{text}”",
        "Review the {kind} at {address} in {town} with {stars} and the text “{text}”",
    )
    texts: tuple[str, ...] = WORDS["map"]["texts"]

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place without the agent's review, the only one at its address."""
        place = draws.draw_place(
            world,
            dice,
            "p.id NOT IN (SELECT place_id FROM reviews WHERE user_id = 1)",
        )
        street = world.value("map", "SELECT name FROM streets WHERE id = ?", place["street_id"])
        rating, text = dice.between(1, 5), dice.pick(self.texts)
        values = _values(place, f"{place['house']} {street}", rating, text)
        goal = changes(
            row("reviews", user_id=AGENT_ID, place_id=place["id"], rating=rating, body=text),
            row("places", id=place["id"], num_reviews=place["num_reviews"] + 1),
        )
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Search the address, open the place and fill in the form."""
        address = f"{case.values['address']}, {case.values['town']}"
        yield from steps.search(screen, address, "I only know the address, so I search for it.")
        kind = case.values["kind"].capitalize()
        here = f" {case.values['address']}, "
        link = first_of(link for link, text in steps.results(screen) if here in text)
        yield screen.click_node(link, f"{link.name} is the {kind.lower()} at this address.")
        yield screen.click("link", "Write a review")
        yield screen.choose("Rating", case.values["stars"])
        yield screen.fill("textbox", "Review (optional)", case.values["text"])
        yield screen.click("button", "Post review")
        yield screen.stop("", "The review is posted.")


def _values(place: sqlite3.Row, address: str, rating: int, text: str) -> dict[str, str]:
    return {
        "kind": place["category"].lower(),
        "address": address,
        "town": place["town"],
        "stars": f"{rating} star{'s' * (rating > 1)}",
        "text": text,
    }


class NothingAtAddress(Template):
    """Review a place at an address without one."""

    number = 156
    sites = ("map",)
    split = "train"
    is_impossible = True
    intents = ReviewPlace.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place of some kind, and a number in its street that the map does not have."""
        place = draws.draw_place(world, dice)
        rows = world.rows(
            "map",
            "SELECT p.house, s.name FROM places p JOIN streets s ON s.id = p.street_id"
            " WHERE s.id = ? ORDER BY p.house",
            place["street_id"],
        )
        houses = [each["house"] for each in rows]
        house = dice.between(1, max(houses))
        if any(str(house) in str(other) or str(other) in str(house) for other in houses):
            return None
        text = dice.pick(ReviewPlace.texts)
        values = _values(place, f"{house} {rows[0]['name']}", dice.between(1, 5), text)
        here = ("address", values["address"], f"no {values['kind']}", f"number {house}")
        town = world.value("map", "SELECT slug FROM towns WHERE name = ?", values["town"])
        query = f"{values['address']} {values['town']} {values['kind']}"
        goal = impossible(
            here,
            (*_NOTHING, f"no {values['kind']}"),
            about=[values["address"]],
            pages=(page("map", f"/street/{place['street_id']}"), page("map", "/search", q=query),
                   page("map", f"/town/{town}*")),
            also=["street"],
        )  # fmt: skip
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Search the address, then look for the number on its street in vain."""
        address, town = case.values["address"], case.values["town"]
        yield from steps.search(screen, f"{address}, {town}", "I look for what is at this address.")
        street = address.partition(" ")[2]
        yield from steps.search(
            screen, f"{street}, {town}", "Nothing is there; I look at the street."
        )
        yield screen.click("link", f"{street}, {town}", "This page lists all places of the street.")
        if any(link.name == address for link in screen.all("link")):
            raise ElementNotFound(f"there is something at {address} after all")
        yield screen.give_up(f"There is no {case.values['kind']} at {address} in {town}.")


_NOTHING = ("no place", "no such", "no house", "no number", "no building", "no address", "no entry",
            "no result", "no match", "none ", "not exist", "n't exist", "nothing", "not find",
            "n't find", "not found", "be found", "not list", "n't list", "not on the map",
            "n't on the map")  # fmt: skip
"""Words of reasons that there is no such place."""
