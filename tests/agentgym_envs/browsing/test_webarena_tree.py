"""The rules of WebArena's tree, on nodes written by hand."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("playwright")

from agentgym_envs.browsing.chromium import webarena_tree
from agentgym_envs.browsing.chromium.webarena_tree import is_in_window
from agentgym_envs.browsing.page import Page

WINDOW = (1280, 720)


def ax(number: int, role: str, name: str | None, *below: int, **properties: Any) -> dict[str, Any]:
    """Return a node as the DevTools protocol has it; one without a name is ignored."""
    node: dict[str, Any] = {
        "nodeId": str(number),
        "backendDOMNodeId": 1000 + number,
        "ignored": name is None,
        "role": {"value": role},
        "childIds": [str(child) for child in below],
        "properties": [{"name": key, "value": {"value": v}} for key, v in properties.items()],
    }
    return node if name is None else {**node, "name": {"value": name}}


NODES = [
    ax(70, "RootWebArea", "Shop", 7, focusable=True, focused=True),
    ax(7, "none", None, 20, 30, 40, 50),
    ax(20, "list", "", 21),
    ax(21, "listitem", "", 22, level=1, selected=True),
    ax(22, "link", "it's", 23, url="http://real:1/x"),
    ax(23, "StaticText", "it's"),
    ax(30, "img", "", 31, busy=True),
    ax(31, "StaticText", "new"),
    ax(40, "generic", "", 41),
    ax(41, "textbox", "Name", required=False, invalid="false", valuetext="a\nb"),
    ax(50, "StaticText", ""),
]


def shown(is_seen: list[bool] | None = None) -> list[str]:
    lines = webarena_tree.lines(NODES, lambda text: text.replace("http://real:1", "http://a.test"))
    if is_seen is not None:
        lines = webarena_tree.without(lines, is_seen)
    lines = webarena_tree.clean(lines)
    root = webarena_tree.build(lines)
    return Page("", "", root, ids=[line.element for line in lines]).lines()


def test_lines_tell_roles_names_and_some_properties_as_they_are() -> None:
    assert shown() == [
        "[1] RootWebArea 'Shop' focused: True",
        '\t[2] link "it\'s" url: http://a.test/x',
        "\t[4] img '' busy: True",
        "\t\t[5] StaticText 'new'",
        "\t[6] textbox 'Name' required: False valuetext: 'a\\nb'",
    ]


def test_what_is_around_a_line_need_not_be_seen() -> None:
    assert shown([False, False, True, False, True, True, True]) == [
        "[1] RootWebArea 'Shop' focused: True",
        '\t[3] StaticText "it\'s"',
        "\t[5] StaticText 'new'",
        "\t[6] textbox 'Name' required: False valuetext: 'a\\nb'",
    ]


@pytest.mark.parametrize(
    ("box", "is_seen"),
    [
        ((0, 0, 100, 20), True),
        ((0, 719, 100, 20), True),  # a pixel of height 20 weighs 1 * 20
        ((0, 719.99, 100, 20), False),
        ((0, 720, 100, 20), False),
        ((0, -30, 100, 20), False),
        ((1280, 0, 100, 20), False),
        ((0, 0, 0, 20), False),
        ((), False),
    ],
)
def test_what_the_window_shows_is_what_their_formula_says(
    box: tuple[float, ...], is_seen: bool
) -> None:
    assert is_in_window(box, WINDOW) is is_seen
