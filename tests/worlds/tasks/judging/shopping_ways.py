"""Other honest ways to do the shop's tasks than their experts', and near misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT
from tests.worlds.tasks.judging.forms import form
from tests.worlds.tasks.judging.mistaking import mistakes
from tests.worlds.tasks.judging.shopping_damage import NEWS, SHOP, use_coupon
from tests.worlds.tasks.judging.verdicts import Row, after, changing
from worlds.tasks.drawing import TEMPLATES
from worlds.tasks.screen import Screen
from worlds.tasks.shopping.joining import NEWSLETTER
from worlds.tasks.shopping.personal import DEFAULT
from worlds.tasks.shopping.steps import (
    add_to_cart,
    cents_in,
    order_links,
    show_orders,
    table_rows,
    tiles,
)
from worlds.tasks.shopping.steps import open_product as find_product
from worlds.tasks.template import Case, Solution

Part = Callable[[Case, Screen], Iterator[ExpertMove]]
"""Some moves of a way, on any page."""

BOOK = f"{SHOP}/account/addresses"


def with_values(template: int, values: Callable[[Case], dict[str, str]]) -> Solution:
    """Return the expert's way with other values in the slots."""
    return lambda case, screen: TEMPLATES[template].solve(
        Case({**case.values, **values(case)}, notes=case.notes), screen
    )


def then(first: Solution, last: Part) -> Solution:
    """Return a way with something done before it stops."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        for move in first(case, screen):
            if move.action.startswith("stop"):
                yield from last(case, screen)
            yield move

    return solution


def detour(way: Solution, path: str, part: Part) -> Solution:
    """Return a way with something else done when it first comes to a page of the shop."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        is_done = False
        for move in way(case, screen):
            if not is_done and screen.url == SHOP + path:
                is_done = True
                yield from part(case, screen)
                yield screen.go(SHOP + path)
            yield move

    return solution


# Parts ------------------------------------------------------------------------------------------


def set_quantity(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Set the quantity of the only product in the cart."""
    yield screen.go(f"{SHOP}/cart")
    field = screen.starting("textbox", "Quantity of ")
    yield screen.fill("textbox", field.name, case.values["quantity"])
    yield screen.click_node(screen.starting("button", "Update "))


def try_a_coupon(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Apply a coupon and remove it."""
    yield from use_coupon(screen)
    yield screen.click("button", "Remove coupon")


def choose_another_address(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """In the checkout, go on with the last address."""
    yield screen.click_node(screen.all("radio")[-1])
    yield screen.click("button", "Continue")


def set_default(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Make the address the default one, or the one that was."""
    street = case.values["street"] if DEFAULT[case.values["default"]] else "14 Mill Lane"
    yield from form(BOOK, f"Make {street}")(screen)


def correct_street(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Edit the address that was just written."""
    yield screen.go(BOOK)
    yield screen.click_node(screen.starting("link", "Edit 1 Wrong Way"))
    yield screen.fill("textbox", "Street", case.values["street"], enter=True)


def switch_newsletter(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Subscribe to the newsletter, or leave it."""
    yield from form(f"{SHOP}/account/newsletter", "Save choice", {NEWS: ""})(screen)


# Ways -------------------------------------------------------------------------------------------


def reorder_by_hand(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the order and add each product, the last one first."""
    yield from show_orders(screen, product=case.values["product"])
    yield screen.click_node(order_links(screen)[0][0])
    lines = [cells for _, cells in table_rows(screen) if len(cells) == 4 and "$" in cells[1]]
    for name, _, quantity, _ in reversed(lines):
        yield from find_product(screen, name)
        yield from add_to_cart(screen, int(quantity))
    yield screen.stop()


def reorder_twice(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Order again, take everything out of the cart, and order again."""
    for move in TEMPLATES[5].solve(case, screen):
        if not move.action.startswith("stop"):
            yield move
    yield from TEMPLATES[5].solve(case, screen)


def wish_by_hand(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Put the product into the cart on its page, then remove the wish."""
    yield from find_product(screen, case.values["product"])
    yield from add_to_cart(screen, int(case.values["quantity"]))
    yield screen.go(f"{SHOP}/account/wishlist")
    while not screen.has("button", f"Remove {case.values['product']}"):
        yield screen.click("link", "Next")
    yield screen.click("button", f"Remove {case.values['product']}")
    yield screen.stop()


def delete_and_add(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Enter the address anew, and delete the old one."""
    values = case.values
    yield screen.go(BOOK)
    edit = next(n for n in screen.all("link") if n.name.endswith(f", {values['town']}"))
    yield screen.click_node(edit)
    phone = screen.find("textbox", "Phone").properties["value"].strip("'")
    yield from form(BOOK, edit.name.replace("Edit", "Delete"))(screen)
    new = {"Name": values["person"], "Street": values["street"], "Town": values["new_town"]}
    fields = {**new, "Postcode": values["postcode"], "Phone": phone}
    yield from form(f"{BOOK}/new", "Save address", fields)(screen)
    yield screen.stop()


def review_with_both_names(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sign the review with more than the first name."""
    for move in TEMPLATES[10].solve(case, screen):
        if screen.has("button", "Submit review") and move.action.startswith("click"):
            yield screen.fill("textbox", "Nickname", AGENT.name)
        yield move


def newsletter_first(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Subscribe before the number is changed."""
    yield from switch_newsletter(case, screen)
    fields = {"Phone": case.values["phone"]}
    yield from form(f"{SHOP}/account/data", "Save data", fields)(screen)
    yield screen.stop()


def prune_from_the_end(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Remove wishes from the last page to the first."""
    least, most = (cents_in(f"{case.values[slot]}.00") for slot in ("least", "most"))
    for page in (3, 2, 1):
        yield screen.go(f"{SHOP}/account/wishlist?page={page}")
        between = [tile.link.name for tile in tiles(screen) if least <= tile.cents <= most]
        for name in reversed(between):
            yield screen.click("button", f"Remove {name}")
    yield screen.stop()


def _one(case: Case) -> dict[str, str]:
    return {"quantity": "1"}


def _wrong_street(case: Case) -> dict[str, str]:
    return {"street": "1 Wrong Way"}


def _other_default(case: Case) -> dict[str, str]:
    return {"default": next(text for text in DEFAULT if text != case.values["default"])}


def _other_choice(case: Case) -> dict[str, str]:
    return {"newsletter": next(text for text in NEWSLETTER if text != case.values["newsletter"])}


WAYS: list[Row] = [
    (5, "by hand", reorder_by_hand),
    (5, "again", reorder_twice),
    (6, "more in the cart", detour(with_values(6, _one), "/cart", set_quantity)),
    (6, "another address first", detour(TEMPLATES[6].solve, "/checkout", choose_another_address)),
    (6, "a coupon tried", detour(TEMPLATES[6].solve, "/cart", try_a_coupon)),
    (7, "by hand", wish_by_hand),
    (7, "more in the cart", then(with_values(7, _one), set_quantity)),
    (8, "the default later", then(with_values(8, _other_default), set_default)),
    (8, "corrected", then(with_values(8, _wrong_street), correct_street)),
    (9, "deleted and added", delete_and_add),
    (9, "corrected", then(with_values(9, _wrong_street), correct_street)),
    (10, "both names", review_with_both_names),
    (12, "more in the cart", detour(with_values(12, _one), "/cart", set_quantity)),
    (12, "another coupon first", detour(TEMPLATES[12].solve, "/cart", try_a_coupon)),
    (14, "newsletter first", newsletter_first),
    (17, "from the end", prune_from_the_end),
    (23, "the newsletter later", then(with_values(23, _other_choice), switch_newsletter)),
]

# A person and a town name an address together, a shelf may hold too few, bounds overlap, and the
# cheaper of two products may also be better in stock.
PAIRS = {
    6: ("category", "quantity"),
    9: ("person", "town"),
    17: ("least", "most"),
    148: ("quantity", "which"),
}
NEAR_MISSES: list[Row] = [
    *mistakes(changing("shopping"), PAIRS),
    (12, "the coupon taken back", after(form(f"{SHOP}/cart", "Remove coupon"), 12)),
]
