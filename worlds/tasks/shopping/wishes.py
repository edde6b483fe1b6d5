"""Tasks with the wish list."""

from __future__ import annotations

from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.webarena.tasks.shopping.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import changes, gone
from worlds.tasks.shopping.draws import COST, in_cart, rows
from worlds.tasks.template import Case, Template, World

_WISHES = (
    f"SELECT w.id, p.id AS product_id, p.name, p.stock, p.is_enabled, {COST} AS cost "
    f"FROM wishlist_items w JOIN products p ON p.id = w.product_id "
    f"WHERE w.customer_id = {AGENT_ID} ORDER BY w.id"
)


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
