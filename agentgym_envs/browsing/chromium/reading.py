"""Reads a tab's page as a tree: the suite's own, or the one that WebArena shows.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from agentgym_envs.browsing.chromium import webarena_tree
from agentgym_envs.browsing.chromium.tab import Gone, Tab
from agentgym_envs.browsing.chromium.tree import build_tree, read_document
from agentgym_envs.browsing.page import Node

TREES = ("short", "webarena", "webarena_window")
"""The suite's own tree, WebArena's of the whole page, and WebArena's of the window."""

# The rectangle that WebArena asks for: of a text, that of a range around it.
_RECTANGLE = """function () {
    let box = this;
    if (this.nodeType === 3) {
        box = document.createRange();
        box.selectNode(this);
    }
    const {x, y, width, height} = box.getBoundingClientRect();
    return [x, y, width, height];
}"""


class Tree(NamedTuple):
    """The tree of a page.

    Attributes:
        root: its root.
        backends: the backend ids of all nodes in document order; 0 where there is none.
        ids: by which an action names the nodes; None counts them from 1.
    """

    root: Node
    backends: Sequence[int]
    ids: Sequence[int] | None = None


async def read_tree(
    tab: Tab, kind: str, canonical: Callable[[str], str], window: tuple[int, int]
) -> Tree:
    """Return the tree of a page.

    Args:
        tab: the tab.
        kind: one of `TREES`.
        canonical: writes addresses as the sites' canonical ones.
        window: its width and height.
    """
    if kind == "short":
        nodes, root = await tab.read()
        document = read_document(root)
        names = list(document.frames.values())
        trees = await asyncio.gather(*map(tab.read_tree, names))
        frames = dict(zip(names, trees, strict=True))
        return Tree(*build_tree(nodes, document, canonical, frames))
    nodes = await tab.read_tree()
    lines = webarena_tree.lines(nodes, canonical)
    if kind == "webarena_window":
        boxes = await asyncio.gather(*(_rectangle(tab, line.backend) for line in lines))
        is_seen = [webarena_tree.is_in_window(box, window) for box in boxes]
        lines = webarena_tree.without(lines, is_seen)
    lines = webarena_tree.clean(lines)
    return Tree(
        webarena_tree.build(lines),
        [line.backend for line in lines],
        [line.element for line in lines],
    )


async def _rectangle(tab: Tab, backend: int) -> Sequence[float]:
    try:
        return await tab.call(backend, _RECTANGLE) or ()
    except Gone:
        return ()
