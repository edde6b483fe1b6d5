"""Tracks which part of a page is on the screen, counted in lines of its tree, not in pixels.

Where the window counts (`viewport_lines="window"`), the browser shows no more than its own part of
the page, and all lines of that are on the screen.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from agentgym_envs.actions import CALL_FORMATS
from agentgym_envs.actions.verbs import clipped
from agentgym_envs.arguments import whole_number
from agentgym_envs.browsing import Browser, refusals
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Page

MIN_LINES = 5
TREES = ("short", "webarena")
WINDOW = "window"
MAX_LINE = 2000
"""Characters of a line that are shown. A policy may type far more."""

_STAYING = ("hover", "select", "type")
_LEADING = ("link", "button")


def check_view(tree: str, viewport_lines: int | str | None, backend: str) -> tuple[str, int | None]:
    """Return the tree that a browser is to show, and how many of its lines are shown at once.

    Raises:
        ValueError: a value is not allowed, or not with the others.
    """
    if tree not in TREES:
        raise ValueError(f"unknown tree {tree!r}; allowed: {', '.join(TREES)}")
    if tree == "webarena" and backend != "chromium":
        raise ValueError(
            f"tree='webarena' is Chromium's own and needs backend='chromium', got {backend!r}; "
            "the text backend shows tree='short'"
        )
    if viewport_lines is None:
        return tree, None
    if viewport_lines == WINDOW:
        if tree == "short":
            raise ValueError(
                "viewport_lines='window' needs tree='webarena', got 'short'; give a number of "
                "lines, or None for whole pages"
            )
        return "webarena_window", None
    besides = ", or None for whole pages"
    if tree == "webarena":
        besides = ", None for whole pages, or 'window'"
    return tree, whole_number("viewport_lines", viewport_lines, least=MIN_LINES, besides=besides)


class Shown(NamedTuple):
    """Lines on the screen, and how many there are above and below."""

    lines: list[str]
    above: int
    below: int


class View:
    """The screen's window on a page.

    Args:
        height: lines shown at once; None shows whole pages.
    """

    def __init__(self, height: int | None) -> None:
        self.height = height
        self.top = 0
        self._seen: set[int] = set()  # ids that have been on the screen since the page was opened

    def show(self, page: Page) -> Shown:
        """Return the visible lines."""
        total = len(page.nodes)
        self.top = min(self.top, self._last_top(total))
        end = total if self.height is None else min(self.top + self.height, total)
        self._seen.update(range(self.top + 1, end + 1))
        return Shown(
            [clipped(line, MAX_LINE) for line in page.lines(self.top, end)],
            self.top,
            total - end,
        )

    def scroll(self, direction: str, browser: Browser) -> None:
        """Move by one screen, and the browser's window with it.

        Where all lines are on the screen the window moves alone; a page may grow when it does.

        Raises:
            InvalidAction: the page ends here.
        """
        page = browser.page()
        top = self._scrolled(self.top, direction, page)
        if top != self.top:
            self.top = top
            browser.scroll(direction, top / self._last_top(len(page.nodes)))
        elif not browser.scroll(direction):
            raise refusals.page_ends(direction)

    def scrolls_to(self, element: int, page: Page) -> list[str]:
        """Return the directions in which to scroll until an element is on the screen."""
        if self.height is None:
            return []
        line, top, directions = element - 1, self.top, []
        while not top <= line < top + self.height:
            directions.append("down" if line >= top else "up")
            top = self._scrolled(top, directions[-1], page)
        return directions

    def scrolls_through(self, elements: Collection[int], page: Page) -> list[str]:
        """Return the directions in which to scroll until all these have been on the screen."""
        top, directions = self.top, []
        for element in sorted(set(elements) - self._seen):
            while self.height is not None and not top < element <= top + self.height:
                directions.append("down" if element > top else "up")
                top = self._scrolled(top, directions[-1], page)
        return directions

    def follow(self, action: WebAction, before: Page, after: Page) -> None:
        """Go to the top where an action has led to another page, else stay."""
        node = before.node(action.element)
        stays = (
            before is after
            or (action.kind in _STAYING and not (action.kind == "type" and action.press_enter))
            or (action.kind == "click" and (node is None or node.role not in _LEADING))
            or (action.kind == "press" and "Enter" not in action.text)
        )
        same = (before.url, before.current_tab) == (after.url, after.current_tab)
        if not (stays and same):
            self.top = 0
            self._seen.clear()

    def _scrolled(self, top: int, direction: str, page: Page) -> int:
        step = 0 if self.height is None else self.height
        last = self._last_top(len(page.nodes))
        return min(top + step, last) if direction == "down" else max(top - step, 0)

    def _last_top(self, total: int) -> int:
        return 0 if self.height is None else max(0, total - self.height)


def screen_lines(page: Page, view: View, action_format: str = "plain") -> list[str]:
    """Write the part of the page that is on the screen, and how much there is besides."""
    shown = view.show(page)
    up, down = ("up", "down") if action_format in CALL_FORMATS else ("[up]", "[down]")
    lines = []
    if shown.above:
        lines.append(f"({shown.above} lines above: scroll {up})")
    lines += shown.lines
    if shown.below:
        lines.append(f"({shown.below} lines below: scroll {down})")
    return lines


def one_line(text: str) -> str:
    """Return printable text as it is, and other text as a Python literal."""
    return text if text.isprintable() else repr(text)
