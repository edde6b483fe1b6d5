"""Tasks that add to the map: corrections and reviews."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.map.community import AGENT_ID
from agentgym_envs.webarena.sites.map.contribute import FIELDS
from agentgym_envs.webarena.sites.map.hours import DAYS, clock
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of


class CorrectPlace(Template):
    """Suggests a correction of a phone number, of hours or of wheelchair access."""

    number = 66
    sites = ("map",)
    split = "train"
    intent = (
        "The map is wrong about {place} in {town}: “{field}” should be {value}. Suggest that edit."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a place and a value that differs from the map's."""
        place = steps.draw_place(world, rng)
        field = rng.choice(("phone", "phone", "wheelchair", rng.choice(DAYS).lower()))
        if field == "phone":
            value = f"{place['phone'][:8]}{rng.randrange(1000):03}"
        elif field == "wheelchair":
            value = rng.choice(("yes", "limited", "no"))
        else:
            opens = rng.randrange(12, 22) * 30
            value = f"{clock(opens)}-{clock(opens + rng.randrange(6, 20) * 30)}"
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
    intent = (
        "Review the {kind} at {address} in {town}: give it {stars} and write “{text}” as the text."
    )
    texts = (
        "Quick and friendly, even at noon.", "Nice people but a long wait.",
        "I would come again any day.", "Hard to find behind the scaffolding.",
        "Better than the old one down the road.", "Too warm inside, otherwise fine.",
        "A calm spot in a loud street.", "They helped me when nobody else could.",
    )  # fmt: skip

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a place that the agent has not reviewed and that is alone at its address."""
        place = steps.draw_place(
            world,
            rng,
            "p.id NOT IN (SELECT place_id FROM reviews WHERE user_id = 1)",
        )
        street = world.value("map", "SELECT name FROM streets WHERE id = ?", place["street_id"])
        rating, text = rng.randrange(1, 6), rng.choice(self.texts)
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Search the address, open the place and fill in the form."""
        address = f"{case.values['address']}, {case.values['town']}"
        yield from steps.search(screen, address, "I only know the address, so I search for it.")
        kind = case.values["kind"].capitalize()
        here = f" {case.values['address']}, "
        link = next(link for link, text in steps.results(screen) if here in text)
        yield screen.click_node(link, f"{link.name} is the {kind.lower()} at this address.")
        yield screen.click("link", "Write a review")
        yield screen.choose("Rating", case.values["stars"])
        yield screen.fill("textbox", "Review (optional)", case.values["text"])
        yield screen.click("button", "Post review")
        yield screen.stop("", "The review is posted.")
