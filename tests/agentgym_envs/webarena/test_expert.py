"""The expert reads and touches only what has been on the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.browsing.view import View
from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena import expert
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case
from tests.agentgym_envs.webarena.still import StillBrowser

Solve = Callable[[Screen], Iterator[ExpertMove]]


def long_page() -> Page:
    """A page of 42 lines: the root, 20 rows with a link each, and a button."""
    rows = [Node("row", f"row {n}", {}, [Node("link", f"link {n}")]) for n in range(20)]
    return Page("http://a.test/", "", Node("RootWebArea", "", {}, [*rows, Node("button", "Go")]))


def played(solve: Solve, *, top: int = 0) -> list[str]:
    """Return the expert's actions on the long page, seen through ten lines."""
    page, view = long_page(), View(10)
    view.top = top
    view.show(page)
    actions = []
    for move in expert.moves(lambda case, screen: solve(screen), Case({}, {}), lambda: page, view):
        actions.append(move.action)
        if move.action.startswith("scroll"):
            view.scroll("down" if "down" in move.action else "up", StillBrowser(shown=page))
        view.show(page)
    return actions


def test_it_scrolls_to_what_it_clicks() -> None:
    def solve(screen: Screen) -> Iterator[ExpertMove]:
        yield screen.click("link", "link 7")
        yield screen.click("link", "link 0")

    assert played(solve) == ["scroll [down]", "click [17]", "scroll [up]", "click [3]"]


def test_it_scrolls_through_what_it_counts() -> None:
    def solve(screen: Screen) -> Iterator[ExpertMove]:
        yield screen.stop(str(len(screen.all("row"))))

    assert played(solve) == ["scroll [down]"] * 3 + ["stop [20]"]
    assert played(solve, top=32)[-1] == "stop [20]"


def test_what_was_on_the_screen_is_not_read_twice() -> None:
    def solve(screen: Screen) -> Iterator[ExpertMove]:
        count = len(screen.all("row"))
        yield screen.click("button", "Go")
        yield screen.stop(str(count + len(screen.all("link"))))

    assert played(solve) == ["scroll [down]"] * 4 + ["click [42]", "stop [40]"]


def test_a_part_of_the_page_that_is_read_is_scrolled_to_alone() -> None:
    def solve(screen: Screen) -> Iterator[ExpertMove]:
        row = screen.starting("row", "row 12")
        (link,) = screen.below(row, "link")
        yield screen.stop(link.name)

    assert played(solve) == ["scroll [down]", "scroll [down]", "stop [link 12]"]


def test_an_expert_that_is_lost_ends() -> None:
    def solve(screen: Screen) -> Iterator[ExpertMove]:
        yield screen.click("link", "link 0")
        yield screen.click("link", "link 99")

    assert played(solve) == ["click [3]"]


@pytest.mark.parametrize("height", [None, 100])
def test_a_page_that_is_seen_whole_needs_no_scrolling(height: int | None) -> None:
    view, page = View(height), long_page()
    view.show(page)
    assert view.scrolls_to(42, page) == view.scrolls_through({1, 42}, page) == []
