"""Tasks with the account: addresses, personal data, reviews."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT, AGENT_ID
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.sites.shopping.customers import phone, postcode_of, street
from worlds.tasks.goals import NONE, Way, changes, impossible, page, row
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.shopping.draws import rows
from worlds.tasks.shopping.steps import (
    SITE,
    cents_in,
    open_account,
    show_orders,
    table_rows,
)
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_ADDRESSES = f"SELECT * FROM addresses WHERE customer_id = {AGENT_ID} ORDER BY is_default DESC, id"


DEFAULT = {
    "Make it my default address.": True,
    "Keep my default address as it is.": False,
}


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Fill in the form."""
        yield from open_account(screen, "Address book")
        yield screen.click("link", "Add an address", "A new address is wanted.")
        for label in ("Name", "Street", "Town", "Postcode", "Phone"):
            yield screen.fill("textbox", label, case.values[label.lower()])
        if DEFAULT[case.values["default"]]:
            yield screen.click("checkbox", "Use as default address", "It is to be the default.")
        yield screen.click("button", "Save address", "The form is complete.")
        yield screen.stop()


def _edit_links(screen: Screen, values: Mapping[str, str]) -> list[Node]:
    """List the links to the addresses of a person in a town."""
    return [
        link
        for item in screen.all("listitem")
        for link in screen.below(item, "link")
        if link.name.startswith("Edit ")
        and link.name.endswith(f", {values['town']}")
        and any(values["person"] in text.name for text in screen.below(item, "StaticText"))
    ]


class MovedHouse(Template):
    """Correct the address of a person who has moved to another town."""

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Edit three lines."""
        yield from open_account(screen, "Address book")
        edit = first_of(_edit_links(screen, case.values))
        yield screen.click_node(edit, "This is the address that has changed.")
        yield screen.fill("textbox", "Street", case.values["street"])
        yield screen.fill("textbox", "Town", case.values["new_town"])
        yield screen.fill("textbox", "Postcode", case.values["postcode"])
        yield screen.click("button", "Save address", "Name and phone stay.")
        yield screen.stop()

    def other_ways(self, case: Case, way: Way) -> Sequence[Way]:
        """Allow deleting the address and entering a new one."""
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
        """Draw a person of the address book, and a town where only others have an address."""
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the address book, which lacks the address."""
        yield from open_account(screen, "Address book")
        if _edit_links(screen, case.values):
            raise ElementNotFound("the address book has the address after all")
        person, town = case.values["person"], case.values["town"]
        yield screen.give_up(f"There is no address of {person} in {town} in the address book.")


def _moving(dice: Dice, person: str, town: str) -> dict[str, str]:
    new = dice.pick(TOWNS)
    place = {"street": street(dice), "postcode": postcode_of(new), "new_town": new}
    return {"person": person, "town": town, **place}


def _new_place(values: Mapping[str, str]) -> dict[str, str]:
    return {"street": values["street"], "town": values["new_town"], "postcode": values["postcode"]}


def _is_item(cells: list[str]) -> bool:
    return len(cells) == 4 and cells[1].startswith("$")


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
            # The form suggests the first name, and more of the name is right as well.
            loosely={"reviews.nickname": {"includes": [AGENT.name.split()[0]]}},
        )
        values = {"order": order["number"], "stars": str(stars), "title": title, "text": text}
        return Case(values, goal)

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Two forms of the account."""
        yield from open_account(screen, "Personal data")
        yield screen.fill("textbox", "Phone", case.values["phone"])
        yield screen.click("button", "Save data", "The new number is filled in.")
        yield screen.click("link", "Newsletter", "Now the newsletter.")
        yield screen.click("checkbox", "I want to get the newsletter", "I subscribe.")
        yield screen.click("button", "Save choice", "I save this.")
        yield screen.stop()
