"""The expert plays a record, and touches and rests on what has been on the screen alone."""

from __future__ import annotations

import pytest

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.browsing.view import View
from agentgym_envs.webarena import expert
from agentgym_envs.webarena.expert import RecordedMove
from tests.agentgym_envs.webarena.still import StillBrowser

HERE = "http://a.test/"


def long_page(*more: Node, url: str = HERE) -> Page:
    """A page of 42 lines: the root, 20 rows with a link each, and a button."""
    rows = [Node("row", f"row {n}", {}, [Node("link", f"link {n}")]) for n in range(20)]
    return Page(url, "", Node("RootWebArea", "", {}, [*rows, Node("button", "Go"), *more]))


def click(role: str, name: str, *, nth: int = 0, last_read: int = 0) -> RecordedMove:
    return RecordedMove("click [{element}]", "This one.", role, name, nth, last_read)


def stop(*, last_read: int = 0) -> RecordedMove:
    return RecordedMove("stop []", "Done.", last_read=last_read)


def actions_of(
    *record: RecordedMove, top: int = 0, page: Page | None = None, starts: tuple[str, ...] = (HERE,)
) -> list[str]:
    """Return the expert's actions on a page that never changes, seen through ten lines."""
    page, view = page or long_page(), View(10)
    view.top = top
    view.show(page)
    actions = []
    for move in expert.play_record(starts, record, lambda: page, view):
        actions.append(move.action)
        if move.action.startswith("scroll"):
            view.scroll("down" if "down" in move.action else "up", StillBrowser(shown=page))
        view.show(page)
    return actions


def test_it_scrolls_to_what_it_clicks() -> None:
    record = click("link", "link 7"), click("link", "link 0")
    assert actions_of(*record) == ["scroll [down]", "click [17]", "scroll [up]", "click [3]"]


def test_it_scrolls_through_what_a_move_rests_on() -> None:
    assert actions_of(stop(last_read=40)) == ["scroll [down]"] * 3 + ["stop []"]
    assert actions_of(stop(last_read=26)) == ["scroll [down]"] * 2 + ["stop []"]
    assert actions_of(stop(last_read=40), top=32) == ["stop []"]


def test_what_was_on_the_screen_is_not_read_twice() -> None:
    record = click("button", "Go", last_read=40), stop(last_read=41)
    assert actions_of(*record) == ["scroll [down]"] * 4 + ["click [42]", "stop []"]


def test_what_it_read_on_a_longer_page_is_read_to_the_end_of_a_shorter_one() -> None:
    assert actions_of(stop(last_read=99)) == ["scroll [down]"] * 4 + ["stop []"]


def test_it_takes_the_nth_of_one_role_and_name() -> None:
    page = long_page(Node("button", "Go"), Node("link", "Go"))
    assert actions_of(click("button", "Go", nth=1), page=page)[-1] == "click [43]"


def test_text_may_hold_what_stands_for_an_element() -> None:
    move = RecordedMove("type [{element}] [a {element}] [0]", "So.", "link", "link 0")
    assert actions_of(move) == ["type [3] [a {element}] [0]"]


@pytest.mark.parametrize("lost", [click("link", "link 99"), click("link", "link 1", nth=1)])
def test_an_expert_that_is_lost_ends_before_it_reads(lost: RecordedMove) -> None:
    far = RecordedMove(lost.action, lost.thought, lost.role, lost.name, lost.nth, last_read=40)
    assert actions_of(click("link", "link 0"), far, stop()) == ["click [3]"]


@pytest.mark.parametrize("height", [None, 100])
def test_a_page_that_is_seen_whole_needs_no_scrolling(height: int | None) -> None:
    view, page = View(height), long_page()
    view.show(page)
    record = click("button", "Go", last_read=40), stop(last_read=41)
    moves = expert.play_record((HERE,), record, lambda: page, view)
    assert [move.action for move in moves] == ["click [42]", "stop []"]


def test_elsewhere_it_opens_the_start_first() -> None:
    page = long_page(url="http://b.test/")
    assert actions_of(stop(), page=page) == [f"goto [{HERE}]", "stop []"]


def test_elsewhere_it_opens_the_start_of_every_tab_and_ends_in_the_first() -> None:
    other = "http://b.test/"
    page = long_page(url=other)
    assert actions_of(stop(), page=page, starts=(HERE, other)) == [
        *("tab_focus [1]", f"goto [{other}]", "tab_focus [0]", f"goto [{HERE}]", "stop []")
    ]


def test_a_cart_that_holds_something_is_emptied_first() -> None:
    pages = [
        Page(HERE, "", Node("RootWebArea", "", {}, [Node("link", "Cart (1)"), *buttons]))
        for buttons in ([Node("button", "Remove tea")], [Node("button", "Remove tea")], [])
    ]
    actions = []
    for move in expert.play_record((HERE,), [stop()], lambda: pages[0], View(None)):
        actions.append(move.action)
        if move.action.startswith("click"):
            del pages[0]
    assert actions == ["click [2]", "click [3]", f"goto [{HERE}]", "stop []"]
