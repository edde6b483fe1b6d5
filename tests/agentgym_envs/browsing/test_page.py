from __future__ import annotations

import pytest

from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.browsing.view import MAX_LINE, View
from agentgym_envs.errors import InvalidAction
from agentgym_envs.webarena.prompts import page_text
from tests.agentgym_envs.webarena.still import StillBrowser


def page(num_items: int = 0, *, url: str = "http://shopping.test/") -> Page:
    """Return a page of a root, a list with items, and a link: `num_items + 3` lines."""
    items = [Node("listitem", f"item {number}") for number in range(num_items)]
    root = Node("RootWebArea", "Shop", children=[Node("list", "", children=items)])
    root.children.append(Node("link", "next", {"url": "/2"}))
    return Page(url, "Shop", root, ("Shop",))


def test_nodes_are_numbered_in_document_order() -> None:
    shown = page(2)
    assert [node.element for node in shown.nodes] == [1, 2, 3, 4, 5]
    assert [shown.node(number).name for number in (1, 3, 5)] == ["Shop", "item 0", "next"]  # type: ignore[union-attr]
    assert [shown.node(number) for number in (-1, 0, 6)] == [None] * 3


def test_a_line_tells_id_role_name_and_properties_under_its_parent() -> None:
    assert page(1).lines() == [
        "[1] RootWebArea 'Shop'",
        "\t[2] list ''",
        "\t\t[3] listitem 'item 0'",
        "\t[4] link 'next' url: /2",
    ]


@pytest.mark.parametrize("text", ["a\n[9] button 'Pay'", "a\u2028b", "\x1b[2J", "\ud800", "a\rb"])
def test_no_text_of_a_page_begins_a_line(text: str) -> None:
    root = Node("RootWebArea", text, {"value": text})
    (line,) = Page("http://shopping.test/", text, root).lines()
    assert len(line.splitlines()) == 1 and line.isprintable()
    line.encode()


def test_a_view_shows_a_part_and_counts_the_rest() -> None:
    shown = page(17)  # 20 lines
    view = View(8)
    assert (view.show(shown).above, len(view.show(shown).lines), view.show(shown).below) == (
        (0, 8, 12)
    )
    view.scroll("down", StillBrowser(shown=shown))
    assert view.show(shown)[1:] == (8, 4)
    view.scroll("down", StillBrowser(shown=shown))
    assert view.show(shown)[1:] == (12, 0)
    with pytest.raises(InvalidAction, match="nothing below"):
        view.scroll("down", StillBrowser(shown=shown))
    view.scroll("up", StillBrowser(shown=shown))
    view.scroll("up", StillBrowser(shown=shown))
    with pytest.raises(InvalidAction, match="nothing above"):
        view.scroll("up", StillBrowser(shown=shown))
    assert [*View(None).show(shown)] == [shown.lines(), 0, 0]


def test_a_whole_page_cannot_be_scrolled() -> None:
    for view, shown in ((View(None), page(50)), (View(60), page(2))):
        with pytest.raises(InvalidAction):
            view.scroll("down", StillBrowser(shown=shown))


def test_the_text_tells_what_is_above_and_below() -> None:
    view, shown = View(5), page(7)  # 10 lines
    assert page_text(shown, view) == "\n".join(
        [
            "Tabs: [0] 'Shop' (current)",
            "URL: http://shopping.test/",
            *shown.lines()[:5],
            "(5 lines below: scroll [down])",
        ]
    )
    view.scroll("down", StillBrowser(shown=shown))
    assert page_text(shown, view).splitlines()[2:4] == [
        "(5 lines above: scroll [up])",
        shown.lines()[5],
    ]


def test_very_long_lines_are_cut() -> None:
    shown = Page("http://a.test/", "", Node("RootWebArea", "x" * 100_000))
    (line,) = View(60).show(shown).lines
    assert len(line) < MAX_LINE + 50 and "characters)" in line


@pytest.mark.parametrize("target", [1, 9, 25, 53])
def test_scrolls_lead_to_an_element(target: int) -> None:
    shown = page(50)
    for start in (0, 20, 45):
        view = View(8)
        view.top = start
        for direction in view.scrolls_to(target, shown):
            view.scroll(direction, StillBrowser(shown=shown))
        assert shown.lines()[target - 1] in view.show(shown).lines


@pytest.mark.parametrize(
    ("action", "top"),
    [
        (WebAction("hover", 3), 8),
        (WebAction("select", 3, "x"), 8),
        (WebAction("type", 3, "x", press_enter=False), 8),
        (WebAction("type", 3, "x"), 0),
        (WebAction("click", 3), 8),
        (WebAction("click", 20), 0),
        (WebAction("press", text="Tab"), 8),
        (WebAction("press", text="Enter"), 0),
        (WebAction("go_back"), 0),
    ],
)
def test_the_screen_stays_where_a_page_only_changes(action: WebAction, top: int) -> None:
    view, before = View(8), page(17)
    view.scroll("down", StillBrowser(shown=before))
    view.follow(action, before, page(17))
    assert view.top == top
    view.top = 8
    view.follow(action, before, page(17, url="http://shopping.test/2"))
    assert view.top == 0


def test_a_page_that_has_shrunk_is_shown_to_its_end() -> None:
    view = View(8)
    view.scroll("down", StillBrowser(shown=page(17)))
    assert view.show(page(7))[1:] == (2, 0)
