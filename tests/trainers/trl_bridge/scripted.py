"""A GRPO trainer that plays given trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from tests.trainers.toys import ENV_ID, Given
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import RolloutArguments


class Scripted(AgentGRPOTrainer):
    """Plays given trajectories, and keeps TRL's batches of them."""

    mask_truncated = False

    def __init__(self, trajectories: Sequence[Trajectory], **kwargs: Any) -> None:
        self.given = list(trajectories)
        self.batches: list[dict[str, Any]] = []
        self.asked: list[list[str]] = []
        rollout = RolloutArguments(mask_truncated_episodes=self.mask_truncated)
        super().__init__(env=ENV_ID, rollout=rollout, **kwargs)
        self.player.rollout = Given(self.answer)  # type: ignore[assignment]

    def answer(self, task_ids: list[str]) -> list[Trajectory]:
        self.asked.append(task_ids)
        return self.given

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        batch = super()._generate_and_score_completions(inputs)
        self.batches.append(batch)
        return batch
