"""Rollout: plays tasks with a policy. The one loop over environments.

All live episodes take their turns together, and one that has ended gives its slot to the next task.
Under `overlap` the policy is queried as soon as a quarter of the episodes under way have their
observation, or no environment is at work: fewer at a time would make many small batches, more would
wait for the slowest environments (`lab.throughput.ready_share` compares). With a policy
whose answers come apart, as a server's do, an episode goes on as soon as its own is there. Which
episodes are answered together then depends on time, so only a policy whose answer to an episode
does not depend on the others gives the same trajectories again.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import partial
from typing import Any

from agentgym_envs.actions import strip_thinking
from agentgym_envs.core import CONVERSATION_KEY, UNSCORED, UNSCORED_KEY
from agentgym_envs.errors import EnvFailure
from agentgym_envs.trajectories.trajectory import Status, Trajectory
from trainers.rollout.branching import Branch
from trainers.rollout.env_slots import Capacity, EnvSlots, Pause, task_env, task_schedule, wait_for
from trainers.rollout.policy import Episode, Failure, Policy, PolicyAnswer, Stop
from wrappers import FailureRules, TextVectorEnv
from wrappers.failures import EpisodeRetries, Machinery
from wrappers.schedules import HorizonSchedule, start_at
from wrappers.starts import PREFIX, START
from wrappers.vector.arguments import Answer
from wrappers.vector.host import RESUME

logger = logging.getLogger(__name__)

READY_SHARE = 0.25
"""The share of the episodes under way that must be ready before the policy is queried."""


class Rollout:
    """Plays episodes and records them.

    Args:
        envs: where to play; a mapping from the scenario's name in task ids (`"textcraft"`) to its
            environments mixes scenarios.
        policy: the policy.
        schedule: the turn horizon of the episodes by optimizer step, or one for each scenario by
            its name in task ids; None has none.
        starts: in the same way, the turns before the expert's end at which episodes start
            (`wrappers.parse_start`); None has the tasks' own starts.
        failure_rules: when a task is played again after a failure, how long broken machinery is
            waited for, and when a run stops.
        overlap: query the policy while other environments step; worth it where environments take
            long, in threads or processes.

    Attributes:
        machinery: the state of failures; rollouts of one run share it.
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
        starts: HorizonSchedule | Mapping[str, HorizonSchedule] | None = None,
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
        self.schedule, self.starts = schedule, starts
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
        branches: Mapping[int, Branch] | None = None,
    ) -> list[Trajectory]:
        """Play every task once.

        Args:
            task_ids: the tasks; more than there are slots is fine, repetitions are separate
                episodes.
            global_step: optimizer step, for the horizon and the record.
            stream: names the batch's random numbers, together with the policy's seed.
            temperature: of the sampling, 0 is greedy; None keeps the policy's own.
            on_trajectory: called with each trajectory as its episode ends, in whatever order.
            finished: episodes that are not played again, by index; those that end are added.
            branches: where episodes begin that go on from another one's state, by index.

        Returns:
            One trajectory per task, in the order of the tasks.

        Raises:
            ValueError: a task belongs to no environment here, or does not exist.
            EnvFailure: more episodes failed than the failure rules allow.
        """
        batch = Batch(
            self,
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


class Batch:
    """Episodes that are played together, for callers that interleave several batches.

    Batches at the same time share neither environments nor policy. They may share a `capacity`, by
    default that of all slots: an episode begins only where it is free. The other options are those
    of `Rollout.run`.

    Attributes:
        live: the episodes under way.
        pause: to be waited for before `next_turns` is called again.
    """

    def __init__(
        self,
        rollout: Rollout,
        task_ids: Sequence[str],
        *,
        capacity: Capacity | None = None,
        global_step: int = 0,
        stream: Sequence[int] = (),
        temperature: float | None = None,
        on_trajectory: Callable[[Trajectory], None] | None = None,
        finished: MutableMapping[int, Trajectory] | None = None,
        branches: Mapping[int, Branch] | None = None,
    ) -> None:
        self.live: list[Episode] = []
        self.pause = Pause()
        self._rollout = rollout
        self._policy = rollout.policy
        self._overlap = rollout.overlap
        self._task_ids = list(task_ids)
        called = (rollout.on_trajectory, on_trajectory)
        self._on_trajectory = [callback for callback in called if callback is not None]
        self._retries = EpisodeRetries(rollout.machinery, len(task_ids))
        self._branches = branches or {}
        self._capacity = capacity or Capacity(len(task_ids))
        self._requested: set[int] = set()  # keys of the episodes whose answer is on its way
        self._broken: dict[int, Trajectory] = {}  # what a failed attempt has left, by index
        self._finished = {} if finished is None else finished
        self._trajectories = dict(self._finished)
        self._steps: dict[int, int] = {}  # optimizer steps, by index
        self._options: dict[int, dict[str, int | None]] = {}  # of the schedules, by index
        self._groups: dict[int, EnvSlots] = {}  # by the environment's id()
        self._begin_policy(stream=stream, temperature=temperature, global_step=global_step)
        for index in range(len(task_ids)):
            if index not in self._trajectories:
                self._enlist(index, global_step)

    def _begin_policy(self, **options: Any) -> None:
        """Begin the policy's batch, and keep how, for a batch that is played again as a whole."""
        self._begin_again = partial(self._policy.begin_batch, **options)
        self._rollout.machinery.retry(self._begin_again)

    def next_turns(self) -> list[tuple[EnvSlots, list[str | None]]] | None:
        """Do all that needs no waiting, up to the next turns. Then `pause` is to be waited for.

        Returns:
            The slots that are to play on, and their actions, for `record_turns`; under `overlap`
            they play on already. None where every task has its trajectory.
        """
        self.pause = Pause(seconds=0.0)
        self._play_again()
        groups = self._groups.values()
        if not (self.live or any(g.waiting or g.starting or g.stepping for g in groups)):
            seconds = self._retries.seconds_to_wait()
            if seconds is None:
                return None
            self.pause = Pause(seconds=seconds)
            return []
        self._start_waiting()
        while self._overlap and self._poll():
            self._play_again()
            self._start_waiting()
        episodes = self._ready()
        turns = self._take_answers(episodes, self._query(episodes)) if episodes else []
        if not self._overlap:
            return turns
        for group, actions in turns:
            group.env.step_async(actions)
        return []

    def record_turns(self, group: EnvSlots, answers: tuple[Sequence[Any], ...]) -> None:
        """Record the results of `group.env.step`."""
        results = list(zip(*answers, strict=True))
        self._take_results(group, {slot: results[slot] for slot in group.stepping})

    @property
    def num_waiting(self) -> int:
        """Episodes that have not begun, or have failed and may be played again."""
        starting = sum(len(group.starting) for group in self._groups.values())
        return len(self._task_ids) - len(self._trajectories) - len(self.live) - starting

    def _play_again(self) -> None:
        """Put tasks that failed back into the list, where the failure rules say so."""
        indices = self._retries.settle()
        most_failures = max(self._retries.counts.values(), default=0)
        if len(indices) == len(self._task_ids) and most_failures <= 1:
            # Nothing is left of the batch: it is played as it would have been.
            self._rollout.machinery.retry(self._begin_again)
        for index in sorted(indices, reverse=True):
            del self._broken[index]
            self._group_of(index).waiting.appendleft(index)

    def finish(self) -> list[Trajectory]:
        """Return the trajectories in the order of the tasks.

        Raises:
            EnvFailure: more episodes failed than the failure rules allow.
        """
        self._retries.check()
        for index in list(self._broken):
            self._give_up(index)
        return [self._trajectories[index] for index in range(len(self._task_ids))]

    def abandon(self) -> None:
        """Cancel the environments' work, and let the policy forget the live episodes."""
        for group in self._groups.values():
            if self._overlap and (group.starting or group.stepping):
                group.env.cancel()
        for group in self._groups.values():
            self._capacity.free += len(group.starting)
        while self.live:
            self._capacity.free += 1
            self._policy.leave(self.live.pop())

    # Starting ---------------------------------------------------------------------------------

    def _enlist(self, index: int, global_step: int) -> None:
        """Let a task wait for a slot."""
        task_id = self._task_ids[index]
        env = task_env(task_id, self._rollout.envs)
        if id(env) not in self._groups:
            slots = list(range(env.num_envs))
            retry = self._rollout.machinery.retry
            env_ids, prompts, kwargs = (
                retry(partial(env.get, name)) for name in ("env_id", "system_prompt", "env_kwargs")
            )
            self._groups[id(env)] = EnvSlots(env, slots, env_ids, prompts, kwargs)
        self._groups[id(env)].waiting.append(index)
        horizon, start = (
            task_schedule(task_id, schedules)
            for schedules in (self._rollout.schedule, self._rollout.starts)
        )
        self._steps[index] = global_step
        self._options[index] = {
            "horizon": None if horizon is None else horizon(global_step),
            START: None if start is None else start_at(start, global_step, task_id),
        }

    def _start_waiting(self) -> None:
        """Start waiting tasks in free slots."""
        for group in self._groups.values():
            starting: dict[int, int] = {}
            while group.free and group.waiting and self._capacity.free > 0:
                starting[group.free.pop(0)] = group.waiting.popleft()
                self._capacity.free -= 1
            if not starting:
                continue
            tasks: list[str | None] = [None] * group.env.num_envs
            for slot, index in starting.items():
                tasks[slot] = self._task_ids[index]
            options: dict[str, Any] = {"task_id": tasks}
            resumed = [self._resumed(starting.get(slot)) for slot in range(len(tasks))]
            if any(resumed):
                options[RESUME] = resumed
            for name in ("horizon", START):
                values = [
                    self._options[starting[slot]][name] if slot in starting else None
                    for slot in range(len(tasks))
                ]
                if any(value is not None for value in values):
                    options[name] = values
            group.starting |= starting
            if self._overlap:
                group.env.reset_async(options=options)
                continue
            observations, infos = group.env.reset(options=options)
            for slot in starting:
                self._begin(group, slot, observations[slot], infos[slot])

    def _resumed(self, index: int | None) -> tuple[tuple[str, ...], str] | None:
        """Return the state that a task's episode goes on from, or None for the start."""
        branch = None if index is None else self._branches.get(index)
        return None if branch is None else (branch.actions, branch.observation)

    def _begin(self, group: EnvSlots, slot: int, observation: str, info: dict[str, Any]) -> None:
        """Begin an episode from a reset's observation and info."""
        index = group.starting.pop(slot)
        # Most faults come from outside, so the first time an episode is played again as it was;
        # then it draws other numbers, for its own actions may break it.
        key = 1 + index + len(self._task_ids) * max(0, self._retries.counts[index] - 1)
        env_id = group.env_ids[slot]
        conversation = info.get(CONVERSATION_KEY)
        if conversation is None:
            instruction = self._policy.instruction(env_id, group.system_prompts[slot])
        else:
            instruction = conversation["instruction"]
        trajectory = Trajectory(
            env_id=env_id,
            task_id=info.get("task_id", str(self._task_ids[index])),
            subtask=info.get("subtask", ""),
            split=info.get("split", ""),
            source=info.get("source", ""),
            goal=info.get("goal", ""),
            system_prompt=instruction,
            final_observation=observation,
            policy=self._policy.name,
            global_step=self._steps[index],
            env_kwargs=group.env_kwargs[slot],
            horizon=info.get("horizon"),
            info=info,
            prefix=info.get(PREFIX, []),
        )
        if index in self._branches:
            self._branches[index].begin(trajectory)
        episode = Episode(key, index, group.env, slot, observation, info, trajectory)
        if "failure" in info:
            self._fail(episode, info["failure"], info.get("traceback", ""))
        else:
            self.live.append(episode)

    def _ready(self) -> list[Episode]:
        """Return the episodes for the policy, or set `pause` where there are none.

        These are the ones with an observation. A policy whose answers come apart also gets those
        whose answer is on its way.
        """
        groups = self._groups.values()
        at_work = {turn[0].key for group in groups for turn in group.stepping.values()}
        ready = [episode for episode in self.live if episode.key not in at_work]
        num_working = sum(len(group.starting) + len(group.stepping) for group in groups)
        pending = self._policy.pending()
        unrequested = sum(episode.key not in self._requested for episode in ready)
        share = 0.0 if self._policy.is_asynchronous else READY_SHARE
        if (
            unrequested >= max(1, math.ceil(share * (unrequested + num_working)))
            or any(answer.answered() for answer in pending)
            or (ready and not (num_working or pending))
        ):
            return ready
        slots = [slot for group in groups for slot in group.env.unanswered()]
        is_full = self._capacity.free <= 0 and any(group.waiting for group in groups)
        if slots or pending or is_full:
            self.pause = Pause([*slots, *pending], self._retries.seconds_to_wait())
        return []

    def _poll(self) -> bool:
        """Record the results that environments have returned, and return whether there were any."""
        polled = [(group, group.env.poll()) for group in self._groups.values()]
        for group, results in polled:
            self._take_results(group, results)
        return any(results for _, results in polled)

    # Playing ----------------------------------------------------------------------------------

    def _query(self, episodes: Sequence[Episode]) -> Sequence[PolicyAnswer | None]:
        """Query the policy. Where it broke as a whole, it has failed each episode."""
        try:
            return self._policy.act(episodes)
        except EnvFailure as failure:
            return [Failure(str(failure))] * len(episodes)

    def _take_answers(
        self, episodes: Sequence[Episode], answers: Sequence[PolicyAnswer | None]
    ) -> list[tuple[EnvSlots, list[str | None]]]:
        """Return the slots that play on, and their actions: one per slot, None for the others."""
        actions: dict[int, list[str | None]] = {}
        for episode, answer in zip(episodes, answers, strict=True):
            if answer is None:
                self._requested.add(episode.key)
                continue
            self._requested.discard(episode.key)
            if isinstance(answer, Stop):
                episode.trajectory.error = answer.reason
                self._end(episode, status="truncated", truncated_by=answer.cause)
            elif isinstance(answer, Failure):
                self._fail(episode, answer.cause)
            else:
                name, action = id(episode.env), answer.action
                if action is None:
                    action = strip_thinking(answer.completion)
                self._groups[name].stepping[episode.slot] = episode, answer, action
                actions.setdefault(name, [None] * episode.env.num_envs)[episode.slot] = action
        return [(self._groups[name], chosen) for name, chosen in actions.items()]

    def _take_results(self, group: EnvSlots, results: Mapping[int, Answer]) -> None:
        """Record the results of resets and turns, by slot."""
        for slot, (observation, reward, terminated, truncated, info) in results.items():
            if slot in group.starting:
                self._begin(group, slot, observation, info)
                continue
            episode, reply, action = group.stepping.pop(slot)
            if "failure" in info:
                self._fail(episode, info["failure"], info.get("traceback", ""))
                continue
            episode.record(reply, action, observation, reward, info)
            if info.get(UNSCORED_KEY):
                episode.trajectory.error = UNSCORED
                self._end(episode, status="failed")
            elif terminated:
                self._end(episode, status="terminated")
            elif truncated:
                cause = info.get("truncated_by") or "time_limit"
                self._end(episode, status="truncated", truncated_by=cause)

    # Ending -----------------------------------------------------------------------------------

    def _end(self, episode: Episode, *, status: Status, truncated_by: str | None = None) -> None:
        self._release(episode)
        episode.trajectory.status = status
        episode.trajectory.truncated_by = truncated_by
        self._retries.record_end(episode.index)
        self._add(episode.index, episode.trajectory)

    def _fail(self, episode: Episode, cause: str, traceback: str = "") -> None:
        """Leave a task whose environment or policy broke to the failure rules.

        `traceback` is of the environment's code; empty where its machinery broke.
        """
        self._release(episode)
        if traceback:
            shown = "" if cause in self._retries.causes else f"\n{traceback}"  # once a batch
            logger.warning("%s failed: %s%s", episode.trajectory.task_id, cause, shown)
        self._retries.record_failure(episode.index, cause, may_pass=not traceback)
        self._broken[episode.index] = episode.trajectory

    def _give_up(self, index: int) -> None:
        trajectory = self._broken.pop(index)
        trajectory.status = "failed"
        trajectory.error = self._retries.failed[index]
        self._add(index, trajectory)

    def _release(self, episode: Episode) -> None:
        self._groups[id(episode.env)].free.append(episode.slot)
        self._capacity.free += 1
        if episode in self.live:
            self.live.remove(episode)
            self._policy.leave(episode)

    def _add(self, index: int, trajectory: Trajectory) -> None:
        self._trajectories[index] = trajectory
        if trajectory.status != "failed":
            self._finished[index] = trajectory
        for callback in self._on_trajectory:
            callback(trajectory)

    def _group_of(self, index: int) -> EnvSlots:
        return self._groups[id(task_env(self._task_ids[index], self._rollout.envs))]
