"""Tasks with the account: addresses, personal data, reviews."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.shopping.personal import DEFAULT
from agentgym_envs.webarena.tasks.shopping.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.sites.shopping.customers import phone, postcode_of, street
from worlds.tasks.shopping.draws import AGENT_ID, rows, same_number_of, unchanged
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS

_ADDRESSES = (
    "SELECT name, street, town, postcode, phone, is_default FROM addresses "
    f"WHERE customer_id = {AGENT_ID} ORDER BY id"
)


class AddAddress(Template):
    """Add an address, as the default one or not."""

    number = 8
    sites = (SITE,)
    split = "train"
    intent = (
        "Add an address to my address book: {name}, {street}, {postcode} {town}, phone {phone}. "
        "{default}"
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person and a place."""
        town = dice.pick(TOWNS)
        values = {
            "name": dice.pick(world.people).name,
            "street": street(dice),
            "town": town,
            "postcode": postcode_of(town),
            "phone": phone(dice),
            "default": dice.pick(sorted(DEFAULT)),
        }
        is_default = DEFAULT[values["default"]]
        expected = [list(row) for row in rows(world, _ADDRESSES)]
        for row in expected:
            row[-1] = int(row[-1] and not is_default)
        new = [values[key] for key in ("name", "street", "town", "postcode", "phone")]
        return Case(
            values, changed(state_of(SITE, _ADDRESSES, [*expected, [*new, int(is_default)]]))
        )


class MovedHouse(Template):
    """Correct an address of somebody who has moved within the town or out of it."""

    number = 9
    sites = (SITE,)
    split = "validation"
    intent = (
        "{person}, who is in my address book with an address in {town}, has moved to {street}, "
        "{postcode} {new_town}. Correct the address; name and phone number stay as they are."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an address and a new place."""
        addresses = [list(row) for row in rows(world, _ADDRESSES)]
        changing = dice.pick(addresses[1:])
        town = dice.pick(TOWNS)
        values = {
            "person": changing[0],
            "town": changing[2],
            "street": street(dice),
            "postcode": postcode_of(town),
            "new_town": town,
        }
        if town == changing[2]:
            return None
        changing[1:4] = [values["street"], town, values["postcode"]]
        return Case(values, changed(state_of(SITE, _ADDRESSES, addresses)))


class ReviewFromOrder(Template):
    """Review the most expensive product of an order."""

    number = 10
    sites = (SITE,)
    split = "test"
    intent = (
        "Write a review of the product in my order {order} that has the highest price for one "
        'piece: {stars} stars, the title "{title}", and the text "{text}"'
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order with one dearest product, and an opinion."""
        order = dice.pick(
            rows(world, f"SELECT * FROM orders WHERE customer_id = {AGENT_ID} ORDER BY id")
        )
        items = rows(
            world,
            "SELECT i.product_id, i.price, p.is_enabled FROM order_items i "
            "JOIN products p ON p.id = i.product_id WHERE i.order_id = ? ORDER BY i.price DESC",
            order["id"],
        )
        stars, title, text = dice.pick(WORDS["shopping"]["opinions"])
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


class NewPhone(Template):
    """Change the phone number and subscribe to the newsletter."""

    number = 14
    sites = (SITE,)
    split = "train"
    intent = (
        "I have a new phone number, {phone}. Change it in my personal data (not in my addresses), "
        "and subscribe me to the newsletter."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a number."""
        number = phone(dice)
        query = f"SELECT name, email, phone, newsletter FROM customers WHERE id = {AGENT_ID}"
        name, email, *_ = rows(world, query)[0]
        goal = state_of(SITE, query, [[name, email, number, 1]])
        return Case(
            {"phone": number},
            changed(goal, unchanged(world, _ADDRESSES), same_number_of(world, "customers")),
        )
