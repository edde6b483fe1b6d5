"""Tasks that begin with one of the agent's orders at the shop."""

from __future__ import annotations

import sqlite3

from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.sites.map.categories import BY_NAME
from agentgym_envs.webarena.sites.map.routes import CAR
from agentgym_envs.webarena.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.gitlab import draws as code_draws
from worlds.tasks.map import draws
from worlds.tasks.shopping import draws as shop_draws
from worlds.tasks.template import Case, Template, World, changed, exact_answer, state_of


def _draw_order(world: World, dice: Dice) -> sqlite3.Row:
    sql = "SELECT * FROM orders WHERE customer_id = ? ORDER BY id"
    return dice.pick(shop_draws.rows(world, sql, shop_draws.AGENT_ID))


class DriveToParcel(Template):
    """How long one drives to where an order is delivered."""

    number = 130
    sites = ("shopping", "map")
    split = "train"
    intent = (
        "How many minutes does the quickest drive take on Wayfinder from {start} to the town that "
        "my order {order} at Larder & Loom is delivered to? Answer with the number alone."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order and a town it is not delivered to."""
        order, start = _draw_order(world, dice), draws.draw_towns(world, dice, 1)[0]
        if order["town"] == start:
            return None
        way = draws.way_between(world, [start, order["town"]], CAR)
        return Case({"start": start, "order": order["number"]}, exact_answer(str(way.minutes)))


class BestRatedThere(Template):
    """Saves the best rated place of a kind in the town of an order."""

    number = 136
    sites = ("shopping", "map")
    split = "validation"
    intent = (
        "Find out to which town my order {order} at Larder & Loom is delivered, and put the best "
        "rated {kind} of that town on my Wayfinder list {list}."
    )
    kinds = ("Cafe", "Restaurant", "Hotel", "Museum", "Bakery", "Pub", "Park", "Bookshop")

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order, a kind with one best rated place there, and a list without it."""
        order, kind = _draw_order(world, dice), dice.pick(self.kinds)
        best = world.rows(
            "map",
            "SELECT p.id, p.rating FROM places p JOIN towns t ON t.id = p.town_id"
            " WHERE t.name = ? AND p.category = ? ORDER BY p.rating DESC LIMIT 2",
            *(order["town"], kind),
        )
        chosen = dice.pick(
            world.rows("map", "SELECT id, name FROM lists WHERE user_id = ? ORDER BY id", AGENT_ID)
        )
        if len(best) < 2 or best[0]["rating"] == best[1]["rating"]:
            return None
        place = best[0]["id"]
        is_there = "SELECT count(*) FROM saved WHERE list_id = ? AND place_id = ?"
        if world.value("map", is_there, chosen["id"], place):
            return None
        number = world.value("map", "SELECT count(*) FROM saved")
        query = f"SELECT count(*) FROM saved WHERE list_id = {chosen['id']} AND place_id = {place}"
        values = {
            "order": order["number"],
            "kind": BY_NAME[kind].name.lower(),
            "list": chosen["name"],
        }
        return Case(
            values,
            changed(
                state_of("map", query, [[1]]),
                state_of("map", "SELECT count(*) FROM saved", [[number + 1]]),
            ),
        )


class RefundIssue(Template):
    """Opens an issue that tells the total of an order."""

    number = 132
    sites = ("shopping", "gitlab")
    split = "train"
    intent = (
        "In the Forgeyard project {project}, open an issue titled “Refund for order {order}” whose "
        "description is the total of that order at Larder & Loom, written as the shop writes it, "
        "and nothing else."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order and a project in which the agent may open issues."""
        order = _draw_order(world, dice)
        project = code_draws.draw_project(world, dice, code_draws.REPORTING)
        last = world.value("gitlab", "SELECT max(id) FROM issues")
        query = (
            "SELECT project_id, author_id, title, body, state FROM issues"
            f" WHERE id > {last} ORDER BY id"
        )
        title = f"Refund for order {order['number']}"
        expected = [project["id"], 1, title, money(order["total"]), "open"]
        return Case(
            {"project": project["name"], "order": order["number"]},
            changed(state_of("gitlab", query, [expected]), code_draws.one_more(world, "issues")),
        )
