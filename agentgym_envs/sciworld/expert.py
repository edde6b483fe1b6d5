"""Solves a task by the simulator's own solution, taken up from where the episode stands.

The solution begins at the task's start. While an episode follows it, looks and failed requests
aside, it goes on from there. Otherwise a second simulator replays the episode and tries to join
the solution at some of its steps; what it yields has been seen to reach the full score. Where no
try does, because what was needed is spent or lost, there is nothing to play.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from agentgym_envs.sciworld.answers import NOT_KNOWN
from agentgym_envs.sciworld.gateway import JavaError
from agentgym_envs.sciworld.house import room_shown, rooms_of, way
from agentgym_envs.sciworld.refusals import is_refusal
from agentgym_envs.sciworld.simulator import Simulator
from agentgym_envs.sciworld.tasks import Game
from agentgym_envs.sciworld.verbs import reworded

_MAX_TRIES = 12
_MAX_SOLUTIONS = 8
_CACHED_SOLUTIONS = 1024
_log = logging.getLogger(__name__)

_CHECKS = ("examine ", "use thermometer ")
_LOOKS = ("look around", "look at ", "look in ", "examine ", "inventory", "read ", "task")


class PastAction(NamedTuple):
    """An action that the simulator has read.

    Attributes:
        action: the action.
        is_idle: it changed nothing: it was refused, answered by a question, or cancelled one.
        solution: the solution's actions that it stands for, where it is another name for them.
    """

    action: str
    is_idle: bool
    solution: tuple[str, ...]


def actions_from(game: Game, history: Sequence[PastAction]) -> Sequence[str]:
    """Return the actions that solve a task after some actions; none where no try did.

    Args:
        game: the task.
        history: the actions that the simulator has read since the task began.
    """
    gold = gold_path(game.task, game.variation)
    done, follows = _progress(gold, history)
    return gold[done:] if follows else _joined(game, gold, done, history)


@lru_cache(_CACHED_SOLUTIONS)
def gold_path(task: str, variation: int) -> tuple[str, ...]:
    """Return the simulator's own solution of a task from its start.

    A few of its solutions do not solve the task: one tests a shovel from elsewhere, one watches the
    chocolate in the furnace until it burns. So a solution is played before it is given. If it
    fails, it is tried without its looks at the progress; then the simulator is asked for another.
    What it asks for in vain, such as to open a door that is open, is left out.

    Raises:
        EnvFailure: Java is dead or gave no answer.
    """
    game = Game(task, variation)
    simulator = Simulator()
    failed: list[tuple[str, ...]] = []
    try:
        for attempt in range(_MAX_SOLUTIONS):
            whole = simulator.solve(task, variation, tours=attempt)
            brief = tuple(action for action in whole if not action.startswith(_CHECKS))
            for actions in (whole, brief):
                if actions in failed:
                    continue
                if solution := _solution(simulator, lambda: _start(simulator, game), actions):
                    return solution
                failed.append(actions)
    finally:
        simulator.close()
    _log.warning("the simulator's solutions do not solve %s, variation %d", task, variation)
    return failed[0]


def _progress(gold: Sequence[str], history: Sequence[PastAction]) -> tuple[int, bool]:
    """Return how many steps of the solution were played first, and whether nothing else was."""
    done = 0
    for past in history:
        names = [_plain(action) for action in past.solution]
        if names == [_plain(action) for action in gold[done : done + len(names)]]:
            done += len(names)
        elif not past.is_idle and not _plain(past.action).startswith(_LOOKS):
            return done, False
    return done, True


def _plain(action: str) -> str:
    return reworded(" ".join(action.lower().split()))


def _joined(
    game: Game, gold: Sequence[str], done: int, history: Sequence[PastAction]
) -> Sequence[str]:
    """Find a way back into the solution; empty where there is none."""
    simulator = Simulator()
    try:
        start = _start(simulator, game)
        rooms = rooms_of(gold, start)
        for number in _joints(done):
            here = _replay(simulator, game, history)
            if (route := way(here, rooms[number])) is None:
                continue
            actions = (*route, *gold[number:])
            if solution := _solution(simulator, lambda: _replay(simulator, game, history), actions):
                return solution
    finally:
        simulator.close()
    return ()


def _joints(done: int) -> list[int]:
    """Choose steps at which to join: the next one, those before it, the first; not too many."""
    near = list(range(done, max(done - _MAX_TRIES // 2, -1), -1))
    far = list(range(0, near[-1], max(1, done // (_MAX_TRIES // 2))))[::-1]
    return [*near, *far]


def _start(simulator: Simulator, game: Game) -> str:
    """Begin a game and return the room where it begins."""
    simulator.load(game.task, game.variation)
    return room_shown(simulator.step("look around").text)


def _replay(simulator: Simulator, game: Game, history: Sequence[PastAction]) -> str:
    """Begin a game, repeat what was played and return the room where that leads."""
    _start(simulator, game)
    for past in history:
        simulator.step(past.action)
    if history and history[-1].is_idle:
        simulator.step("")  # cancels the question, should there be one
    return room_shown(simulator.step("look around").text)


def _solution(
    simulator: Simulator, begin: Callable[[], object], actions: Sequence[str]
) -> tuple[str, ...]:
    """Return actions without those that are refused; none where they do not solve the task.

    Args:
        simulator: where they are played.
        begin: brings the simulator to where they begin.
        actions: what is played.
    """
    refused = _refused(simulator, begin, actions)
    if not refused:
        return () if refused is None else tuple(actions)
    rest = tuple(action for number, action in enumerate(actions) if number not in refused)
    # A refused action takes a moment, which a solution may need.
    return tuple(actions) if _refused(simulator, begin, rest) is None else rest


def _refused(
    simulator: Simulator, begin: Callable[[], object], actions: Sequence[str]
) -> set[int] | None:
    """Play actions; return the places of the refused ones, None where they solve nothing."""
    begin()
    refused = set()
    for number, action in enumerate(actions):
        try:
            reply = simulator.step(action)
        except JavaError:
            return None
        if reply.score < 0:
            return None
        if not reply.text or reply.text == NOT_KNOWN or is_refusal(reply.text):
            refused.add(number)
        if reply.is_completed:
            return refused if reply.points == 100 else None
    return None
