"""Plays an episode as AgentGym's SciWorld does, for `compat="agentgym"`.

Follows AgentGym 3ef9235d. Its server answers a reset with the task and the room apart, and its
client puts them together: the plain format shows the server's room, the others what the client
shows. Rewards are in points, 0 to 100, and take back all and 100 more at a wrong focus.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove, Outcome
from agentgym_envs.errors import InvalidAction
from agentgym_envs.sciworld import answers
from agentgym_envs.sciworld.episode import WORDS, Episode
from agentgym_envs.sciworld.simulator import Reply, Simulator
from agentgym_envs.sciworld.tasks import TaskVariation


class AgentGymEpisode(Episode):
    """One episode of the original, with the arguments of `Episode`."""

    default_max_turns = 100
    """The official wrapper's limit of moves."""
    drops_questions = False

    def __init__(
        self,
        simulator: Simulator,
        task: TaskVariation,
        *,
        max_turns: int,
        action_format: str,
        lists_actions: bool,
    ) -> None:
        super().__init__(
            simulator,
            task,
            max_turns=max_turns,
            action_format=action_format,
            lists_actions=lists_actions,
        )
        self._last_text = self.first_observation
        if action_format == "plain":
            self.first_observation = self.first_observation.removeprefix(f"{self.goal}\n")

    def act(self, action: str) -> Outcome:
        """Play one action."""
        if action.strip().lower() in WORDS:
            self._last_text = self._simulator.explain(action)
            return self._outcome(self._last_text)
        reply = self._play(action)
        self._last_text = answers.NOT_KNOWN if reply is None else reply.text or answers.NO_ANSWER
        is_valid = reply is not None and bool(reply.text) and not answers.is_question(reply.text)
        return self._outcome(self._last_text, reply, is_valid=is_valid)

    def refuse(self, completion: str, error: InvalidAction) -> Outcome:
        """Repeat the last observation, as the original does."""
        return self._outcome(f"Invalid Action.\n\n{self._last_text}", is_valid=False)

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the simulator's own solution."""
        if self._choices:
            yield ExpertMove("look around")  # here, it only cancels the question
        yield from super().expert_moves()

    def _outcome(self, text: str, reply: Reply | None = None, *, is_valid: bool = True) -> Outcome:
        last = self.points
        self._record(reply)
        return Outcome(
            text,
            reward=self.points - last,
            terminated=self.is_over,
            truncated=not self.is_over and self._simulator.num_moves() > self._max_turns,
            info={"agentgym_score": self.points},
            success=self.points == 100,
            is_valid=is_valid,
        )
