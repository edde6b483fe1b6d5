"""Episodes of the environment's expert, in the tokens of a policy that trains on them."""

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
        policy: encodes the episodes; its token budgets bound them. None leaves them as they are.
    """

    def __init__(self, rollout: Rollout, policy: ModelPolicy | None) -> None:
        self._rollout, self._policy = rollout, policy
        self._cache: dict[str, Trajectory | None] = {}
        self._has_warned = False

    def __call__(self, task_ids: Sequence[str]) -> list[Trajectory | None]:
        """Return an episode per task, with the policy's tokens if there is one, not to be changed.

        None stands for an expert without success, and for an episode beyond the budgets.
        """
        if len(self._cache) > MAX_CACHED:
            self._cache.clear()
        unknown = [task for task in dict.fromkeys(task_ids) if task not in self._cache]
        broken = set()
        for task, episode in zip(unknown, self._rollout.run(unknown), strict=True):
            self._cache[task] = self._usable(episode)
            if episode.status == "failed":
                broken.add(task)
        episodes = [self._cache[task] for task in task_ids]
        for task in broken:  # to be played again
            del self._cache[task]
        return episodes

    def _usable(self, episode: Trajectory) -> Trajectory | None:
        if not episode.success:
            why = "has no success"
        elif self._policy is None:
            return episode
        elif (traces := self._policy.encode(episode)) is not None:
            return replace(episode, traces=traces)
        else:
            why = "is beyond the policy's token budgets"
        if episode.status != "failed" and not self._has_warned:
            self._has_warned = True
            logger.warning("the expert's episode of %s %s, so none is used", episode.task_id, why)
        return None
