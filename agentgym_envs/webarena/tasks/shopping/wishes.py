"""Tasks with the wish list."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen, enter
from agentgym_envs.webarena.tasks.shopping.template_helpers import (
    AGENT_ID,
    COST,
    SITE,
    cart_is,
    cents_in,
    rows,
    same_number_of,
    tiles,
)
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_WISHES = (
    f"SELECT w.id, p.id AS product_id, p.name, p.stock, p.is_enabled, {COST} AS cost "
    f"FROM wishlist_items w JOIN products p ON p.id = w.product_id "
    f"WHERE w.customer_id = {AGENT_ID} ORDER BY w.id"
)
_LEFT = f"SELECT id FROM wishlist_items WHERE customer_id = {AGENT_ID} ORDER BY id"


def _open_wishes(screen: Screen) -> Iterator[ExpertMove]:
    yield from enter(screen, SITE)
    yield screen.click("link", "Wish list", "I open my wish list.")


class MoveWish(Template):
    """Move a wish to the cart."""

    number = 7
    sites = (SITE,)
    split = "test"
    intent = (
        "Move {product} from my wish list to my cart: I want {quantity} of it. It should not be on "
        "the wish list any more, and everything else should stay there."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a wish that can be had."""
        wishes = rows(world, _WISHES)
        wish, quantity = rng.choice(wishes), rng.randint(2, 9)
        if not wish["is_enabled"] or wish["stock"] < quantity:
            return None
        left = [[row["id"]] for row in wishes if row["id"] != wish["id"]]
        return Case(
            {"product": wish["name"], "quantity": str(quantity)},
            changed(
                cart_is((wish["product_id"], quantity)),
                state_of(SITE, _LEFT, left),
                same_number_of(world, "orders"),
            ),
        )

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
    intent = (
        "Remove every product that costs at least {least} and at most {most} from my wish list."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw two amounts with one to six of the wishes between them."""
        wishes = rows(world, _WISHES)
        least = rng.randrange(2, 300)
        most = least + rng.randrange(3, 150)
        gone = [row for row in wishes if least * 100 <= row["cost"] <= most * 100]
        if not 1 <= len(gone) <= 6:
            return None
        left = [[row["id"]] for row in wishes if row not in gone]
        return Case(
            {"least": f"${least}", "most": f"${most}"},
            changed(state_of(SITE, _LEFT, left), same_number_of(world, "orders", "cart_items")),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Remove what lies between the amounts, page after page."""
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
