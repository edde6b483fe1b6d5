"""Tasks with the account: addresses, personal data, reviews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentgym_envs.sites.people import AGENT, AGENT_ID
from agentgym_envs.webarena.tasks.shopping.personal import DEFAULT
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.sites.shopping.customers import phone, postcode_of, street
from worlds.tasks.goals import NONE, Way, changes, impossible, page, row
from worlds.tasks.shopping.draws import rows
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_ADDRESSES = f"SELECT * FROM addresses WHERE customer_id = {AGENT_ID} ORDER BY is_default DESC, id"


class AddAddress(Template):
    """Add an address, as the default one or not."""

    number = 8
    sites = (SITE,)
    split = "train"
    intents = (
        "Add {name}, {street}, {postcode} {town}, phone {phone}, to my address book. {default}",
        "Add this address to my address book: {name}, {street}, {postcode} {town}, with the phone "
        "number {phone}. {default}",
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
        is_default = int(DEFAULT[values["default"]])
        new = {key: values[key] for key in ("name", "street", "town", "postcode", "phone")}
        address = row("addresses", customer_id=AGENT_ID, is_default=is_default, **new)
        old = row("addresses", id=rows(world, _ADDRESSES)[0]["id"], is_default=0)
        return Case(values, changes(address, *([old] if is_default else [])))


class MovedHouse(Template):
    """Correct an address of somebody who has moved to another town."""

    number = 9
    sites = (SITE,)
    split = "validation"
    intents = (
        "Change {person}'s {town} address to {street}, {postcode} {new_town}.",
        "Change the {town} address of {person} to {street}, {postcode} {new_town}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an address and a new place."""
        old = dice.pick(rows(world, _ADDRESSES)[1:])
        values = _moving(dice, old["name"], old["town"])
        if values["new_town"] == old["town"]:
            return None
        goal = changes(row("addresses", id=old["id"], **_new_place(values)))
        return Case(values, goal, {"old": dict(old)})

    def other_ways(self, case: Case, way: Way) -> Sequence[Way]:
        """Let the address be deleted and entered anew."""
        new = case.notes["old"] | _new_place(case.values)
        key = {"id": new.pop("id")}
        return [{SITE: {"addresses": {"removed": [key], "added": [new]}}}]


class MovedFromElsewhere(Template):
    """Correct an address that is not in the address book."""

    number = 146
    sites = (SITE,)
    split = "validation"
    is_impossible = True
    intents = MovedHouse.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw somebody of the address book and a town where only somebody else has an address."""
        addresses = rows(world, _ADDRESSES)
        person, town = (dice.pick(addresses[1:])[column] for column in ("name", "town"))
        towns = [address["town"] for address in addresses if address["name"] == person]
        values = _moving(dice, person, town)
        if town in towns or values["new_town"] in (town, *towns):
            return None
        address = ("such address", "such an address", "matching address", "that address")
        goal = impossible(
            (town, *towns, *address),
            (*NONE, *towns),
            about=[person, town],
            also=["another town"],
            pages=[page(SITE, "/account/addresses*")],
        )
        return Case(values, goal)


def _moving(dice: Dice, person: str, town: str) -> dict[str, str]:
    new = dice.pick(TOWNS)
    place = {"street": street(dice), "postcode": postcode_of(new), "new_town": new}
    return {"person": person, "town": town, **place}


def _new_place(values: Mapping[str, str]) -> dict[str, str]:
    return {"street": values["street"], "town": values["new_town"], "postcode": values["postcode"]}


class ReviewFromOrder(Template):
    """Review the most expensive product of an order."""

    number = 10
    sites = (SITE,)
    split = "test"
    intents = (
        'Review the highest priced product in order {order}: {stars} stars, "{title}", "{text}"',
        "Review the product with the highest unit price in my order {order}: {stars} stars, "
        '"{title}", "{text}"',
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
        written = {"rating": stars, "title": title, "body": text, "status": "pending"}
        product = items[0]["product_id"]
        goal = changes(
            row("reviews", product_id=product, customer_id=AGENT_ID, **written),
            # The form suggests the first name; whoever writes more of the name is as right.
            loosely={"reviews.nickname": {"includes": [AGENT.name.split()[0]]}},
        )
        values = {"order": order["number"], "stars": str(stars), "title": title, "text": text}
        return Case(values, goal)


class NewPhone(Template):
    """Change the phone number and subscribe to the newsletter."""

    number = 14
    sites = (SITE,)
    split = "train"
    intents = (
        "Set my account's phone number to {phone} and subscribe to the newsletter.",
        "Change the phone number in my personal data to {phone} and subscribe to the newsletter.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a number."""
        number = phone(dice)
        return Case(
            {"phone": number}, changes(row("customers", id=AGENT_ID, phone=number, newsletter=1))
        )
