"""The episodes of one `Rollout.run`: which slots play them, who is asked, and how they end."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.actions import strip_thinking
from agentgym_envs.core import JUDGEMENTS_KEY, UNSCORED, UNSCORED_KEY, VERDICT_KEY
from agentgym_envs.errors import EnvFailure
from agentgym_envs.tasks import scenario_of
from agentgym_envs.trajectory import Status, Trajectory, Turn
from trainers.rollout.policy import Episode, Failure, Policy, PolicyAnswer, Reply, Stop
from wrappers import Attempts, TextVectorEnv
from wrappers.schedules import HorizonSchedule
from wrappers.vector.arguments import Answer
from wrappers.vector.slots import wait_for_any

READY_SHARE = 0.25
"""The share of the episodes under way that must be ready for the policy to be asked."""


@dataclass
class EnvSlots:
    """The slots of one environment: those that are free, and what the others are doing."""

    env: TextVectorEnv
    free: list[int]
    env_ids: list[str]
    system_prompts: list[str]
    horizon: int | None = None
    waiting: deque[int] = field(default_factory=deque)  # places in the list of tasks
    starting: dict[int, int] = field(default_factory=dict)  # slot -> place in the list of tasks
    stepping: dict[int, tuple[Episode, Reply, str]] = field(default_factory=dict)


class Batch:
    """The episodes of one `Rollout.run`.

    Args:
        envs: where they are played, as `Rollout` has it.
        policy: who plays.
        task_ids: the tasks.
        attempts: what comes of failures.
        schedule: gives the horizon, as `Rollout` has it.
        global_step: optimizer step, for the record.
        overlap: environments step while the policy is asked.
        begin: begins the batch of the policy, and begins it anew where all of it is played again.
        on_trajectory: called with each trajectory as its episode ends.
        finished: episodes that are not played again, by their place in the list.

    Attributes:
        live: the episodes under way.
    """

    def __init__(
        self,
        envs: TextVectorEnv | Mapping[str, TextVectorEnv],
        policy: Policy,
        task_ids: Sequence[str],
        attempts: Attempts,
        *,
        schedule: HorizonSchedule | Mapping[str, HorizonSchedule] | None,
        global_step: int,
        overlap: bool,
        begin: Callable[[], None],
        on_trajectory: Callable[[Trajectory], None] | None,
        finished: MutableMapping[int, Trajectory] | None,
    ) -> None:
        self.live: list[Episode] = []
        self._envs = envs
        self._policy = policy
        self._task_ids = list(task_ids)
        self._global_step = global_step
        self._overlap = overlap
        self._begin_policy = begin
        self._on_trajectory = on_trajectory
        self._attempts = attempts
        self._requested: set[int] = set()  # keys of the episodes whose answer is on its way
        self._broken: dict[int, Trajectory] = {}  # what a failed attempt has left, by place
        self._finished = {} if finished is None else finished
        self._trajectories = dict(self._finished)
        self._groups: dict[int, EnvSlots] = {}  # by the environment's id()
        for index, task_id in enumerate(task_ids):
            if index in self._trajectories:
                continue
            env = env_of(task_id, envs)
            if id(env) not in self._groups:
                slots = list(range(env.num_envs))
                prompts = env.get("system_prompt")
                horizon = _horizon_of(task_id, schedule, global_step)
                self._groups[id(env)] = EnvSlots(env, slots, env.get("env_id"), prompts, horizon)
            self._groups[id(env)].waiting.append(index)

    def goes_on(self) -> bool:
        """Play again what failed, when it is due; False where every task has its trajectory."""
        while True:
            self._play_again()
            groups = self._groups.values()
            if self.live or any(g.waiting or g.starting or g.stepping for g in groups):
                return True
            seconds = self._attempts.seconds_to_wait()
            if seconds is None and not self._attempts.excuse():
                return False
            time.sleep(seconds or 0.0)

    def _play_again(self) -> None:
        """Put tasks that failed back into the list, where the failure rules say so."""
        indices = self._attempts.settle()
        if len(indices) == len(self._task_ids) and self._attempts.most_charges <= 1:
            # Nothing is left of the batch: it is played as it would have been.
            self._attempts.persist(self._begin_policy)
        for index in sorted(indices, reverse=True):
            del self._broken[index]
            self._group_of(index).waiting.appendleft(index)

    def finish(self) -> list[Trajectory]:
        """Return the trajectories in the order of the tasks.

        Raises:
            EnvFailure: more episodes failed than the failure rules allow.
        """
        self._attempts.check()
        for index, trajectory in self._broken.items():
            trajectory.status = "failed"
            trajectory.error = self._attempts.failed[index]
            self._add(index, trajectory)
        return [self._trajectories[index] for index in range(len(self._task_ids))]

    def abandon(self) -> None:
        """Give up what environments still do, and let the policy forget the live episodes."""
        for group in self._groups.values():
            if self._overlap and (group.starting or group.stepping):
                group.env.cancel()
        while self.live:
            self._policy.leave(self.live.pop())

    # Starting ---------------------------------------------------------------------------------

    def start_waiting(self) -> None:
        """Start waiting tasks in free slots."""
        for group in self._groups.values():
            starting: dict[int, int] = {}
            while group.free and group.waiting:
                starting[group.free.pop(0)] = group.waiting.popleft()
            if not starting:
                continue
            tasks: list[str | None] = [None] * group.env.num_envs
            for slot, index in starting.items():
                tasks[slot] = self._task_ids[index]
            options: dict[str, Any] = {"task_id": tasks}
            if group.horizon is not None:
                options["horizon"] = group.horizon
            group.starting |= starting
            if self._overlap:
                group.env.reset_async(options=options)
                continue
            observations, infos = group.env.reset(options=options)
            for slot in starting:
                self._begin(group, slot, observations[slot], infos[slot])

    def _begin(self, group: EnvSlots, slot: int, observation: str, info: dict[str, Any]) -> None:
        """Take in what a reset has answered."""
        index = group.starting.pop(slot)
        # Most faults come from outside, so the first time an episode is played again as it was;
        # then it draws anew, for its own actions may be what breaks it.
        key = 1 + index + len(self._task_ids) * max(0, self._attempts.charges[index] - 1)
        trajectory = Trajectory(
            env_id=group.env_ids[slot],
            task_id=info.get("task_id", str(self._task_ids[index])),
            subtask=info.get("subtask", ""),
            split=info.get("split", ""),
            source=info.get("source", ""),
            goal=info.get("goal", ""),
            system_prompt=group.system_prompts[slot],
            final_observation=observation,
            policy=self._policy.name,
            global_step=self._global_step,
        )
        episode = Episode(key, index, group.env, slot, observation, info, trajectory)
        if "failure" in info:
            self._fail(episode, info["failure"])
        else:
            self.live.append(episode)

    def next_ready(self) -> list[Episode]:
        """Wait until the policy has something to do, and return the episodes that it sees.

        These are the ones with an observation; to a policy whose answers come apart, also those
        whose answer is on its way.
        """
        while True:
            while self._overlap and self._poll():
                self._play_again()
                self.start_waiting()
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
                or not (num_working or pending)
            ):
                return ready
            slots = [slot for group in groups for slot in group.env.unanswered()]
            wait_for_any([*slots, *pending], self._attempts.seconds_to_wait())
            self._play_again()
            self.start_waiting()

    def _poll(self) -> bool:
        """Take in what environments have answered; False where there was nothing."""
        polled = [(group, group.env.poll()) for group in self._groups.values()]
        for group, results in polled:
            self.take_results(group, results)
        return any(results for _, results in polled)

    # Playing ----------------------------------------------------------------------------------

    def ask(self, episodes: Sequence[Episode]) -> Sequence[PolicyAnswer | None]:
        """Ask the policy; where it broke as a whole, it has failed each episode."""
        try:
            return self._policy.act(episodes)
        except EnvFailure as failure:
            return [Failure(str(failure))] * len(episodes)

    def take_answers(
        self, episodes: Sequence[Episode], answers: Sequence[PolicyAnswer | None]
    ) -> Iterator[tuple[EnvSlots, list[str | None]]]:
        """Take in what the policy has answered.

        Yields:
            The slots that play on, and the actions: one per slot, None where it is left alone.
        """
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
                name, action = id(episode.env), strip_thinking(answer.completion)
                self._groups[name].stepping[episode.slot] = episode, answer, action
                actions.setdefault(name, [None] * episode.env.num_envs)[episode.slot] = action
        yield from ((self._groups[name], chosen) for name, chosen in actions.items())

    def take_results(self, group: EnvSlots, results: Mapping[int, Answer]) -> None:
        """Take in what resets and turns have brought, by slot."""
        for slot, (observation, reward, terminated, truncated, info) in results.items():
            if slot in group.starting:
                self._begin(group, slot, observation, info)
                continue
            episode, reply, action = group.stepping.pop(slot)
            if "failure" in info:
                self._fail(episode, info["failure"])
                continue
            _record(episode, reply, action, observation, reward, info)
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
        self._attempts.record_end(episode.index)
        self._add(episode.index, episode.trajectory)

    def _fail(self, episode: Episode, cause: str) -> None:
        """Leave a task to the failure rules whose environment or policy broke."""
        self._release(episode)
        self._attempts.record_failure(episode.index, cause)
        self._broken[episode.index] = episode.trajectory

    def _release(self, episode: Episode) -> None:
        self._groups[id(episode.env)].free.append(episode.slot)
        if episode in self.live:
            self.live.remove(episode)
            self._policy.leave(episode)

    def _add(self, index: int, trajectory: Trajectory) -> None:
        self._trajectories[index] = trajectory
        if trajectory.status != "failed":
            self._finished[index] = trajectory
        if self._on_trajectory is not None:
            self._on_trajectory(trajectory)

    def _group_of(self, index: int) -> EnvSlots:
        return self._groups[id(env_of(self._task_ids[index], self._envs))]


def _record(
    episode: Episode,
    reply: Reply,
    action: str,
    observation: str,
    reward: float,
    info: dict[str, Any],
) -> None:
    """Add a turn to an episode's trajectory."""
    turn = Turn(
        observation=episode.observation,
        completion=reply.completion,
        action=action,
        reward=float(reward),
        is_valid_action=bool(info["is_valid_action"]),
        score=float(info["score"]),
        num_tokens=reply.num_tokens,
        call=reply.call,
    )
    trajectory = episode.trajectory
    trajectory.turns.append(turn)
    trajectory.final_observation = observation
    trajectory.success = bool(info["success"])
    trajectory.score = turn.score
    trajectory.verdict = str(info.get(VERDICT_KEY, ""))
    trajectory.judgements = str(info.get(JUDGEMENTS_KEY, ""))
    trajectory.info = episode.info = info
    episode.observation = observation


def _horizon_of(
    task_id: str, schedule: HorizonSchedule | Mapping[str, HorizonSchedule] | None, step: int
) -> int | None:
    if isinstance(schedule, Mapping):
        schedule = schedule.get(scenario_of(task_id))
    return None if schedule is None else schedule(step)


def env_of(task_id: str, envs: TextVectorEnv | Mapping[str, TextVectorEnv]) -> TextVectorEnv:
    """Return where a task is played."""
    if isinstance(envs, TextVectorEnv):
        return envs
    name = scenario_of(task_id)
    if name not in envs:
        raise ValueError(
            f"task {task_id!r} belongs to none of the environments {sorted(envs)}; the mapping's "
            f"keys must be the names in front of the task ids' numbers"
        )
    return envs[name]
