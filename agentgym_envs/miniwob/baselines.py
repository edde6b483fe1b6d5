"""A baseline of MiniWoB++: a rule that finds names in the goal and understands none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.core import ExpertMove

_QUOTED = re.compile(r'"(.+?)"')
_OPTION = re.compile(r"'([^']*)'")
_CAPITALISED = re.compile(r"(?<=\w )[A-Z]\w+")


def first_named(goal: str, current: Callable[[], Page]) -> Iterator[ExpertMove]:
    """Type the goal's quotations into the text fields, then click the elements that it names.

    A goal without quotations has its last word with a capital letter typed instead. Elements are
    clicked in the order of their names in the goal, each name once. Where none is left, the last
    button is clicked and the episode given up.

    Args:
        goal: the goal.
        current: returns the current page.
    """
    texts = _QUOTED.findall(goal) or _CAPITALISED.findall(goal)[-1:]
    done: set[tuple[str, str]] = set()
    while True:
        nodes = [node for node in current().nodes[1:] if node.name != goal]
        fields = [node for node in nodes if node.role == "textbox" and not _value(node)]
        lists = [(node, option) for node in nodes if (option := _unselected(goal, node))]
        names = [
            (place, node)
            for node in nodes
            if (node.role, node.name) not in done and (place := _place(goal, node.name)) >= 0
        ]
        if texts and fields:
            yield ExpertMove(f"type [{fields[0].element}] [{texts.pop(0)}] [0]")
        elif lists:
            yield ExpertMove(f"select [{lists[0][0].element}] [{lists[0][1]}]")
        elif names:
            _, best = min(names, key=lambda pair: pair[0])
            done.add((best.role, best.name))
            yield ExpertMove(f"click [{best.element}]")
        else:
            buttons = [node for node in nodes if node.role == "button"]
            if buttons:
                yield ExpertMove(f"click [{buttons[-1].element}]")
            yield ExpertMove("stop []")
            return


def _place(goal: str, name: str) -> int:
    """Return where the goal names an element, or -1 where it does not."""
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", goal, re.I) if name else None
    return -1 if match is None else match.start()


def _value(node: Node) -> str:
    return node.properties.get("value", "").strip("'")


def _unselected(goal: str, node: Node) -> str:
    """Return the option that the goal names and a list box does not have, if any."""
    options = _OPTION.findall(node.properties.get("options", "")) if node.role == "combobox" else []
    named = [option for option in options if _place(goal, option) >= 0]
    return next((option for option in named[:1] if option != _value(node)), "")
