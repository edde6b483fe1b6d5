"""A bare `EpisodeTrainer` that plays given trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentgym_envs.trajectory import Trajectory
from tests.trainers.toys import Given
from trainers.trl_bridge import EpisodeTrainer


class Scripted(EpisodeTrainer):
    """An `EpisodeTrainer` that plays given trajectories, and keeps what TRL made of them."""

    def __init__(self, trajectories: Sequence[Trajectory], **kwargs: Any) -> None:
        self.given = list(trajectories)
        self.batches: list[dict[str, Any]] = []
        self.asked: list[list[str]] = []
        super().__init__(**kwargs)
        self.rollout = Given(self.answer)

    def answer(self, task_ids: list[str]) -> list[Trajectory]:
        self.asked.append(task_ids)
        return self.given

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        batch = super()._generate_and_score_completions(inputs)
        self.batches.append(batch)
        return batch
