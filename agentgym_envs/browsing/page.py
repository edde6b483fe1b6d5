"""Describes a page as every browser shows it: an accessibility tree, and its lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(slots=True)
class Node:
    """A node of the accessibility tree.

    Attributes:
        role: an ARIA role, or `"RootWebArea"` and `"StaticText"` as Chromium calls them.
        name: the accessible name, white space collapsed.
        properties: what else is told, in order: `{"checked": "true", "url": ...}`.
        children: in document order.
        element: the id in brackets; set by `Page`.
    """

    role: str
    name: str
    properties: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    element: int = 0

    def walk(self, depth: int = 0) -> Iterator[tuple[Node, int]]:
        """Yield this node and all below, in document order, each with its depth."""
        waiting = [(self, depth)]
        while waiting:
            node, depth = waiting.pop()
            yield node, depth
            if node.children:
                below = depth + 1
                waiting += [(child, below) for child in reversed(node.children)]

    def line(self) -> str:
        """Return the node as one line, without indentation."""
        properties = "".join(f" {key}: {_quoted(text)}" for key, text in self.properties.items())
        return f"[{self.element}] {self.role} {self.name!r}{properties}"


@dataclass
class Page:
    """The current page of a browser.

    Attributes:
        url: its address, with the sites' canonical origins whatever the backend's own are.
        title: of the document.
        root: its accessibility tree.
        tabs: the titles of all tabs.
        current_tab: index of the current one.
        ids: of the nodes, in document order; None counts them from 1.
    """

    url: str
    title: str
    root: Node
    tabs: tuple[str, ...] = ("",)
    current_tab: int = 0
    ids: Sequence[int] | None = None

    def __post_init__(self) -> None:
        walk = list(self.root.walk())
        self.nodes = [node for node, _ in walk]
        self._depths = [depth for _, depth in walk]
        ids = range(1, len(self.nodes) + 1) if self.ids is None else self.ids
        for node, element in zip(self.nodes, ids, strict=True):
            node.element = element

    def node(self, element: int) -> Node | None:
        """Return the node of an id, or None."""
        place = self.place(element)
        return None if place is None else self.nodes[place]

    def place(self, element: int) -> int | None:
        """Return where the node of an id stands among `nodes`, or None."""
        if self.ids is None:
            return element - 1 if 0 < element <= len(self.nodes) else None
        return self._places.get(element)

    def lines(self, first: int = 0, end: int | None = None) -> list[str]:
        """Return the tree as lines, indented by one tab a level, or some of them."""
        shown = zip(self.nodes[first:end], self._depths[first:end], strict=True)
        return ["\t" * depth + node.line() for node, depth in shown]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {node.element: place for place, node in enumerate(self.nodes)}


def _quoted(text: str) -> str:
    # A page's own text must not begin a line: only what can be printed stands as it is.
    return text if text.isprintable() else repr(text)
