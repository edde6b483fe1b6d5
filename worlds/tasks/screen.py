"""Finds and reads elements on the screen, and makes a solution's moves on them.

A solution reads whole pages. The screen notes how far down, so that who plays its moves can scroll
to all that they rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TypeVar

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.names import ORIGINS

_Item = TypeVar("_Item")


class ElementNotFound(Exception):
    """The screen lacks an element that a solution needs, so the solution fails."""


class Screen:
    """The current page, always fresh, and the moves that can be made on it.

    An element that is found by its exact name is not read: who looks for it knows its name.

    Args:
        current: returns the browser's current page.
    """

    def __init__(self, current: Callable[[], Page]) -> None:
        self._current = current
        self._page: Page | None = None
        self._last_read = 0

    @property
    def page(self) -> Page:
        """The page as it is now."""
        return self._current()

    @property
    def url(self) -> str:
        """Its address."""
        return self.page.url

    @property
    def last_read(self) -> int:
        """The id of the last element of the page that was read, or 0."""
        return self._last_read if self.page is self._page else 0

    def all(self, role: str, name: str | None = None) -> list[Node]:
        """List the elements of a role. Without a name, they count as read."""
        nodes = self._named(role, name)
        if name is None:
            self._note(nodes)
        return nodes

    def has(self, role: str, name: str) -> bool:
        """Return whether there is such an element."""
        return bool(self._named(role, name))

    def find(self, role: str, name: str, *, nth: int = 0) -> Node:
        """Return the nth element of this role and exact name.

        Raises:
            ElementNotFound: there is none.
        """
        nodes = self._named(role, name)
        if len(nodes) <= nth:
            raise ElementNotFound(f"no {role} {name!r} (number {nth}) on {self.url}")
        return nodes[nth]

    def starting(self, role: str, beginning: str, *, nth: int = 0) -> Node:
        """Return the nth element of this role whose name begins so. It alone counts as read.

        Raises:
            ElementNotFound: there is none.
        """
        nodes = [node for node in self._named(role) if node.name.startswith(beginning)]
        if len(nodes) <= nth:
            raise ElementNotFound(f"no {role} {beginning!r}... (number {nth}) on {self.url}")
        self._note([nodes[nth]])
        return nodes[nth]

    def below(self, node: Node, role: str) -> list[Node]:
        """List the elements of a role inside a node, such as a row's links.

        They count as read.
        """
        nodes = [inner for inner, _ in node.walk() if inner.role == role and inner is not node]
        self._note(nodes)
        return nodes

    def _named(self, role: str, name: str | None = None) -> list[Node]:
        return [n for n in self.page.nodes if n.role == role and name in (None, n.name)]

    def _note(self, nodes: Iterable[Node]) -> None:
        last = max((node.element for node in nodes), default=0)
        self._page, self._last_read = self.page, max(self.last_read, last)

    # Moves ------------------------------------------------------------------------------------

    def click(self, role: str, name: str, thought: str = "", *, nth: int = 0) -> ExpertMove:
        """Click an element."""
        return self.click_node(self.find(role, name, nth=nth), thought)

    def click_node(self, node: Node, thought: str = "") -> ExpertMove:
        """Click an element that was found before on this same page."""
        return ExpertMove(
            f"click [{node.element}]", thought or f"I click the {node.role} {node.name!r}."
        )

    def fill(
        self,
        role: str,
        name: str,
        text: str,
        thought: str = "",
        *,
        enter: bool = False,
        nth: int = 0,
    ) -> ExpertMove:
        """Type into a field, replacing its content, and press Enter if `enter` is set."""
        node = self.find(role, name, nth=nth)
        return ExpertMove(
            f"type [{node.element}] [{text}] [{int(enter)}]", thought or f"I fill in {name!r}."
        )

    def hover(self, role: str, name: str, thought: str = "", *, nth: int = 0) -> ExpertMove:
        """Move the pointer over an element, which opens its menu."""
        node = self.find(role, name, nth=nth)
        return ExpertMove(f"hover [{node.element}]", thought or f"I point at {name!r}.")

    def choose(self, name: str, option: str, thought: str = "", *, nth: int = 0) -> ExpertMove:
        """Choose an option of a list box."""
        node = self.find("combobox", name, nth=nth)
        return ExpertMove(
            f"select [{node.element}] [{option}]", thought or f"I choose {option!r} under {name!r}."
        )

    def go(self, url: str, thought: str = "") -> ExpertMove:
        """Open an address."""
        return ExpertMove(f"goto [{url}]", thought or "I open the page by its address.")

    def stop(self, answer: str = "", thought: str = "") -> ExpertMove:
        """End the task."""
        return ExpertMove(f"stop [{answer}]", thought or "The task is done.")

    def give_up(self, reason: str) -> ExpertMove:
        """End a task that cannot be done, and say why."""
        return self.stop(f"N/A: {reason}", reason)


def first_of(items: Iterable[_Item]) -> _Item:
    """Return the first of the elements read from the screen.

    Raises:
        ElementNotFound: nothing was.
    """
    for item in items:
        return item
    raise ElementNotFound("nothing was found")


def over_pages(
    screen: Screen, read: Callable[[], list[_Item]], thought: str = ""
) -> Generator[ExpertMove, None, list[_Item]]:
    """Read a list page after page, and return the items of all pages.

    Args:
        screen: at the list's first page.
        read: reads the page that is shown.
        thought: why the next page is opened.
    """
    items = read()
    while screen.has("link", "Next"):
        yield screen.click("link", "Next", thought or f"{len(items)} so far; the list goes on.")
        items += read()
    return items


def enter(screen: Screen, site: str, thought: str = "") -> Iterator[ExpertMove]:
    """Open a site's first page, unless the browser shows a page of it."""
    home = f"{ORIGINS[site]}/"
    if not screen.url.startswith(home):
        yield screen.go(home, thought or "What I need is on another site; I open it.")
