"""Tasks that begin with one of the agent's orders at the shop."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.sites.map.categories import BY_NAME
from agentgym_envs.webarena.sites.map.community import AGENT_ID
from agentgym_envs.webarena.sites.map.routes import CAR
from agentgym_envs.webarena.tasks.gitlab import template_helpers as code
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter, first_of
from agentgym_envs.webarena.tasks.shopping import template_helpers as shop
from agentgym_envs.webarena.tasks.template import (
    Case,
    Template,
    World,
    changed,
    exact_answer,
    state_of,
)

_ADDRESS = re.compile(r", \d{5} ([^,]+)")


def _draw_order(world: World, rng: random.Random) -> sqlite3.Row:
    sql = "SELECT * FROM orders WHERE customer_id = ? ORDER BY id"
    return rng.choice(shop.rows(world, sql, shop.AGENT_ID))


def _open_order(screen: Screen, number: str) -> Iterator[ExpertMove]:
    yield from shop.open_account(screen, "My orders")
    yield from steps.to_page_with(screen, "link", number)
    yield screen.click("link", number, "This is the order.")


def _town(screen: Screen) -> str:
    for text in screen.all("StaticText"):
        match = _ADDRESS.search(text.name)
        if match:
            return match[1]
    raise ElementNotFound(f"no address on {screen.url}")


def _to_map(screen: Screen, town: str) -> Iterator[ExpertMove]:
    yield from enter(screen, steps.SITE, f"The parcel goes to {town}; now I need the map.")


class DriveToParcel(Template):
    """How long one drives to where an order is delivered."""

    number = 130
    sites = ("shopping", "map")
    split = "train"
    intent = (
        "How many minutes does the quickest drive take on Wayfinder from {start} to the town that "
        "my order {order} at Larder & Loom is delivered to? Answer with the number alone."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw an order and a town it is not delivered to."""
        order, start = _draw_order(world, rng), steps.draw_towns(world, rng, 1)[0]
        if order["town"] == start:
            return None
        way = steps.way_between(world, [start, order["town"]], CAR)
        return Case({"start": start, "order": order["number"]}, exact_answer(str(way.minutes)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the town in the shop and ask the map."""
        yield from _open_order(screen, case.values["order"])
        town = _town(screen)
        yield from _to_map(screen, town)
        yield from steps.ask_way(screen, case.values["start"], town)
        time = steps.cells(screen.starting("row", "Car | "))[2]
        total = str(steps.minutes(time))
        yield screen.stop(total, f"The car takes {time}, which is {total} minutes.")


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

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw an order, a kind with one best rated place there, and a list without it."""
        order, kind = _draw_order(world, rng), rng.choice(self.kinds)
        best = world.rows(
            "map",
            "SELECT p.id, p.rating FROM places p JOIN towns t ON t.id = p.town_id"
            " WHERE t.name = ? AND p.category = ? ORDER BY p.rating DESC LIMIT 2",
            *(order["town"], kind),
        )
        chosen = rng.choice(
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the town, sort its places by rating and save the first."""
        yield from _open_order(screen, case.values["order"])
        town = _town(screen)
        yield from _to_map(screen, town)
        plural = BY_NAME[case.values["kind"].capitalize()].plural.lower()
        yield from steps.search(screen, f"{plural} in {town}")
        yield screen.choose("Sort by", "Rating", "The best rated one shall come first.")
        yield screen.click("button", "Apply filters")
        link, _ = first_of(steps.results(screen))
        yield screen.click_node(link, f"{link.name} has the best rating.")
        yield screen.click("link", "Save")
        yield screen.choose("List", case.values["list"])
        yield screen.click("button", "Save place")
        yield screen.stop("", "The place is on the list.")


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

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw an order and a project in which the agent may open issues."""
        order = _draw_order(world, rng)
        project = code.draw_project(world, rng, code.REPORTING)
        last = world.value("gitlab", "SELECT max(id) FROM issues")
        query = (
            "SELECT project_id, author_id, title, body, state FROM issues"
            f" WHERE id > {last} ORDER BY id"
        )
        title = f"Refund for order {order['number']}"
        expected = [project["id"], 1, title, money(order["total"]), "open"]
        return Case(
            {"project": project["name"], "order": order["number"]},
            changed(state_of("gitlab", query, [expected]), code.one_more(world, "issues")),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the total in the shop and write it into the issue."""
        order = case.values["order"]
        yield from _open_order(screen, order)
        total = shop.cell(screen, "Total")
        yield from code.open_part(screen, case.values["project"], "Issues")
        yield screen.click("link", "New issue")
        yield screen.fill("textbox", "Title", f"Refund for order {order}")
        yield screen.fill("textbox", "Description", total, f"The order's total was {total}.")
        yield screen.click("button", "Create issue", "Everything is filled in.")
        yield screen.stop("", "The issue is open.")
