"""Plays a template's solution as an expert that uses only what was on the screen.

A solution reads whole pages; what it reads is scrolled to first, and so is what it acts on. An
imitator then sees everything that an answer is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentgym_envs.browsing.actions import parse_action
from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.browsing.view import View
from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution


class Reader(Screen):
    """A screen that notes which elements of the current page were read.

    An element that is found by its exact name is not read: who looks for it knows its name.

    Args:
        current: returns the browser's current page.
    """

    def __init__(self, current: Callable[[], Page]) -> None:
        super().__init__(current)
        self._page: Page | None = None
        self._read: set[int] = set()

    @property
    def read(self) -> set[int]:
        """The ids of what was read of the page as it is now."""
        if self.page is not self._page:
            self._page, self._read = self.page, set()
        return self._read

    def all(self, role: str, name: str | None = None) -> list[Node]:
        """List the elements of a role; without a name, they are read."""
        nodes = super().all(role, name)
        if name is None:
            self._note(*nodes)
        return nodes

    def starting(self, role: str, beginning: str, *, nth: int = 0) -> Node:
        """Return the nth element of this role whose name begins so; it alone is read."""
        before = set(self.read)
        nodes = super().starting(role, beginning, nth=nth)
        self.read.intersection_update(before)
        self._note(nodes)
        return nodes

    def below(self, node: Node, role: str) -> list[Node]:
        """List the elements of a role inside a node; they are read."""
        nodes = super().below(node, role)
        self._note(*nodes)
        return nodes

    def _note(self, *nodes: Node) -> None:
        self.read.update(node.element for node in nodes)


def moves(
    solution: Solution, case: Case, current: Callable[[], Page], view: View
) -> Iterator[ExpertMove]:
    """Yield moves that solve a task; end early where something is not where it should be.

    Args:
        solution: of the task's template.
        case: what is known of the task.
        current: returns the browser's current page.
        view: the part of it that is on the screen.
    """
    reader = Reader(current)
    try:
        for move in solution(case, reader):
            for direction in view.scrolls_through(reader.read, reader.page):
                yield _scroll(direction, "I read on further")
            action = parse_action(move.action)
            if action.kind != "tab_focus" and reader.page.node(action.element) is not None:
                for direction in view.scrolls_to(action.element, reader.page):
                    yield _scroll(direction, "What I need is further")
            yield move
    except ElementNotFound:
        return


def _scroll(direction: str, thought: str) -> ExpertMove:
    return ExpertMove(f"scroll [{direction}]", f"{thought} {direction}.")
