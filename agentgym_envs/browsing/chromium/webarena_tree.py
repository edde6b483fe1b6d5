"""Turns Chromium's accessibility tree into the lines that WebArena shows (arXiv 2307.13854).

The rules are those of its `browser_env` (commit f62e0b9): which nodes have a line, which properties
a line tells, what counts as shown in the window, and that a text is not said twice. Differences:

1. A property's text that cannot be printed stands as a Python literal, so that no page can write a
   line.
2. The boxes of text within a line, which Chromium did not list in WebArena's time, are left out.
3. A line of another role stays though it has the word StaticText in it.
4. An id is the number of the line on the whole page. Chromium's own, which stand there, differ from
   one run to the next.
5. A text that an id before it happens to have in it, such as 1 in [12], stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentgym_envs.browsing.page import Node

_ROOT = "RootWebArea"
_TEXT = "StaticText"
_LATER = "InlineTextBox"

_NOT_TOLD = frozenset(
    {"editable", "focusable", "invalid", "level", "multiline", "readonly", "settable"}
)
_SILENT = frozenset({
    "LabelText", "Legend", "Section", "banner", "generic", "img", "list", "listitem", "navigation",
    "paragraph", "strong",
})  # fmt: skip
"""Roles that have a line only with a name or a property."""

_IN_WINDOW = 0.6
_LINES_BEFORE = 3  # a text that one of so many lines before it holds is not said again

AxNode = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of the tree.

    Attributes:
        node: without children.
        depth: how far it is indented.
        backend: its backend id.
        element: the id in brackets.
    """

    node: Node
    depth: int
    backend: int
    element: int


def lines(ax_nodes: Sequence[AxNode], canonical: Callable[[str], str]) -> list[Line]:
    """Return the lines of a whole page, repetitions included.

    Args:
        ax_nodes: the nodes of `Accessibility.getFullAXTree`.
        canonical: writes addresses as the sites' canonical ones.
    """
    nodes = {node["nodeId"]: node for node in reversed(ax_nodes)}
    found: list[Line] = []
    waiting = [(ax_nodes[0], 0)]
    while waiting:
        ax, depth = waiting.pop()
        node = _node(ax, canonical)
        if node is not None:
            found.append(Line(node, depth, ax["backendDOMNodeId"], len(found) + 1))
            depth += 1
        below = [nodes[child] for child in ax.get("childIds", ()) if child in nodes]
        waiting += [(child, depth) for child in reversed(below)]
    return found


def is_in_window(box: Sequence[float], window: tuple[int, int]) -> bool:
    """Return whether WebArena takes a node for one that the window shows.

    Args:
        box: the left, top, width and height of its rectangle in the window; empty if it has none.
        window: the width and height of the window.
    """
    if not box or not box[2] or not box[3]:
        return False
    (left, top, width, height), (right, bottom) = box, window
    across = max(0, min(left + width, right) - max(left, 0))
    down = max(0, min(top + height, bottom) - max(top, 0))
    # Not divided by the area: as it stands there, tall things count from their first pixels on.
    return across * down / width * height >= _IN_WINDOW


def without(lines: Sequence[Line], is_seen: Sequence[bool]) -> list[Line]:
    """Return the lines that are seen, less indented where those around them are not."""
    left: list[Line] = []
    around: list[tuple[int, int]] = []  # (depth, depth without what is not seen)
    for line, stays in zip(lines, is_seen, strict=True):
        while around and around[-1][0] >= line.depth:
            around.pop()
        depth = around[-1][1] if around else 0
        if stays or line.node.role == _ROOT:
            left.append(replace(line, depth=depth))
            depth += 1
        around.append((line.depth, depth))
    return left


def clean(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without the texts that the lines just before them hold."""
    left: list[Line] = []
    for line in lines:
        if line.node.role == _TEXT:
            # Without its quotes; where properties follow, the last character of these.
            text = _told(line).removeprefix(f"{_TEXT} ")[1:-1]
            before = [_told(other) for other in left[-_LINES_BEFORE:]]
            if not text or any(text in other for other in before):
                continue
        left.append(line)
    return left


def build(lines: Sequence[Line]) -> Node:
    """Return the root of the tree that has these lines."""
    around: list[Line] = []
    for line in lines:
        del around[line.depth :]
        if around:
            around[-1].node.children.append(line.node)
        around.append(line)
    return lines[0].node


def _told(line: Line) -> str:
    """Return a line without its id."""
    return line.node.line().partition("] ")[2]


def _node(ax: AxNode, canonical: Callable[[str], str]) -> Node | None:
    """Return the suite's node for one of Chromium's, or None if it has no line."""
    role = ax["role"]["value"]
    if "name" not in ax or "backendDOMNodeId" not in ax or role == _LATER:
        return None
    name = canonical(ax["name"]["value"])
    properties = dict(_properties(ax, canonical))
    is_silent = role in _SILENT and (not properties or role == "listitem")
    if not name.strip() and is_silent:
        return None
    return Node(role, name, properties)


def _properties(ax: AxNode, canonical: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    for entry in ax.get("properties", ()):
        if entry["name"] not in _NOT_TOLD and "value" in entry["value"]:
            yield entry["name"], canonical(str(entry["value"]["value"]))
