"""Plays episodes: the one loop over environments, for policies with tokens and without.

Knows text, slots and failures; knows no token, model or loss. All live episodes take their turns
together, or, under `overlap`, those whose environments have answered; a slot that is free takes the
next task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentgym_envs.trajectory import Trajectory
from trainers.rollout.loop import EpisodeRun
from trainers.rollout.overlap import OverlappedRun
from trainers.rollout.types import Episode, Policy, Reply, Stop
from wrappers import FailureRules, TextVector

__all__ = ["Episode", "EpisodeLoop", "Policy", "Reply", "Stop"]


class EpisodeLoop:
    """Plays tasks with a policy.

    Args:
        env: where to play; a mapping from the scenario's name in task ids (`"textcraft"`) to where
            it is played mixes scenarios.
        policy: who plays.
        failure_rules: when a task is played again after a failure, and when a run stops.
        on_trajectory: called with each trajectory as its episode ends.
        overlap: let the policy answer while other environments step (`trainers.rollout.overlap`).
    """

    def __init__(
        self,
        env: TextVector | Mapping[str, TextVector],
        policy: Policy,
        *,
        failure_rules: FailureRules,
        on_trajectory: Callable[[Trajectory], None] | None = None,
        overlap: bool = False,
    ) -> None:
        self.envs = dict(env) if isinstance(env, Mapping) else None
        self.env = env
        self.policy = policy
        self.failure_rules = failure_rules
        self.on_trajectory = on_trajectory
        self.overlap = overlap

    def run(self, task_ids: Sequence[str], *, global_step: int = 0) -> list[Trajectory]:
        """Play every task once.

        Args:
            task_ids: the tasks; more than there are slots is fine.
            global_step: optimizer step, for horizon schedules and the record.

        Returns:
            One trajectory per task, in the same order.

        Raises:
            ValueError: a task belongs to no environment here, or does not exist.
            EnvFailure: more episodes failed than the failure rules allow.
        """
        run = (OverlappedRun if self.overlap else EpisodeRun)(
            [(task_id, self.env_of(task_id)) for task_id in task_ids],
            self.policy,
            failure_rules=self.failure_rules,
            global_step=global_step,
            on_trajectory=self.on_trajectory,
        )
        try:
            return run.play()
        finally:
            run.abandon()

    def env_of(self, task_id: str) -> TextVector:
        """Return where a task is played.

        Raises:
            ValueError: it belongs to no environment here.
        """
        if self.envs is None:
            return self.env  # type: ignore[return-value]
        name = str(task_id).rpartition("_")[0]
        if name not in self.envs:
            raise ValueError(
                f"task {task_id!r} belongs to none of the environments {sorted(self.envs)}; the "
                f"mapping's keys must be the names in front of the task ids' numbers"
            )
        return self.envs[name]
