"""One run of `EpisodeLoop`: starts tasks in free slots, has turns taken, and keeps the record.

Here all live episodes take their turns together; `trainers.rollout.overlap` lets each go at its
own pace.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.core import UNSCORED, UNSCORED_KEY
from agentgym_envs.trajectory import Trajectory, Turn
from trainers.rollout.types import Episode, Policy, Reply, Stop
from wrappers import Attempts, FailureRules, HorizonCurriculum, TextVector
from wrappers.vector.arguments import Answer


@dataclass
class Place:
    """One environment's free slots and waiting tasks, and what it says of itself."""

    env: TextVector
    options: dict[str, Any]
    free: list[int]
    env_ids: list[str]
    system_prompts: list[str]
    waiting: deque[int] = field(default_factory=deque)


class EpisodeRun:
    """Plays a list of tasks once.

    Args:
        tasks: each task id and where it is played.
        policy: who plays.
        failure_rules: when a task is played again after a failure, and when the run stops.
        global_step: optimizer step, for horizon schedules and the record.
        on_trajectory: called with each trajectory as its episode ends.
    """

    def __init__(
        self,
        tasks: Sequence[tuple[str, TextVector]],
        policy: Policy,
        *,
        failure_rules: FailureRules,
        global_step: int,
        on_trajectory: Callable[[Trajectory], None] | None,
    ) -> None:
        self.policy = policy
        self.task_ids = [task_id for task_id, _ in tasks]
        self.global_step = global_step
        self.on_trajectory = on_trajectory
        self.attempts = Attempts(failure_rules)
        self.trajectories: dict[int, Trajectory] = {}
        self.live: list[Episode] = []
        self.places: dict[int, Place] = {}
        self._num_begun: Counter[int] = Counter()  # by the task's place in the list
        for index, (_, env) in enumerate(tasks):
            if id(env) not in self.places:
                self.places[id(env)] = self._place(env)
            self.places[id(env)].waiting.append(index)

    def play(self) -> list[Trajectory]:
        """Play every task, and return one trajectory per task in the same order.

        Raises:
            ValueError: a task does not exist.
            EnvFailure: more episodes failed than the failure rules allow.
        """
        while len(self.trajectories) < len(self.task_ids):
            self.start_waiting()
            self.take_turns(self.ready())
        self.attempts.check(len(self.task_ids))
        return [self.trajectories[index] for index in range(len(self.task_ids))]

    def abandon(self) -> None:
        """Let the policy forget the episodes that an error cut short."""
        while self.live:
            self.policy.leave(self.live.pop())

    # Starting ---------------------------------------------------------------------------------

    def _place(self, env: TextVector) -> Place:
        return Place(
            env=env,
            options={"global_step": self.global_step} if _is_scheduled(env) else {},
            free=list(range(env.num_envs)),
            env_ids=env.get("env_id"),
            system_prompts=env.get("system_prompt"),
        )

    def start_waiting(self) -> None:
        """Start waiting tasks in free slots."""
        for place in self.places.values():
            starting: dict[int, int] = {}  # slot -> index
            while place.free and place.waiting:
                starting[place.free.pop(0)] = place.waiting.popleft()
            if starting:
                tasks: list[str | None] = [None] * place.env.num_envs
                for slot, index in starting.items():
                    tasks[slot] = self.task_ids[index]
                self.start(place, starting, {**place.options, "task_id": tasks})

    def start(self, place: Place, starting: Mapping[int, int], options: dict[str, Any]) -> None:
        """Reset slots.

        Args:
            place: whose slots.
            starting: by slot, the task's place in the list.
            options: of the reset.
        """
        observations, infos = place.env.reset(options=options)
        for slot, index in starting.items():
            self.begin(place, slot, index, observations[slot], infos[slot])

    def begin(
        self, place: Place, slot: int, index: int, observation: str, info: dict[str, Any]
    ) -> None:
        """Take in what a reset has answered."""
        episode = self._episode(place, slot, index, observation, info)
        if "failure" in info:
            self._fail(episode, info["failure"])
        else:
            self.live.append(episode)

    def _episode(
        self, place: Place, slot: int, index: int, observation: str, info: dict[str, Any]
    ) -> Episode:
        key = 1 + index + len(self.task_ids) * self._num_begun[index]
        self._num_begun[index] += 1
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
        return Episode(key, index, place.env, slot, observation, info, trajectory)

    # Playing ----------------------------------------------------------------------------------

    def ready(self) -> list[Episode]:
        """Return the episodes that take their turns next: all."""
        return list(self.live)

    def take_turns(self, episodes: Sequence[Episode]) -> None:
        """Let the policy answer episodes, and play its answers."""
        if not episodes:
            return
        replies: dict[int, dict[int, tuple[Episode, Reply]]] = {}
        for episode, reply in zip(episodes, self.policy.act(episodes), strict=True):
            if isinstance(reply, Stop):
                self._end(episode, status="truncated", truncated_by=reply.cause)
            else:
                replies.setdefault(id(episode.env), {})[episode.slot] = episode, reply
        for place_id, by_slot in replies.items():
            place = self.places[place_id]
            actions: list[str | None] = [None] * place.env.num_envs
            for slot, (_, reply) in by_slot.items():
                actions[slot] = reply.action
            self.step(place, by_slot, actions)

    def step(
        self,
        place: Place,
        by_slot: Mapping[int, tuple[Episode, Reply]],
        actions: Sequence[str | None],
    ) -> None:
        """Play turns.

        Args:
            place: whose slots.
            by_slot: by slot, the episode and its turn.
            actions: one per slot; None for those that are left alone.
        """
        answers = list(zip(*place.env.step(actions), strict=True))
        for slot, (episode, reply) in by_slot.items():
            self.hear(episode, reply, answers[slot])

    def hear(self, episode: Episode, reply: Reply, answer: Answer) -> None:
        """Take in what a turn has brought."""
        observation, reward, terminated, truncated, info = answer
        if "failure" in info:
            self._fail(episode, info["failure"])
            return
        self._record(episode, reply, observation, reward, info)
        if info.get(UNSCORED_KEY):
            episode.trajectory.error = UNSCORED
            self._end(episode, status="failed")
        elif terminated:
            self._end(episode, status="terminated")
        elif truncated:
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
            self.places[id(episode.env)].waiting.appendleft(episode.index)
            return
        episode.trajectory.status = "failed"
        episode.trajectory.error = cause
        self._keep(episode)

    def _release(self, episode: Episode) -> None:
        self.places[id(episode.env)].free.append(episode.slot)
        if episode in self.live:
            self.live.remove(episode)
            self.policy.leave(episode)

    def _keep(self, episode: Episode) -> None:
        self.trajectories[episode.index] = episode.trajectory
        if self.on_trajectory is not None:
            self.on_trajectory(episode.trajectory)


def _is_scheduled(env: Any) -> bool:
    while env is not None:
        if isinstance(env, HorizonCurriculum):
            return True
        env = getattr(env, "env", None)
    return False
