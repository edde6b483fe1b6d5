"""Plays a task's recorded solution.

Each task is solved when its world is made, and the moves are shipped beside it. All that a move
rests on is scrolled to first, and so is what it acts on. An imitator then sees everything that an
answer is made of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.browsing.view import View
from agentgym_envs.core import ExpertMove
from agentgym_envs.errors import NoExpert
from agentgym_envs.sites.content import SiteContent
from agentgym_envs.webarena.tasks.files import WebTask

PLACEHOLDER = "{element}"


@dataclass(frozen=True)
class RecordedMove:
    """A move of a solution.

    Attributes:
        action: in WebArena's grammar, with `PLACEHOLDER` for the id of its element.
        thought: why it is made.
        role: of the element that it acts on; empty for none.
        name: of the element.
        nth: index among the elements of this role and name.
        last_read: id of the last element of the page that was read; 0 where none was.
    """

    action: str
    thought: str = ""
    role: str = ""
    name: str = ""
    nth: int = 0
    last_read: int = 0


def read_record(content: SiteContent, task: WebTask) -> tuple[list[str], list[RecordedMove]]:
    """Return the addresses that a world's task begins at, one for each tab, and its moves.

    Raises:
        NoExpert: the world has no task of this template and intent.
    """
    for template in content.templates:
        if template.template == task.intent_template_id:
            tasks = map(json.loads, content.read(template.file).splitlines())
            for each, record in zip(tasks, content.read_moves(template), strict=True):
                if each["intent"] == task.intent:
                    starts, moves = json.loads(record)
                    return starts, [RecordedMove(**move) for move in moves]
    raise NoExpert(
        f"the expert plays the tasks of {content.name} alone; it has none of the template "
        f"{task.intent_template_id} with the intent of webarena_{task.task_id}"
    )


def play_record(
    starts: Sequence[str], moves: Sequence[RecordedMove], current: Callable[[], Page], view: View
) -> Iterator[ExpertMove]:
    """Yield moves that solve a task, and end early where an element is missing.

    Args:
        starts: the addresses that it begins at, one for each tab.
        moves: that were recorded.
        current: returns the browser's current page.
        view: the part of it that is on the screen.
    """
    yield from _begin_anew(starts, current, view)
    for move in moves:
        page = current()
        nodes = [n for n in page.nodes if (n.role, n.name) == (move.role, move.name)]
        if move.role and len(nodes) <= move.nth:
            return
        last_read = min(move.last_read, len(page.nodes))
        for direction in view.scrolls_through({last_read} if last_read else (), page):
            yield _scroll(direction, "I read on further")
        if move.role:
            yield from _act(nodes[move.nth], move.action, move.thought, page, view)
        else:
            yield ExpertMove(move.action, move.thought)


def _begin_anew(
    starts: Sequence[str], current: Callable[[], Page], view: View
) -> Iterator[ExpertMove]:
    """Open the start again and empty the shop's cart, where the task was begun before."""
    if (current().current_tab, current().url) != (0, starts[0]):
        for tab, start in reversed(list(enumerate(starts))):
            if len(starts) > 1:
                yield ExpertMove(f"tab_focus [{tab}]", "The task begins with a page in each tab.")
            yield ExpertMove(f"goto [{start}]", "I begin where the task begins.")
    links = _beginning(current(), "link", "Cart (")
    if links and links[0].name != "Cart (0)":
        thought = "The cart shall hold only what I put into it."
        yield from _act(links[0], f"click [{PLACEHOLDER}]", thought, current(), view)
        while buttons := _beginning(current(), "button", "Remove "):
            yield from _act(buttons[-1], f"click [{PLACEHOLDER}]", thought, current(), view)
        yield ExpertMove(f"goto [{starts[0]}]", "The cart is empty; I begin.")


def _beginning(page: Page, role: str, beginning: str) -> list[Node]:
    return [n for n in page.nodes if n.role == role and n.name.startswith(beginning)]


def _act(node: Node, action: str, thought: str, page: Page, view: View) -> Iterator[ExpertMove]:
    for direction in view.scrolls_to(node.element, page):
        yield _scroll(direction, "What I need is further")
    yield ExpertMove(action.replace(PLACEHOLDER, str(node.element), 1), thought)


def _scroll(direction: str, thought: str) -> ExpertMove:
    return ExpertMove(f"scroll [{direction}]", f"{thought} {direction}.")
