"""Plays a task's expert on the world in the making, to see what its way changes and answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agentgym_envs.browsing.actions import parse_action
from agentgym_envs.sites.content import SiteContent
from agentgym_envs.webarena.evaluators.verdict import Ending
from agentgym_envs.webarena.places import EmbeddedPlace, open_start
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution


@contextmanager
def played(
    task: WebTask, content: SiteContent, solution: Solution | None = None
) -> Iterator[Ending]:
    """Let the expert play a task, and give what it leaves: pages, databases and the answer.

    Args:
        task: as it was drawn, or is read from a file.
        content: of the sites; none of it is changed.
        solution: plays it in the expert's place.

    Raises:
        ElementNotFound: the expert does not find what it looks for.
    """
    solution = solution or EXPERTS[task.intent_template_id]
    place = EmbeddedPlace("text", content)
    episode = place.begin(task)
    try:
        open_start(place, episode, task)
        answer = ""
        case = Case(task.instantiation_dict or {}, task.notes or {})
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
