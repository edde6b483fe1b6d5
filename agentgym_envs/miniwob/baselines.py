"""Baselines of MiniWoB++: rules that compare names with the goal and understand neither."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.core import ExpertMove

_QUOTED = re.compile(r'"(.+?)"')
_OPTION = re.compile(r"'([^']*)'")
_CAPITALISED = re.compile(r"(?<=\w )[A-Z]\w+")
_WORD = re.compile(r"\w+")

_MUCH = 1_000_000
"""Makes shared words count less than the place of a name in a goal of any length."""

Rank = Callable[[str, str], float]
"""Ranks a name by a goal: the highest is clicked first, and 0 never."""


def first_named(goal: str, name: str) -> float:
    """Rank the names that the goal holds whole: the earlier, the higher."""
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", goal, re.I)
    return 0.0 if match is None else 1.0 / (1 + match.start())


def named_or_alike(goal: str, name: str) -> float:
    """Rank as `first_named`, and below those the names that share words with the goal."""
    shared = {word.lower() for word in _WORD.findall(goal)} & set(_WORD.findall(name.lower()))
    return first_named(goal, name) + len(shared) / _MUCH


def fill_and_click(goal: str, current: Callable[[], Page], rank: Rank) -> Iterator[ExpertMove]:
    """Type the goal's quotations into the text fields, then click the highest-ranked names.

    A goal without quotations has its last word with a capital letter typed instead. Each name is
    clicked once. Where no name is left that ranks above 0, the last button is clicked and the
    episode given up.

    Args:
        goal: the goal.
        current: returns the current page.
        rank: ranks the names of elements.
    """
    texts = _QUOTED.findall(goal) or _CAPITALISED.findall(goal)[-1:]
    done = {("StaticText", goal)}
    while True:
        nodes = [node for node in current().nodes[1:] if node.name != goal]
        fields = [node for node in nodes if node.role == "textbox" and not _value(node)]
        lists = [(node, option) for node in nodes if (option := _unselected(goal, node))]
        names = [node for node in nodes if node.name and (node.role, node.name) not in done]
        best = max(names, key=lambda node: rank(goal, node.name), default=None)
        if texts and fields:
            yield ExpertMove(f"type [{fields[0].element}] [{texts.pop(0)}] [0]")
        elif lists:
            yield ExpertMove(f"select [{lists[0][0].element}] [{lists[0][1]}]")
        elif best is not None and rank(goal, best.name) > 0:
            done.add((best.role, best.name))
            yield ExpertMove(f"click [{best.element}]")
        else:
            buttons = [node for node in nodes if node.role == "button"]
            if buttons:
                yield ExpertMove(f"click [{buttons[-1].element}]")
            yield ExpertMove("stop []")
            return


def _value(node: Node) -> str:
    return node.properties.get("value", "").strip("'")


def _unselected(goal: str, node: Node) -> str:
    """Return the option that the goal names and a list box does not have, if any."""
    options = _OPTION.findall(node.properties.get("options", "")) if node.role == "combobox" else []
    named = [option for option in options if option and first_named(goal, option)]
    return next((option for option in named[:1] if option != _value(node)), "")
