"""Solves tasks that begin with a page in each of two tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.shopping.steps import add_to_cart, cents_in
from agentgym_envs.webarena.tasks.solution import Case

CRITERIA = {
    "the cheaper one": ("price", min),
    "the more expensive one": ("price", max),
    "the one that is better in stock": ("stock", max),
    "the one of which fewer are in stock": ("stock", min),
    "the one with more reviews": ("reviews", max),
}
"""What may be asked for: which number of a product's page, and whether the least or the most."""

_BACK = 3


def better_of_two_tabs(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read both pages, and buy on the better one."""
    what, best = CRITERIA[case.values["which"]]
    numbers = []
    for tab in (0, 1):
        yield ExpertMove(f"tab_focus [{tab}]", f"I look at the {what} in tab {tab}.")
        yield from _back_to_product(screen)
        numbers.append(_number(screen, what))
    tab = numbers.index(best(numbers))
    if tab == 0:
        yield ExpertMove("tab_focus [0]", f"It is {numbers[0]} here and {numbers[1]} there.")
    yield from add_to_cart(screen, int(case.values["quantity"]))
    yield screen.stop()


def _back_to_product(screen: Screen) -> Iterator[ExpertMove]:
    """Return to the page that was open at the start; nothing to do when the task begins."""
    for _ in range(_BACK):
        if screen.has("button", "Add to cart"):
            return
        yield ExpertMove("go_back", "The product was open in this tab before.")


def _number(screen: Screen, what: str) -> int:
    """Return a product's price in cents, its stock or how many reviews it has."""
    if what == "price":
        return cents_in(screen.starting("StaticText", "$").name)
    pattern = re.compile(
        r"In stock: (\d+)" if what == "stock" else r".*?(\d+) reviews?\b|No reviews"
    )
    for node in screen.all("StaticText"):
        if match := pattern.match(node.name):
            return int(match[1] or 0)
    raise ElementNotFound(f"no {what} on {screen.url}")
