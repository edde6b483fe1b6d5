"""Tasks with the wish list."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.tasks.shopping.draws import AGENT_ID, COST, cart_is, rows, same_number_of
from worlds.tasks.template import Case, Template, World, changed, state_of

_WISHES = (
    f"SELECT w.id, p.id AS product_id, p.name, p.stock, p.is_enabled, {COST} AS cost "
    f"FROM wishlist_items w JOIN products p ON p.id = w.product_id "
    f"WHERE w.customer_id = {AGENT_ID} ORDER BY w.id"
)

_LEFT = f"SELECT id FROM wishlist_items WHERE customer_id = {AGENT_ID} ORDER BY id"


class MoveWish(Template):
    """Move a wish to the cart."""

    number = 7
    sites = (SITE,)
    split = "test"
    intent = (
        "Move {product} from my wish list to my cart: I want {quantity} of it. It should not be on "
        "the wish list any more, and everything else should stay there."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a wish that can be had."""
        wishes = rows(world, _WISHES)
        wish, quantity = dice.pick(wishes), dice.between(2, 9)
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


class PruneWishes(Template):
    """Take everything between two prices off the wish list."""

    number = 17
    sites = (SITE,)
    split = "train"
    intent = (
        "Remove every product that costs at least {least} and at most {most} from my wish list."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two amounts with one to six of the wishes between them."""
        wishes = rows(world, _WISHES)
        least = dice.between(2, 299)
        most = least + dice.between(3, 149)
        gone = [row for row in wishes if least * 100 <= row["cost"] <= most * 100]
        if not 1 <= len(gone) <= 6:
            return None
        left = [[row["id"]] for row in wishes if row not in gone]
        return Case(
            {"least": f"${least}", "most": f"${most}"},
            changed(state_of(SITE, _LEFT, left), same_number_of(world, "orders", "cart_items")),
        )
