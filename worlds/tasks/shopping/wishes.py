"""Tasks with the wish list."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.goals import changes, gone
from worlds.tasks.screen import Screen, enter
from worlds.tasks.shopping.draws import COST, in_cart, rows
from worlds.tasks.shopping.steps import SITE, cents_in, tiles
from worlds.tasks.template import Case, Template, World

_WISHES = (
    f"SELECT w.id, p.id AS product_id, p.name, p.stock, p.is_enabled, {COST} AS cost "
    f"FROM wishlist_items w JOIN products p ON p.id = w.product_id "
    f"WHERE w.customer_id = {AGENT_ID} ORDER BY w.id"
)


def _open_wishes(screen: Screen) -> Iterator[ExpertMove]:
    yield from enter(screen, SITE)
    yield screen.click("link", "Wish list", "I open my wish list.")


class MoveWish(Template):
    """Move a wish to the cart."""

    number = 7
    sites = (SITE,)
    split = "test"
    intents = (
        "Move {quantity} of {product} from my wish list to my cart.",
        "Take {product} off my wish list, and put {quantity} of it into my cart.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a wish that can be had."""
        wish, quantity = dice.pick(rows(world, _WISHES)), dice.between(2, 9)
        if not wish["is_enabled"] or wish["stock"] < quantity:
            return None
        goal = changes(in_cart(wish["product_id"], quantity), gone("wishlist_items", id=wish["id"]))
        return Case({"product": wish["name"], "quantity": str(quantity)}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the wish, page after page, and move it."""
        product = case.values["product"]
        yield from _open_wishes(screen)
        while not screen.has("button", f"Move {product} to the cart"):
            yield screen.click("link", "Next", "It is not on this page of the list.")
        yield screen.fill(
            "textbox", f"Quantity of {product}", case.values["quantity"], "I set the quantity."
        )
        yield screen.click("button", f"Move {product} to the cart", "I move it to the cart.")
        yield screen.stop()


class PruneWishes(Template):
    """Take everything between two prices off the wish list."""

    number = 17
    sites = (SITE,)
    split = "train"
    intents = (
        "Remove everything that costs {least} to {most} from my wish list.",
        "Go through my wish list and remove everything that costs {least} to {most}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two amounts with one to six of the wishes between them."""
        least = dice.between(2, 299)
        most = least + dice.between(3, 149)
        wishes = rows(world, _WISHES)
        between = [wish for wish in wishes if least * 100 < wish["cost"] < most * 100]
        is_sharp = not {least * 100, most * 100} & {wish["cost"] for wish in wishes}
        if not 1 <= len(between) <= 6 or not is_sharp:
            return None
        goal = changes(*(gone("wishlist_items", id=wish["id"]) for wish in between))
        return Case({"least": f"${least}", "most": f"${most}"}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Remove the products with prices between the amounts, page after page."""
        least, most = (cents_in(f"{case.values[slot]}.00") for slot in ("least", "most"))
        yield from _open_wishes(screen)
        while True:
            between = [tile.link for tile in tiles(screen) if least <= tile.cents <= most]
            if between:
                yield screen.click("button", f"Remove {between[0].name}", "It costs as much.")
            elif screen.has("link", "Next"):
                yield screen.click("link", "Next", "Nothing more to remove on this page.")
            else:
                break
        yield screen.stop()
