"""Plays one episode of ScienceWorld: its texts, scores, rewards and ends."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from agentgym_envs.core import ExpertMove, Outcome
from agentgym_envs.core.game import Game
from agentgym_envs.sciworld import answers
from agentgym_envs.sciworld.answers import is_refusal
from agentgym_envs.sciworld.expert import PastAction, actions_from
from agentgym_envs.sciworld.gateway import JavaError
from agentgym_envs.sciworld.listing import Listing
from agentgym_envs.sciworld.meanings import meanings
from agentgym_envs.sciworld.simulator import Reply, Simulator
from agentgym_envs.sciworld.tasks import TaskVariation
from agentgym_envs.sciworld.verbs import reworded

WORDS = ("help", "objects", "task")
"""Replies of the simulator to actions that are not played."""

_CHOICE = re.compile(r"[0-9]{1,6}")


class ListedNames:
    """The names by which an episode's list has the actions of a solution.

    Args:
        simulator: where the episode is played.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._solution: dict[str, tuple[str, ...]] = {}

    def name(self, actions: Iterable[str], listing: Callable[[], Listing]) -> Iterator[str]:
        """Yield actions under the names that the list has for them when their turn comes.

        A request that asks which of several is meant, and its answer, become one action where the
        list has a name that needs no question; where it has none, one becomes two. An action that
        the list does not have stays as it is.

        Args:
            actions: the solution, from where the episode stands.
            listing: returns the list of the episode's present state.
        """
        queue = deque(actions)
        while queue:
            parts = [queue.popleft()]
            choices = meanings(self._simulator, parts[0])
            if len(choices) > 1 and queue and queue[0].isdigit():
                parts.append(queue.popleft())
            number = int(parts[1]) if len(parts) > 1 else 0
            name = listing().name(choices[number]) if number < len(choices) else None
            asks = name is not None and len(meanings(self._simulator, name)) > 1
            is_clear = (len(choices) > 1) == (len(parts) > 1)
            if name is None or not (is_clear or asks):
                yield from parts
                continue
            is_answered = asks and is_clear  # else the solution asks in vain, and goes on
            self._solution[name] = tuple(parts[:-1] if is_answered else parts)
            yield name
            answer = listing().choice(choices[number].things) if is_answered else None
            if answer is not None:
                self._solution[answer] = tuple(parts[-1:])
                yield answer

    def pop_solution(self, action: str) -> tuple[str, ...]:
        """Return the solution's actions for which `name` last yielded an action, now played."""
        return self._solution.pop(action, (action,))


class Episode(Game):
    """The common part of an episode in the default mode and in the original.

    Args:
        simulator: where it is played.
        task: what the simulator loads.
        max_turns: the environment's turn limit.
        action_format: the environment's format.
        lists_actions: the expert uses the names of `available_actions`.

    Attributes:
        goal: the task's description.
        first_observation: what the policy reads first.
        points: the official wrapper's score, -100 to 100.
        is_over: the simulator has ended it.
        reply_text: the simulator's last answer; empty where it could not read the action.
    """

    is_over = False
    reply_text = ""
    default_max_turns: int
    drops_questions: bool
    """Whether an action that is no number, after a question, is played."""

    def __init__(
        self,
        simulator: Simulator,
        task: TaskVariation,
        *,
        max_turns: int,
        action_format: str,
        lists_actions: bool,
    ) -> None:
        self._simulator = simulator
        self._task = task
        self._max_turns = max_turns
        self._names_verbs = action_format in ("function_call", "code")
        self._lists_actions = lists_actions
        self._history: list[PastAction] = []
        self._choices: list[str] = []
        self._listing: Listing | None = None
        self._names = ListedNames(simulator)
        self.goal = simulator.load(task.task, task.variation)
        reply = simulator.step("look around")
        self.points = reply.points
        self.first_observation = f"{self.goal}\n{reply.text}"

    @property
    def score(self) -> float:
        """The progress in 0..1, which rooms may raise from the start."""
        return max(0, self.points) / 100

    def available_actions(self) -> list[str] | None:
        """List the actions that are possible now, sorted, where they are to be listed."""
        return self._list().actions if self._lists_actions else None

    def info(self) -> Mapping[str, Any]:
        """Return the simulator's names of the task, and the score, which may begin above 0."""
        names = {"task_name": self._task.task, "variation": self._task.variation}
        return {**names, "score": self.score}

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the simulator's own solution, where `sciworld.expert` can start it."""
        actions: Iterable[str] = actions_from(self._task, self._history)
        if self._lists_actions:
            actions = self._names.name(actions, self._list)
        for action in actions:
            if self.is_over:  # solutions go on a little after their end
                return
            yield ExpertMove(reworded(action) if self._names_verbs else action)

    def _list(self) -> Listing:
        if self._listing is None:
            self._listing = Listing(self._simulator, drops_questions=self.drops_questions)
        return self._listing

    def _play(self, action: str) -> Reply | None:
        """Play an action and return the reply, or None where it cannot be read."""
        self.reply_text = ""
        if len(action) > answers.MAX_LENGTH:
            return None
        self._listing = None
        try:
            reply = self._simulator.step(action)
        except JavaError:
            return None
        if reply.text == answers.NOT_KNOWN:
            return None
        self.reply_text = reply.text
        is_question = answers.is_question(reply.text)
        is_idle = not reply.text or is_question or is_refusal(reply.text)
        self._history.append(PastAction(action, is_idle, self._names.pop_solution(action)))
        self._choices = answers.choices(reply.text) if is_question else []
        return reply

    def _record(self, reply: Reply | None) -> None:
        """Take over a reply's points, and whether it ends the episode."""
        if reply is not None:
            self.points = reply.points
            self.is_over = reply.is_completed or self.points < 0


class DefaultEpisode(Episode):
    """An episode of the default mode: rewards are gains of the score in 0..1."""

    default_max_turns = 30
    drops_questions = True

    def act(self, action: str) -> Outcome:
        """Play one action."""
        if action.lower() in WORDS:
            return self._outcome(self._simulator.explain(action))
        choices = self._choices
        if choices and not _CHOICE.fullmatch(action):
            self._play("")  # cancels the question, so that this action is read as one
        reply = self._play(action)
        if reply is None:
            if len(action) > answers.MAX_LENGTH:
                return self._outcome(answers.too_long(action), is_valid=False)
            message = answers.not_known(action, self._simulator.objects())
            return self._outcome(message, is_valid=False)
        if answers.is_question(reply.text):
            return self._outcome(answers.question(reply.text), reply, is_valid=False)
        if not reply.text:
            message = answers.not_a_choice(action, len(choices)) if choices else answers.NO_ANSWER
            return self._outcome(message, reply, is_valid=False)
        return self._outcome(reply.text, reply, is_valid=not is_refusal(reply.text))

    def _outcome(self, text: str, reply: Reply | None = None, *, is_valid: bool = True) -> Outcome:
        last = self.score
        self._record(reply)
        gain, success = round(self.score - last, 2), self.score == 1.0
        return Outcome(text, gain, self.is_over, success=success, is_valid=is_valid)
