"""Tasks that begin with one of the agent's orders at the shop."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.categories import BY_NAME
from agentgym_envs.sites.map.routes import CAR
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.gitlab import draws as code_draws
from worlds.tasks.gitlab import steps as code
from worlds.tasks.goals import amount, answers, changes, measure, row
from worlds.tasks.map import draws, steps
from worlds.tasks.screen import ElementNotFound, Screen, enter, first_of
from worlds.tasks.shopping import draws as shop_draws
from worlds.tasks.shopping import steps as shop
from worlds.tasks.template import Case, Template, World


def _draw_order(world: World, dice: Dice) -> sqlite3.Row:
    sql = "SELECT * FROM orders WHERE customer_id = ? ORDER BY id"
    return dice.pick(shop_draws.rows(world, sql, AGENT_ID))


def _to_map(screen: Screen, town: str) -> Iterator[ExpertMove]:
    yield from enter(screen, steps.SITE, f"The parcel goes to {town}; now I need the map.")


_ADDRESS = re.compile(r", \d{5} ([^,]+)")


def _town(screen: Screen) -> str:
    for text in screen.all("StaticText"):
        match = _ADDRESS.search(text.name)
        if match:
            return match[1]
    raise ElementNotFound(f"no address on {screen.url}")


def _open_order(screen: Screen, number: str) -> Iterator[ExpertMove]:
    yield from shop.open_account(screen, "My orders")
    yield from steps.to_page_with(screen, "link", number)
    yield screen.click("link", number, "This is the order.")


class DriveToParcel(Template):
    """The drive to the address that an order is delivered to, in minutes."""

    number = 130
    sites = ("shopping", "map")
    split = "train"
    intents = (
        "How many minutes is the quickest drive from {start} to order {order}'s delivery town?",
        "My order {order} goes to some town: how many minutes is the quickest drive there from "
        "{start}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order and a town it is not delivered to."""
        order, start = _draw_order(world, dice), draws.draw_towns(world, dice, 1)[0]
        if order["town"] == start:
            return None
        way = draws.way_between(world, [start, order["town"]], CAR)
        goal = answers(measure("duration", f"{way.minutes} minutes", "minute"))
        return Case({"start": start, "order": order["number"]}, goal)

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
    intents = (
        "Save the best rated {kind} in order {order}'s delivery town to {list}.",
        "Put the best rated {kind} of the town that my order {order} is delivered to on my list "
        "{list}.",
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
        values = {
            "order": order["number"],
            "kind": BY_NAME[kind].name.lower(),
            "list": chosen["name"],
        }
        return Case(values, changes(row("saved", list_id=chosen["id"], place_id=place)))

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
    intents = (
        "Open an issue “Refund for order {order}” in the Forgeyard project {project}: just the "
        "order's total.",
        "Open an issue “Refund for order {order}” in the Forgeyard project {project} whose "
        "description is just that order's total, as the shop shows it.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an order and a project in which the agent may open issues."""
        order = _draw_order(world, dice)
        project = code_draws.draw_project(world, dice, code_draws.REPORTING)
        total = amount(order["total"])
        issue = {
            "project_id": project["id"],
            "author_id": AGENT_ID,
            "title": f"Refund for order {order['number']}",
            "body": total,
            "state": "open",
        }
        values = {"project": project["name"], "order": order["number"]}
        return Case(values, changes(row("issues", **issue), loosely={"issues.body": total}))

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
