"""Plays tasks' solutions on a world's content, and records their moves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agentgym_envs.browsing.actions import parse_action
from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.content import SiteContent
from agentgym_envs.webarena.deployments import EmbeddedDeployment, open_start, start_urls
from agentgym_envs.webarena.evaluators.verdict import Ending
from agentgym_envs.webarena.expert import PLACEHOLDER, RecordedMove
from agentgym_envs.webarena.tasks.files import WebTask
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.template import Case, Solution

Record = tuple[list[str], list[RecordedMove]]
"""The addresses that a task begins at, one for each tab, and the moves that solve it."""


@contextmanager
def play_solution(task: WebTask, content: SiteContent, solution: Solution) -> Iterator[Ending]:
    """Play a task, and yield the solution's pages, databases and answer.

    Args:
        task: as it was drawn, or is read from a file.
        content: of the sites; none of it is changed.
        solution: of the task's template, or another.

    Raises:
        ElementNotFound: the solution does not find what it looks for.
    """
    place = EmbeddedDeployment("text", content)
    episode = place.open(task)
    try:
        open_start(place, episode, task)
        answer = ""
        case = Case(task.instantiation_dict or {}, notes=task.notes or {})
        for move in solution(case, Screen(episode.browser.page)):
            action = parse_action(move.action)
            if action.kind == "stop":
                answer = action.text
                break
            episode.act(action)
        yield Ending(
            task.intent,
            answer,
            episode.browser,
            episode.functions,
            episode.state,
            visited=episode.visited,
        )
    finally:
        episode.close()


def record_moves(task: WebTask, content: SiteContent, solution: Solution) -> Record:
    """Play a task and return its start addresses and the moves, up to a failure.

    The first page is the one that is shown: who is signed out may be led to another.
    """
    starts = start_urls(EmbeddedDeployment("text", content), task)
    moves: list[RecordedMove] = []

    def noting(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        starts[0] = screen.url
        for move in solution(case, screen):
            moves.append(_record(move, screen))
            yield move

    with suppress(ElementNotFound), play_solution(task, content, noting):
        pass
    return starts, moves


def _record(move: ExpertMove, screen: Screen) -> RecordedMove:
    action, page = parse_action(move.action), screen.page
    node = None if action.kind == "tab_focus" else page.node(action.element)
    if node is None:
        return RecordedMove(move.action, move.thought, last_read=screen.last_read)
    alike = [n.element for n in page.nodes if (n.role, n.name) == (node.role, node.name)]
    return RecordedMove(
        move.action.replace(str(node.element), PLACEHOLDER, 1),
        move.thought,
        role=node.role,
        name=node.name,
        nth=alike.index(node.element),
        last_read=screen.last_read,
    )
