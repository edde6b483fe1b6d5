"""Solves tasks that begin with one of the agent's orders at the shop."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.categories import BY_NAME
from agentgym_envs.webarena.tasks.gitlab import steps as code
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter, first_of
from agentgym_envs.webarena.tasks.shopping import steps as shop
from agentgym_envs.webarena.tasks.solution import Case

_ADDRESS = re.compile(r", \d{5} ([^,]+)")


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


def drive_to_parcel(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the town in the shop and ask the map."""
    yield from _open_order(screen, case.values["order"])
    town = _town(screen)
    yield from _to_map(screen, town)
    yield from steps.ask_way(screen, case.values["start"], town)
    time = steps.cells(screen.starting("row", "Car | "))[2]
    total = str(steps.minutes(time))
    yield screen.stop(total, f"The car takes {time}, which is {total} minutes.")


def best_rated_there(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def refund_issue(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
