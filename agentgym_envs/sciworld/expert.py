"""Solves a task by the simulator's own solution, taken up from where the episode stands.

The simulator's solution names things that no text has shown, which nobody could imitate without
making names up. So it is played with a look around before an action that names such a thing, where
the look shows it and the solution still reaches the full score.

The solution begins at the task's start. While an episode follows it, looks and failed requests
aside, it goes on from there. Otherwise a second simulator replays the episode and tries to join
the solution at some of its steps; what it yields has been seen to reach the full score. Where no
try does, because what was needed is spent or lost, there is nothing to play.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from agentgym_envs.sciworld.answers import NOT_KNOWN, is_question, is_refusal
from agentgym_envs.sciworld.gateway import JavaError
from agentgym_envs.sciworld.house import ROOMS, room_shown, visited_rooms, way
from agentgym_envs.sciworld.simulator import Simulator
from agentgym_envs.sciworld.tasks import TaskVariation
from agentgym_envs.sciworld.verbs import leading_verb, reworded

_MAX_TRIES = 12
_MAX_SOLUTIONS = 8
_CACHED_SOLUTIONS = 1024
_log = logging.getLogger(__name__)

_LOOK_AROUND, _WAIT = "look around", "wait1"
_CHECKS = ("examine ", "use thermometer ")
_LOOKS = (_LOOK_AROUND, "look at ", "look in ", "examine ", "inventory", "read ", "task")


_WORD = re.compile(r"[a-z0-9]+(?:[-'.][a-z0-9]+)*")
_SEPARATOR = re.compile(r"\b(?:in|into|on|to|with|containing|and)\b|,")
_PART = re.compile(r"\b(?:anode|cathode|terminal [12]|in the seed stage)\b")
"""Details that no list of things shows: electrical parts, and a seed's age."""

_PLACES = (*ROOMS, "inventory", "door")
"""Places of every task."""


# The simulator's solutions have names of their own for some things: `egg parrot` for what a text
# calls `parrot egg`, `butterfly` for its `butterfly egg`, `flower pot 5 containing soil in
# inventory` for `flower pot 5 (containing soil)`. So a name counts as shown where one line of a
# text has all of its words, in any order; the thing, its content and its place are names of their
# own.
class ShownNames:
    """The names that an episode's texts have shown.

    Args:
        texts: what the episode has shown so far, its goal included.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines: set[frozenset[str]] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take in another text."""
        self._lines |= {frozenset(_WORD.findall(line)) for line in text.lower().splitlines()}

    def missing(self, action: str) -> list[frozenset[str]]:
        """Return the names in an action that were not shown, each as its words."""
        return [name for name in _names(action) if name not in self]

    def __contains__(self, name: frozenset[str]) -> bool:
        """Return whether a name, given as its words, was shown."""
        return any(name <= line for line in self._lines)


def _names(action: str) -> Iterator[frozenset[str]]:
    """Yield the words of each thing that an action names, but for rooms and doors."""
    lowered = " ".join(action.lower().split())
    verb = leading_verb(lowered)
    if verb is None:  # the number of a choice
        return
    beginning, hole, _ = verb.template.partition("{")
    things = lowered[len(beginning) :] if hole else ""
    for name in _SEPARATOR.split(_PART.sub("", things)):
        if name.strip() not in _PLACES:
            yield frozenset(_WORD.findall(name)) - {"the"}


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


class Solution(NamedTuple):
    """The solution of a task.

    Attributes:
        actions: what is to be played.
        looks: the places of those that only show what the next one names.
    """

    actions: tuple[str, ...]
    looks: frozenset[int]


class _Played(NamedTuple):
    """A play that solved a task.

    Attributes:
        solution: what was played.
        refused: the places of what was refused, among the actions that were given.
    """

    solution: Solution
    refused: set[int]


def actions_from(game: TaskVariation, history: Sequence[PastAction]) -> Sequence[str]:
    """Return the actions that solve a task after some actions, or nothing where no try did.

    Args:
        game: the task.
        history: the actions that the simulator has read since the task began.
    """
    gold = gold_path(game.task, game.variation)
    done, follows = _progress(gold, history)
    return gold.actions[done:] if follows else _joined(game, gold.actions, done, history)


@lru_cache(_CACHED_SOLUTIONS)
def gold_path(task: str, variation: int) -> Solution:
    """Return the simulator's own solution of a task from its start, with looks.

    A few of its solutions do not solve the task: one tests a shovel from elsewhere, one watches the
    chocolate in the furnace until it burns. So a solution is played before it is given. If it
    fails, it is tried without its looks at the progress; then the simulator is asked for another.
    What it asks for in vain, such as to open a door that is open, is left out.

    Raises:
        EnvFailure: Java is dead or gave no answer.
    """
    game = TaskVariation(task, variation)
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
    return Solution(failed[0], frozenset())


def _progress(gold: Solution, history: Sequence[PastAction]) -> tuple[int, bool]:
    """Return how many steps of the solution were played first, and whether nothing else was."""
    steps = [_plain(action) for action in gold.actions]
    done = 0
    for past in history:
        names = [_plain(action) for action in past.solution]
        starts = (done, done + 1) if done in gold.looks else (done,)  # a look may be left out
        start = next((n for n in starts if names == steps[n : n + len(names)]), None)
        if start is not None:
            done = start + len(names)
        elif not past.is_idle and not _plain(past.action).startswith(_LOOKS):
            return done, False
    return done, True


def _plain(action: str) -> str:
    return reworded(" ".join(action.lower().split()))


def _joined(
    game: TaskVariation, gold: Sequence[str], done: int, history: Sequence[PastAction]
) -> Sequence[str]:
    """Return a way back into the solution, empty where there is none."""
    simulator = Simulator()
    try:
        _start(simulator, game)
        rooms = visited_rooms(gold, room_shown(simulator.look()))
        for number in _joints(done):
            _replay(simulator, game, history)
            if (route := way(room_shown(simulator.look()), rooms[number])) is None:
                continue
            actions = (*route, *gold[number:])
            if solution := _solution(simulator, lambda: _replay(simulator, game, history), actions):
                return solution.actions
    finally:
        simulator.close()
    return ()


def _joints(done: int) -> list[int]:
    """Choose a few steps at which to join: the next, those before it, and the first."""
    near = list(range(done, max(done - _MAX_TRIES // 2, -1), -1))
    far = list(range(0, near[-1], max(1, done // (_MAX_TRIES // 2))))[::-1]
    return [*near, *far]


def _start(simulator: Simulator, game: TaskVariation) -> list[str]:
    """Begin a game and return its first texts."""
    goal = simulator.load(game.task, game.variation)
    return [goal, simulator.step(_LOOK_AROUND).text]


def _replay(simulator: Simulator, game: TaskVariation, history: Sequence[PastAction]) -> list[str]:
    """Begin a game, repeat the history and return the texts that it has shown."""
    texts = _start(simulator, game)
    texts += [simulator.step(past.action).text for past in history]
    if history and history[-1].is_idle:
        simulator.step("")  # cancels the question, should there be one
    return texts


def _solution(
    simulator: Simulator, begin: Callable[[], list[str]], actions: Sequence[str]
) -> Solution | None:
    """Return actions without refused ones, with looks, or None where they solve nothing.

    Args:
        simulator: where they are played.
        begin: brings the simulator to where they begin, and returns the texts so far.
        actions: what is played.
    """
    whole = _play(simulator, begin, actions)
    if whole is None:
        return None
    rest = [action for number, action in enumerate(actions) if number not in whole.refused]
    waiting = [_WAIT if number in whole.refused else each for number, each in enumerate(actions)]
    # A look or a refused action takes a moment, which a solution may not have, or may need.
    for choice, adds_looks in ((rest, True), (rest, False), (waiting, True), (waiting, False)):
        if played := _play(simulator, begin, choice, adds_looks=adds_looks):
            return played.solution
    return whole.solution


def _play(
    simulator: Simulator,
    begin: Callable[[], list[str]],
    actions: Sequence[str],
    *,
    adds_looks: bool = False,
) -> _Played | None:
    """Play actions and return the play, or None where it does not solve the task."""
    shown = ShownNames(begin())
    played: list[str] = []
    looks, refused = set(), set()
    for number, action in enumerate(actions):
        if adds_looks and _needs_look(simulator, shown, action):
            looks.add(len(played))
            played.append(_LOOK_AROUND)
            shown.add(simulator.step(_LOOK_AROUND).text)
        try:
            reply = simulator.step(action)
        except JavaError:
            return None
        if reply.score < 0:
            return None
        played.append(action)
        shown.add(reply.text)
        if not reply.text or reply.text == NOT_KNOWN or is_refusal(reply.text):
            refused.add(number)
        if is_question(reply.text) and not "".join(actions[number + 1 : number + 2]).isdigit():
            refused.add(number)  # it is not answered, so nothing is done
        if reply.is_completed:
            solution = Solution((*played, *actions[number + 1 :]), frozenset(looks))
            return _Played(solution, refused) if reply.points == 100 else None
    return None


def _needs_look(simulator: Simulator, shown: ShownNames, action: str) -> bool:
    """Return whether an action names a thing that only a look around would show."""
    missing = shown.missing(action)
    return bool(missing) and any(name in ShownNames([simulator.look()]) for name in missing)
