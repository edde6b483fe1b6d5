"""Tasks with the account: addresses, personal data, reviews."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.people import TOWNS, people
from agentgym_envs.webarena.sites.shopping.made_customers import phone, postcode_of, street
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.shopping.opinions import OPINIONS
from agentgym_envs.webarena.tasks.shopping.template_helpers import (
    AGENT_ID,
    SITE,
    cents_in,
    open_account,
    rows,
    same_number_of,
    show_orders,
    table_rows,
    unchanged,
)
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_ADDRESSES = (
    "SELECT name, street, town, postcode, phone, is_default FROM addresses "
    f"WHERE customer_id = {AGENT_ID} ORDER BY id"
)
_DEFAULT = {
    "Make it my default address.": True,
    "Keep my default address as it is.": False,
}


class AddAddress(Template):
    """Add an address, as the default one or not."""

    number = 8
    sites = (SITE,)
    split = "train"
    intent = (
        "Add an address to my address book: {name}, {street}, {postcode} {town}, phone {phone}. "
        "{default}"
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a person and a place."""
        town = rng.choice(TOWNS)
        values = {
            "name": rng.choice(people()).name,
            "street": street(rng),
            "town": town,
            "postcode": postcode_of(town),
            "phone": phone(rng),
            "default": rng.choice(sorted(_DEFAULT)),
        }
        is_default = _DEFAULT[values["default"]]
        expected = [list(row) for row in rows(world, _ADDRESSES)]
        for row in expected:
            row[-1] = int(row[-1] and not is_default)
        new = [values[key] for key in ("name", "street", "town", "postcode", "phone")]
        return Case(
            values, changed(state_of(SITE, _ADDRESSES, [*expected, [*new, int(is_default)]]))
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Fill in the form."""
        yield from open_account(screen, "Address book")
        yield screen.click("link", "Add an address", "A new address is wanted.")
        for label in ("Name", "Street", "Town", "Postcode", "Phone"):
            yield screen.fill("textbox", label, case.values[label.lower()])
        if _DEFAULT[case.values["default"]]:
            yield screen.click("checkbox", "Use as default address", "It is to be the default.")
        yield screen.click("button", "Save address", "The form is complete.")
        yield screen.stop()


class MovedHouse(Template):
    """Correct an address of somebody who has moved within the town or out of it."""

    number = 9
    sites = (SITE,)
    split = "validation"
    intent = (
        "{person}, who is in my address book with an address in {town}, has moved to {street}, "
        "{postcode} {new_town}. Correct the address; name and phone number stay as they are."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw an address and a new place."""
        addresses = [list(row) for row in rows(world, _ADDRESSES)]
        changing = rng.choice(addresses[1:])
        town = rng.choice(TOWNS)
        values = {
            "person": changing[0],
            "town": changing[2],
            "street": street(rng),
            "postcode": postcode_of(town),
            "new_town": town,
        }
        if town == changing[2]:
            return None
        changing[1:4] = [values["street"], town, values["postcode"]]
        return Case(values, changed(state_of(SITE, _ADDRESSES, addresses)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Edit three lines."""
        yield from open_account(screen, "Address book")
        for node in screen.all("link"):
            if node.name.startswith("Edit ") and node.name.endswith(f", {case.values['town']}"):
                yield screen.click_node(node, "This is the address that has changed.")
                break
        yield screen.fill("textbox", "Street", case.values["street"])
        yield screen.fill("textbox", "Town", case.values["new_town"])
        yield screen.fill("textbox", "Postcode", case.values["postcode"])
        yield screen.click("button", "Save address", "Name and phone stay.")
        yield screen.stop()


class ReviewFromOrder(Template):
    """Review the most expensive product of an order."""

    number = 10
    sites = (SITE,)
    split = "test"
    intent = (
        "Write a review of the product in my order {order} that has the highest price for one "
        'piece: {stars} stars, the title "{title}", and the text "{text}"'
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw an order with one dearest product, and an opinion."""
        order = rng.choice(
            rows(world, f"SELECT * FROM orders WHERE customer_id = {AGENT_ID} ORDER BY id")
        )
        items = rows(
            world,
            "SELECT i.product_id, i.price, p.is_enabled FROM order_items i "
            "JOIN products p ON p.id = i.product_id WHERE i.order_id = ? ORDER BY i.price DESC",
            order["id"],
        )
        stars, title, text = rng.choice(OPINIONS)
        if len(items) < 2 or items[0]["price"] == items[1]["price"] or not items[0]["is_enabled"]:
            return None
        last = world.value(SITE, "SELECT max(id) FROM reviews")
        query = (
            f"SELECT product_id, customer_id, rating, title, body FROM reviews WHERE id > {last}"
        )
        written = [items[0]["product_id"], AGENT_ID, stars, title, text]
        return Case(
            {"order": order["number"], "stars": str(stars), "title": title, "text": text},
            changed(state_of(SITE, query, [written])),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the order, compare prices, write."""
        values = case.values
        yield from show_orders(screen)
        while not screen.has("link", values["order"]):
            yield screen.click("link", "Next", "The order is older than these.")
        yield screen.click("link", values["order"], "This is the order.")
        items = [
            (cents_in(cells[1]), cells[0]) for _, cells in table_rows(screen) if _is_item(cells)
        ]
        yield screen.click("link", max(items)[1], "This is its most expensive product.")
        yield screen.click("link", "Write a review", "I write the review.")
        yield screen.click("radio", f"{values['stars']} stars", "I choose the rating.")
        yield screen.fill("textbox", "Title", values["title"])
        yield screen.fill("textbox", "Review", values["text"])
        yield screen.click("button", "Submit review", "Everything is filled in.")
        yield screen.stop()


def _is_item(cells: list[str]) -> bool:
    return len(cells) == 4 and cells[1].startswith("$")


class NewPhone(Template):
    """Change the phone number and subscribe to the newsletter."""

    number = 14
    sites = (SITE,)
    split = "train"
    intent = (
        "I have a new phone number, {phone}. Change it in my personal data (not in my addresses), "
        "and subscribe me to the newsletter."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a number."""
        number = phone(rng)
        query = f"SELECT name, email, phone, newsletter FROM customers WHERE id = {AGENT_ID}"
        name, email, *_ = rows(world, query)[0]
        goal = state_of(SITE, query, [[name, email, number, 1]])
        return Case(
            {"phone": number},
            changed(goal, unchanged(world, _ADDRESSES), same_number_of(world, "customers")),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Two forms of the account."""
        yield from open_account(screen, "Personal data")
        yield screen.fill("textbox", "Phone", case.values["phone"])
        yield screen.click("button", "Save data", "The new number is filled in.")
        yield screen.click("link", "Newsletter", "Now the newsletter.")
        yield screen.click("checkbox", "I want to get the newsletter", "I subscribe.")
        yield screen.click("button", "Save choice", "I save this.")
        yield screen.stop()
