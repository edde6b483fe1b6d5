"""Plays episodes: the one loop over environments, for policies with tokens and without.

Knows text, slots and failures; knows no token, model or loss. All live episodes take their turns
together; a slot that is free takes the next task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from agentgym_envs.trajectory import Trajectory, Turn
from wrappers import Attempts, FailureRules, HorizonCurriculum, TextVector


@dataclass(eq=False)
class Episode:
    """A live episode.

    Attributes:
        key: names this attempt, uniquely within a run.
        index: the task's place in the list given to `run`.
        env, slot: where it is played.
        observation: what the policy reads next.
        info: the environment's last info.
        trajectory: the record so far.
    """

    key: int
    index: int
    env: TextVector
    slot: int
    observation: str
    info: dict[str, Any]
    trajectory: Trajectory


@dataclass(frozen=True)
class Reply:
    """A policy's turn.

    Attributes:
        completion: what the policy wrote; recorded.
        action: the part of it that the environment reads.
        num_tokens: sampled tokens.
    """

    completion: str
    action: str
    num_tokens: int = 0


@dataclass(frozen=True)
class Stop:
    """A policy's word that it cannot go on; the episode is truncated by `cause`."""

    cause: str


@runtime_checkable
class Policy(Protocol):
    """Whoever answers observations."""

    name: str

    def act(self, episodes: Sequence[Episode]) -> list[Reply | Stop]:
        """Answer each episode's observation."""

    def leave(self, episode: Episode) -> None:
        """Forget an episode that has ended; a policy with tokens puts its traces on record."""


class EpisodeLoop:
    """Plays tasks with a policy.

    Args:
        env: where to play; a mapping from the scenario's name in task ids (`"textcraft"`) to where
            it is played mixes scenarios.
        policy: who plays.
        failure_rules: when a task is played again after a failure, and when a run stops.
        on_trajectory: called with each trajectory as its episode ends.
    """

    def __init__(
        self,
        env: TextVector | Mapping[str, TextVector],
        policy: Policy,
        *,
        failure_rules: FailureRules,
        on_trajectory: Callable[[Trajectory], None] | None = None,
    ) -> None:
        self.envs = dict(env) if isinstance(env, Mapping) else None
        self.env = env
        self.policy = policy
        self.failure_rules = failure_rules
        self.on_trajectory = on_trajectory

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
        run = _Run(self, task_ids, global_step)
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


@dataclass
class _Place:
    """One environment's free slots and waiting tasks, and what it says of itself."""

    env: TextVector
    options: dict[str, Any]
    free: list[int]
    env_ids: list[str]
    system_prompts: list[str]
    waiting: deque[int] = field(default_factory=deque)


class _Run:
    """One call of `EpisodeLoop.run`."""

    def __init__(self, loop: EpisodeLoop, task_ids: Sequence[str], global_step: int) -> None:
        self.loop = loop
        self.policy = loop.policy
        self.task_ids = list(task_ids)
        self.global_step = global_step
        self.attempts = Attempts(loop.failure_rules)
        self.trajectories: dict[int, Trajectory] = {}
        self.live: list[Episode] = []
        self._num_begun = 0
        self._places: dict[int, _Place] = {}
        for index, task_id in enumerate(self.task_ids):
            env = loop.env_of(task_id)
            if id(env) not in self._places:
                self._places[id(env)] = self._place(env)
            self._places[id(env)].waiting.append(index)

    def play(self) -> list[Trajectory]:
        while len(self.trajectories) < len(self.task_ids):
            for place in self._places.values():
                self._fill(place)
            if self.live:
                self._take_turns()
        self.attempts.check(len(self.task_ids))
        return [self.trajectories[index] for index in range(len(self.task_ids))]

    def abandon(self) -> None:
        """Let the policy forget the episodes that an error cut short."""
        while self.live:
            self.policy.leave(self.live.pop())

    # Starting ---------------------------------------------------------------------------------

    def _place(self, env: TextVector) -> _Place:
        return _Place(
            env=env,
            options={"global_step": self.global_step} if _is_scheduled(env) else {},
            free=list(range(env.num_envs)),
            env_ids=env.get("env_id"),
            system_prompts=env.get("system_prompt"),
        )

    def _fill(self, place: _Place) -> None:
        """Start waiting tasks in free slots."""
        starting: dict[int, int] = {}  # slot -> index
        while place.free and place.waiting:
            starting[place.free.pop(0)] = place.waiting.popleft()
        if not starting:
            return
        tasks: list[str | None] = [None] * place.env.num_envs
        for slot, index in starting.items():
            tasks[slot] = self.task_ids[index]
        observations, infos = place.env.reset(options={**place.options, "task_id": tasks})
        for slot, index in starting.items():
            episode = self._begin(place, slot, index, observations[slot], infos[slot])
            if "failure" in episode.info:
                self._fail(episode, episode.info["failure"])
            else:
                self.live.append(episode)

    def _begin(
        self, place: _Place, slot: int, index: int, observation: str, info: dict[str, Any]
    ) -> Episode:
        self._num_begun += 1
        trajectory = Trajectory(
            env_id=place.env_ids[slot],
            task_id=info.get("task_id", str(self.task_ids[index])),
            subtask=info.get("subtask", ""),
            split=info.get("split", ""),
            source=info.get("source", ""),
            goal=info.get("goal", ""),
            system_prompt=place.system_prompts[slot],
            final_observation=observation,
            policy=self.policy.name,
            global_step=self.global_step,
        )
        return Episode(self._num_begun, index, place.env, slot, observation, info, trajectory)

    # Playing ----------------------------------------------------------------------------------

    def _take_turns(self) -> None:
        """Let the policy answer every live episode, and play its answers."""
        episodes = list(self.live)
        replies: dict[int, dict[int, tuple[Episode, Reply]]] = {}
        for episode, reply in zip(episodes, self.policy.act(episodes), strict=True):
            if isinstance(reply, Stop):
                self._end(episode, status="truncated", truncated_by=reply.cause)
            else:
                replies.setdefault(id(episode.env), {})[episode.slot] = episode, reply
        for place_id, by_slot in replies.items():
            self._step(self._places[place_id].env, by_slot)

    def _step(self, env: TextVector, by_slot: dict[int, tuple[Episode, Reply]]) -> None:
        actions: list[str | None] = [None] * env.num_envs
        for slot, (_, reply) in by_slot.items():
            actions[slot] = reply.action
        observations, rewards, terminated, truncated, infos = env.step(actions)
        for slot, (episode, reply) in by_slot.items():
            info = infos[slot]
            if "failure" in info:
                self._fail(episode, info["failure"])
                continue
            self._record(episode, reply, observations[slot], rewards[slot], info)
            if terminated[slot]:
                self._end(episode, status="terminated")
            elif truncated[slot]:
                cause = info.get("truncated_by") or "env_limit"
                self._end(episode, status="truncated", truncated_by=cause)

    def _record(
        self, episode: Episode, reply: Reply, observation: str, reward: float, info: dict[str, Any]
    ) -> None:
        turn = Turn(
            observation=episode.observation,
            completion=reply.completion,
            reward=float(reward),
            is_valid_action=bool(info["is_valid_action"]),
            score=float(info["score"]),
            num_tokens=reply.num_tokens,
        )
        trajectory = episode.trajectory
        trajectory.turns.append(turn)
        trajectory.final_observation = observation
        trajectory.success = bool(info["success"])
        trajectory.score = turn.score
        episode.observation = observation
        episode.info = info

    # Ending -----------------------------------------------------------------------------------

    def _end(self, episode: Episode, *, status: Any, truncated_by: str | None = None) -> None:
        trajectory = episode.trajectory
        trajectory.status = status
        trajectory.truncated_by = truncated_by
        self._release(episode)
        self._keep(episode)

    def _fail(self, episode: Episode, cause: str) -> None:
        """Play a task again whose environment broke, or give it up."""
        self._release(episode)
        if self.attempts.record_failure(episode.index, cause):
            self._places[id(episode.env)].waiting.appendleft(episode.index)
            return
        episode.trajectory.status = "failed"
        episode.trajectory.error = cause
        self._keep(episode)

    def _release(self, episode: Episode) -> None:
        self._places[id(episode.env)].free.append(episode.slot)
        if episode in self.live:
            self.live.remove(episode)
            self.policy.leave(episode)

    def _keep(self, episode: Episode) -> None:
        self.trajectories[episode.index] = episode.trajectory
        if self.loop.on_trajectory is not None:
            self.loop.on_trajectory(episode.trajectory)


def _is_scheduled(env: Any) -> bool:
    while env is not None:
        if isinstance(env, HorizonCurriculum):
            return True
        env = getattr(env, "env", None)
    return False
