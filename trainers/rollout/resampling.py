"""Dynamic sampling: further tasks in place of groups whose rewards are all equal.

DAPO (arXiv 2503.14476, section 3.2) draws until a batch is full of groups with 0 < p < 1. Here the
number of groups is bounded, and replaced groups are returned too, so that success can be that of
all episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agentgym_envs.core.tasks import scenario_name
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.rollout.branching import Play
from trainers.tokens.seeds import batch_seed


class DynamicSampling:
    """Replaces groups without variance.

    Args:
        tasks: the tasks to draw further ones from.
        group_size: episodes of a group.
        most: the bound, as a multiple of the batch.
        rewards_of: returns the reward of each episode, NaN where it does not count.
        seed: the run's.
    """

    def __init__(
        self,
        tasks: Sequence[str],
        *,
        group_size: int,
        most: float,
        rewards_of: Callable[[Sequence[Trajectory]], Sequence[float]],
        seed: int,
    ) -> None:
        self._of_scenario: dict[str, list[str]] = {}
        for task in dict.fromkeys(tasks):
            self._of_scenario.setdefault(scenario_name(task), []).append(task)
        self._size, self._most, self._rewards_of, self._seed = group_size, most, rewards_of, seed

    def run(
        self, play: Play, task_ids: Sequence[str], *, stream: Sequence[int] = (), **options: Any
    ) -> tuple[list[Trajectory], list[Trajectory]]:
        """Play a batch, and further groups in place of those without variance.

        A further task is of the environment of the one that it replaces, and none that the batch
        has played. Where the bound is reached, groups without variance stay.

        Returns:
            As many groups as the batch has, in its order; and the episodes of all other groups.
        """
        batch = self._groups(play(list(task_ids), stream=stream, **options))
        extra: list[Trajectory] = []
        known = set(task_ids)
        left = int(self._most * len(batch)) - len(batch)
        number = 1  # `play` has the numbers below for itself
        while left > 0:
            number += 1
            draws = np.random.default_rng(batch_seed(self._seed, (*stream, number)))
            further: dict[int, str] = {}
            for index, group in enumerate(batch):
                if len(further) < left and not self._varies(group):
                    fresh = [t for t in self._of_scenario[_scenario(group)] if t not in known]
                    if fresh:
                        further[index] = fresh[draws.integers(len(fresh))]
                        known.add(further[index])
            if not further:
                break
            left -= len(further)
            repeated = [task for task in further.values() for _ in range(self._size)]
            groups = self._groups(play(repeated, stream=(*stream, number), **options))
            for index, group in zip(further, groups, strict=True):
                if self._varies(group):
                    batch[index], group = group, batch[index]
                extra += group
        return [episode for group in batch for episode in group], extra

    def _groups(self, episodes: list[Trajectory]) -> list[list[Trajectory]]:
        size = self._size
        return [episodes[start : start + size] for start in range(0, len(episodes), size)]

    def _varies(self, group: Sequence[Trajectory]) -> bool:
        # In float32, as advantages are computed: sums of the same rewards may differ beyond it.
        rewards = np.asarray(self._rewards_of(group), dtype=np.float32)
        return len(np.unique(rewards[~np.isnan(rewards)])) > 1


def _scenario(group: Sequence[Trajectory]) -> str:
    return scenario_name(group[0].task_id)
