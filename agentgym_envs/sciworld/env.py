"""SciWorld: experiments of primary-school science in ScienceWorld's simulator.

The scenario of AgentGym, with all 30 tasks of the simulator. Knows what an episode is: scores,
rewards, ends and texts; `simulator` knows Java.

`compat="agentgym"` follows AgentGym 3ef9235d. Its server answers a reset with the task and the room
apart, and its client puts them together: the plain format shows the server's room, `react` what the
client shows. Rewards are in points, 0 to 100, and take back all and 100 more at a wrong focus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser
from agentgym_envs.actions.compat import RestParser, WholeTextParser
from agentgym_envs.arguments import positive_seconds
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.errors import InvalidAction
from agentgym_envs.sciworld import answers
from agentgym_envs.sciworld.expert import Played, moves_from
from agentgym_envs.sciworld.gateway import JavaError
from agentgym_envs.sciworld.jvm import installation
from agentgym_envs.sciworld.simulator import CALL_SECONDS, Reply, Simulator
from agentgym_envs.sciworld.tasks import SciWorldTasks
from agentgym_envs.sciworld.verbs import CALLABLE, action_list, reworded
from agentgym_envs.tasks import TaskSpec

ORIGINAL_MAX_TURNS = 100
"""The official wrapper's limit of moves, the default under `compat="agentgym"`."""

_WORDS = ("help", "objects", "task")
"""What the simulator answers without playing."""

_CHOICE = re.compile(r"[0-9]{1,6}")


class SciWorldEnv(TextEnv):
    """Science experiments in text.

    All environments of a process share one Java process. `info["task_name"]` and
    `info["variation"]` say what the simulator plays.

    Args:
        available_actions: list the valid actions in `info["available_actions"]`; there are up to
            thousands, and listing them takes longer than a step.
        call_timeout: seconds that the simulator may take to answer, before it counts as hung.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: the science extra is not installed.
    """

    instructions = (
        "You do experiments in a house with a kitchen, a workshop, a greenhouse and other rooms. "
        "Each turn you do one of:\n"
        f"{action_list()}\n"
        "Things are named as you see them, where need be with their place: 'apple in fridge'. "
        "Focus only on what the task asks for: focusing on anything else fails the task for good."
    )
    verbs = CALLABLE
    default_max_turns = 30
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": WholeTextParser(),
        "react": RestParser(),
    }

    def __init__(
        self,
        *,
        available_actions: bool = False,
        call_timeout: float = CALL_SECONDS,
        **kwargs: Any,
    ) -> None:
        call_timeout = positive_seconds("call_timeout", call_timeout)
        self._games = _tasks()
        if kwargs.get("compat") == "agentgym":
            self.default_max_turns = ORIGINAL_MAX_TURNS
        super().__init__(self._games, **kwargs)
        self.source = f"scienceworld/{installation().version}"
        self._lists_actions = available_actions
        self._names_verbs = self.action_format in ("function_call", "code")
        self._call_timeout = call_timeout
        self._simulator: Simulator | None = None

    # An episode -------------------------------------------------------------------------------

    def begin(self, task: TaskSpec) -> str:
        """Set the task up and look around."""
        game = self._games.game(task.number)
        if self._simulator is None or not self._simulator.alive:
            self._simulator = Simulator(self._call_timeout)
        self.goal = self._simulator.load(game.task, game.variation)
        self._played: list[Played] = []
        self._choices: list[str] = []
        reply = self._simulator.step("look around")
        self._points = _points(reply)
        self._score = _score(self._points)  # rooms may be worth points from the start
        self._shown = f"{self.goal}\n{reply.text}"
        shows_room_only = self.is_agentgym_compat and self.action_format == "plain"
        return reply.text if shows_room_only else self._shown

    def apply(self, action: str) -> Outcome:
        """Play one action."""
        return self._apply_original(action) if self.is_agentgym_compat else self._apply(action)

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        if not self.is_agentgym_compat:
            return Outcome(str(error), info={"is_valid_action": False})
        return self._original_outcome(f"Invalid Action.\n\n{self._shown}", is_valid=False)

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the simulator's own solution; see `sciworld.expert` for where it can start."""
        if self._choices and self.is_agentgym_compat:
            yield ExpertMove("look around")  # there, it only cancels the question
        for move in moves_from(self._games.game(self.task.number), self._played):
            if self._over:  # solutions go on a little after their end
                return
            yield move._replace(action=reworded(move.action)) if self._names_verbs else move

    def available_actions(self) -> list[str] | None:
        """List the actions that are possible now, where they were asked for."""
        _ = self.task
        if not self._lists_actions or self._simulator is None:
            return None
        return self._simulator.valid_actions()

    def close(self) -> None:
        """Give the simulator back; the Java process stays for the next one."""
        if self._simulator is not None:
            self._simulator.close()
            self._simulator = None

    # The default mode -------------------------------------------------------------------------

    def _apply(self, action: str) -> Outcome:
        if action.lower() in _WORDS:
            return self._outcome(self.simulator.told(action))
        choices = self._choices
        if choices and not _CHOICE.fullmatch(action):
            self._play("")  # cancels the question, so that this action is read as one
        reply = self._play(action)
        if reply is None:
            if len(action) > answers.MAX_LENGTH:
                return self._outcome(answers.too_long(action), is_valid=False)
            told = answers.not_known(action, self.simulator.objects())
            return self._outcome(told, is_valid=False)
        if answers.is_question(reply.text):
            return self._outcome(reply.text.strip(), reply, is_valid=False)
        if not reply.text:
            told = answers.not_a_choice(action, len(choices)) if choices else answers.NO_ANSWER
            return self._outcome(told, reply, is_valid=False)
        return self._outcome(reply.text, reply)

    def _outcome(self, text: str, reply: Reply | None = None, *, is_valid: bool = True) -> Outcome:
        last = _score(self._points)
        if reply is not None:
            self._points = _points(reply)
        score = _score(self._points)
        is_over = reply is not None and (reply.is_completed or self._points < 0)
        info = {"success": score == 1.0, "score": score, "is_valid_action": is_valid}
        return Outcome(text, round(score - last, 2), is_over, info=info)

    # The original's mode ----------------------------------------------------------------------

    def _apply_original(self, action: str) -> Outcome:
        if action.strip().lower() in _WORDS:
            self._shown = self.simulator.told(action)
            return self._original_outcome(self._shown)
        reply = self._play(action)
        self._shown = answers.NOT_KNOWN if reply is None else reply.text or answers.NO_ANSWER
        is_valid = reply is not None and bool(reply.text) and not answers.is_question(reply.text)
        return self._original_outcome(self._shown, reply, is_valid=is_valid)

    def _original_outcome(
        self, text: str, reply: Reply | None = None, *, is_valid: bool = True
    ) -> Outcome:
        last = self._points
        if reply is not None:
            self._points = _points(reply)
        info = {
            "success": self._points == 100,
            "score": _score(self._points),
            "is_valid_action": is_valid,
            "agentgym_score": self._points,
        }
        is_over = reply is not None and (reply.is_completed or self._points < 0)
        is_cut = not is_over and self.simulator.num_moves() > self.max_turns
        return Outcome(text, self._points - last, is_over, is_cut, info)

    # Both -------------------------------------------------------------------------------------

    @property
    def simulator(self) -> Simulator:
        """The simulator of the current episode."""
        assert self._simulator is not None
        return self._simulator

    def _play(self, action: str) -> Reply | None:
        """Play an action; None where the simulator cannot read it."""
        if len(action) > answers.MAX_LENGTH:
            return None
        try:
            reply = self.simulator.step(action)
        except JavaError:
            return None
        if reply.text == answers.NOT_KNOWN:
            return None
        is_idle = not reply.text or answers.is_question(reply.text)
        self._played.append(Played(action, is_idle))
        self._choices = answers.choices(reply.text) if answers.is_question(reply.text) else []
        return reply

    def _info(self, extra: Mapping[str, Any], *, truncated_by: str | None) -> dict[str, Any]:
        info = super()._info(extra, truncated_by=truncated_by)
        game = self._games.game(self.task.number)
        info["task_name"] = game.task
        info["variation"] = game.variation
        return info


def _points(reply: Reply) -> int:
    """Return the score in the official wrapper's points, -100 to 100."""
    return round(100 * reply.score)


def _score(points: int) -> float:
    return max(0, points) / 100


@cache
def _tasks() -> SciWorldTasks:
    return SciWorldTasks()
