"""Episodes of the environment's expert in the tokens of a policy that trains on them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.policies.model import ModelPolicy
from trainers.rollout.rollout import Rollout

logger = logging.getLogger(__name__)

MAX_CACHED = 4096
"""Tasks whose episodes are cached in memory."""


class Demonstrations:
    """Plays an expert's episodes once per task, and encodes those that the policy could play.

    A task and its expert determine the episode, so a resumed run has the same ones.

    Args:
        rollout: plays with the expert.
        policy: encodes the episodes; its token budgets bound them.
    """

    def __init__(self, rollout: Rollout, policy: ModelPolicy) -> None:
        self._rollout, self._policy = rollout, policy
        self._cache: dict[str, Trajectory | None] = {}
        self._has_warned = False

    def __call__(self, task_ids: Sequence[str]) -> list[Trajectory | None]:
        """Return an episode with its tokens per task, not to be changed.

        None stands for an expert without success, and for an episode beyond the budgets.
        """
        if len(self._cache) > MAX_CACHED:
            self._cache.clear()
        unknown = [task for task in dict.fromkeys(task_ids) if task not in self._cache]
        broken = set()
        for task, episode in zip(unknown, self._rollout.run(unknown), strict=True):
            self._cache[task] = self._encoded(episode)
            if episode.status == "failed":
                broken.add(task)
        episodes = [self._cache[task] for task in task_ids]
        for task in broken:  # to be played again
            del self._cache[task]
        return episodes

    def _encoded(self, episode: Trajectory) -> Trajectory | None:
        traces = self._policy.encode(episode) if episode.success else None
        if traces is None and episode.status != "failed" and not self._has_warned:
            self._has_warned = True
            why = (
                "has no success" if not episode.success else "is beyond the policy's token budgets"
            )
            logger.warning("the expert's episode of %s %s, so none is used", episode.task_id, why)
        return None if traces is None else replace(episode, traces=traces)
