"""Solves tasks with the wish list."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen, enter
from agentgym_envs.webarena.tasks.shopping.steps import SITE, cents_in, tiles
from agentgym_envs.webarena.tasks.solution import Case


def _open_wishes(screen: Screen) -> Iterator[ExpertMove]:
    yield from enter(screen, SITE)
    yield screen.click("link", "Wish list", "I open my wish list.")


def move_wish(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def prune_wishes(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
