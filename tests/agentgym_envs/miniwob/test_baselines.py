"""The baseline of MiniWoB++ over pages that are written here; what they reach is measured."""

from __future__ import annotations

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.miniwob.baselines import first_named


def moves(goal: str, *nodes: Node, count: int = 9) -> list[str]:
    """Return the first moves on a page that never changes."""
    page = Page("", "", Node("RootWebArea", "Task", children=[Node("StaticText", goal), *nodes]))
    actions = (move.action for move in first_named(goal, lambda: page))
    return [action for action, _ in zip(actions, range(count), strict=False)]


def test_names_are_clicked_in_the_goals_order_and_the_last_button_ends() -> None:
    nodes = [Node("button", name) for name in ("TWO", "ONE", "ONEROUS", "Submit")]
    assert moves("Click ONE, then click two.", *nodes) == [
        "click [4]",
        "click [3]",
        "click [6]",
        "stop []",
    ]


def test_fields_take_the_goals_quotations_and_lists_the_option_it_names() -> None:
    field = Node("textbox", "")
    options = Node("combobox", "", {"value": "'Ann'", "options": "'Ann', 'Bob'"})
    assert moves('Enter "xyz" and select Bob', field, options, count=2) == [
        "type [3] [xyz] [0]",
        "select [4] [Bob]",
    ]
    assert moves("Forward the mail to Ann", field, count=1) == ["type [3] [Ann] [0]"]
