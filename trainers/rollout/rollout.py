"""Rollout: plays tasks with a policy. The one loop over environments.

All live episodes take their turns together, and one that has ended gives its slot to the next task.
Under `overlap` the policy is asked as soon as a quarter of the episodes under way have their
observation, or no environment is at work: fewer at a time would make many small batches, more would
wait for the slowest environments (`lab.throughput.ready_share` compares). With a policy
whose answers come apart, as a server's do, an episode goes on as soon as its own is there. Which
episodes are answered together then depends on time, so only a policy whose answer to an episode
does not depend on the others gives the same trajectories again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import partial

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.rollout.batch import Batch
from trainers.rollout.env_slots import Branching, Places
from trainers.rollout.pause import wait_for
from trainers.rollout.policy import Policy
from wrappers import FailureRules, TextVectorEnv
from wrappers.failures import EpisodeRetries, Machinery
from wrappers.schedules import HorizonSchedule


class Rollout:
    """Plays episodes and records them.

    Args:
        envs: where to play; a mapping from the scenario's name in task ids (`"textcraft"`) to where
            it is played mixes scenarios.
        policy: who plays.
        schedule: the turn horizon of the episodes by optimizer step, or one for each scenario by
            its name in task ids; None has none.
        failure_rules: when a task is played again after a failure, how long broken machinery is
            waited for, and when a run stops.
        overlap: ask the policy while other environments step; worth it where environments take
            long, in threads or processes.

    Attributes:
        machinery: what its episodes need; rollouts of one run share it.
        on_trajectory: called with each trajectory as its episode ends, before a call's own.

    Raises:
        TypeError: `envs` holds something else than `TextVectorEnv`.
    """

    def __init__(
        self,
        envs: TextVectorEnv | Mapping[str, TextVectorEnv],
        policy: Policy,
        *,
        schedule: HorizonSchedule | Mapping[str, HorizonSchedule] | None = None,
        failure_rules: FailureRules | None = None,
        overlap: bool = False,
    ) -> None:
        for env in envs.values() if isinstance(envs, Mapping) else (envs,):
            if not isinstance(env, TextVectorEnv):
                raise TypeError(
                    f"expected a TextVectorEnv, got {env!r:.80}; a horizon is given as schedule="
                )
        self.envs = envs
        self.policy = policy
        self.schedule = schedule
        self.machinery = Machinery(failure_rules or FailureRules())
        self.overlap = overlap
        self.on_trajectory: Callable[[Trajectory], None] | None = None

    def run(
        self,
        task_ids: Sequence[str],
        *,
        global_step: int = 0,
        stream: Sequence[int] = (),
        temperature: float | None = None,
        on_trajectory: Callable[[Trajectory], None] | None = None,
        finished: MutableMapping[int, Trajectory] | None = None,
        branches: Mapping[int, Branching] | None = None,
    ) -> list[Trajectory]:
        """Play every task once.

        Args:
            task_ids: the tasks; more than there are slots is fine, repetitions are separate
                episodes.
            global_step: optimizer step, for the horizon and the record.
            stream: names the batch's random numbers, together with the policy's seed.
            temperature: of the sampling, 0 is greedy; None keeps the policy's own.
            on_trajectory: called with each trajectory as its episode ends, in whatever order.
            finished: episodes that are not played again, by their place in the list; those that end
                are added.
            branches: where episodes begin that go on from another one's state, by their place.

        Returns:
            One trajectory per task, in the order of the tasks.

        Raises:
            ValueError: a task belongs to no environment here, or does not exist.
            EnvFailure: more episodes failed than the failure rules allow.
        """
        batch = self.begin(
            task_ids,
            global_step=global_step,
            stream=stream,
            temperature=temperature,
            on_trajectory=on_trajectory,
            finished=finished,
            branches=branches,
        )
        try:
            while (turns := batch.next_turns()) is not None:
                for group, actions in turns:
                    batch.record_turns(group, group.env.step(actions))
                wait_for([batch.pause])
            return batch.finish()
        finally:
            batch.abandon()

    def begin(
        self,
        task_ids: Sequence[str],
        *,
        global_step: int = 0,
        stream: Sequence[int] = (),
        temperature: float | None = None,
        on_trajectory: Callable[[Trajectory], None] | None = None,
        finished: MutableMapping[int, Trajectory] | None = None,
        branches: Mapping[int, Branching] | None = None,
        places: Places | None = None,
        kind: type[Batch] = Batch,
    ) -> Batch:
        """Begin what `run` does, for who plays several batches at once.

        Args:
            task_ids: the tasks.
            global_step: optimizer step.
            stream: names the batch's random numbers.
            temperature: of the sampling.
            on_trajectory: called with each trajectory.
            finished: episodes that are not played again.
            branches: where episodes begin that go on from another one's state.
            places: shared with the other batches; policies and environments are not.
            kind: what is returned.

        Returns:
            The batch, which the caller plays as `run` does.
        """
        begin = partial(
            self.policy.begin_batch, stream=stream, temperature=temperature, global_step=global_step
        )
        self.machinery.retry(begin)
        called = [one for one in (self.on_trajectory, on_trajectory) if one is not None]

        def see(trajectory: Trajectory) -> None:
            for one in called:
                one(trajectory)

        return self.machinery.retry(
            lambda: kind(
                self.envs,
                self.policy,
                task_ids,
                EpisodeRetries(self.machinery, len(task_ids)),
                schedule=self.schedule,
                global_step=global_step,
                overlap=self.overlap,
                begin=begin,
                on_trajectory=see,
                finished=finished,
                branches=branches,
                places=places,
            )
        )
