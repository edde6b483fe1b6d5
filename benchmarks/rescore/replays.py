"""Plays recorded episodes again, many at once, and compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.errors import EnvFailure
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.rescore.differences import GOES_ON, Difference, differences
from benchmarks.rescore.origins import BY_POLICY, NotReplayable, Origin, Origins
from trainers.rollout.policy import Episode, Policy, Reply, Stop
from trainers.rollout.rollout import Rollout
from wrappers import FailureRules, FixedHorizon, TextVectorEnv
from wrappers.vector.backends import Backend

_ONCE = FailureRules(retries=0, max_failed_share=1.0)
_MOST_VECTORS = 4
"""Environments that are kept for the next file."""


class RecordedPolicy(Policy):
    """Plays the actions of recorded episodes, each by its place in the list of tasks."""

    name = "recorded"

    def __init__(self, recorded: Sequence[Trajectory]) -> None:
        self._recorded = recorded

    def act(self, episodes: Sequence[Episode]) -> list[Reply | Stop]:
        """Return each episode's next action, or its end where the policy has ended it."""
        return [self._next(episode) for episode in episodes]

    def _next(self, episode: Episode) -> Reply | Stop:
        recorded, place = self._recorded[episode.index], len(episode.trajectory.turns)
        if place < len(recorded.turns):
            turn = recorded.turns[place]
            return Reply(turn.completion, turn.num_tokens, action=turn.action)
        cause = recorded.truncated_by
        is_own = recorded.status == "truncated" and cause in BY_POLICY
        return Stop(str(cause) if is_own else GOES_ON, recorded.error)


@dataclass
class Replay:
    """A recorded episode and its replay.

    Attributes:
        recorded: the episode as its file has it, without its tokens.
        replayed: the same actions played again; None where that was not possible.
        differences: what the replay does not confirm.
        reason: why it was not possible.
    """

    recorded: Trajectory
    replayed: Trajectory | None = None
    differences: list[Difference] = field(default_factory=list)
    reason: str = ""

    @property
    def is_equal(self) -> bool:
        """The replay confirms all of it."""
        return self.replayed is not None and not self.differences


class Replayer:
    """Plays recorded episodes again in environments like theirs.

    Args:
        origins: finds the environments.
        backend: where they run, as `TextVectorEnv` takes it.
        num_envs: episodes at once.
    """

    def __init__(self, origins: Origins, *, backend: Backend = "sync", num_envs: int = 8) -> None:
        self._origins = origins
        self._backend = backend
        self._num_envs = num_envs
        self._vectors: dict[str, TextVectorEnv] = {}

    def replay(
        self,
        episodes: Sequence[Trajectory],
        options: Mapping[str, Any],
        *,
        on_trajectory: Callable[[Trajectory], None] | None = None,
    ) -> list[Replay]:
        """Play episodes again, and return them in their order.

        Args:
            episodes: the recorded ones.
            options: those of their run; empty where no record is known.
            on_trajectory: called with each episode that is played.
        """
        replays = [Replay(episode) for episode in episodes]
        groups: dict[tuple[str, int | None], tuple[Origin, list[Replay]]] = {}
        for replay in replays:
            try:
                origin = self._origins.of(replay.recorded, options)
            except NotReplayable as error:
                replay.reason = str(error)
                continue
            groups.setdefault((origin.key, origin.horizon), (origin, []))[1].append(replay)
        for origin, group in groups.values():
            self._play(group, origin, on_trajectory)
        return replays

    def close(self) -> None:
        """Close the environments."""
        for vector in self._vectors.values():
            vector.close()
        self._origins.close()

    def _play(
        self,
        replays: Sequence[Replay],
        origin: Origin,
        on_trajectory: Callable[[Trajectory], None] | None,
    ) -> None:
        """Play a group of episodes in one environment."""
        recorded = [replay.recorded for replay in replays]
        finished: dict[int, Trajectory] = {}
        reasons = [""] * len(replays)
        try:
            rollout = Rollout(
                self._vector(origin, len(replays)),
                RecordedPolicy(recorded),
                schedule=None if origin.horizon is None else FixedHorizon(origin.horizon),
                failure_rules=_ONCE,
                overlap=self._backend != "sync",
            )
            played = rollout.run(
                [episode.task_id for episode in recorded],
                on_trajectory=on_trajectory,
                finished=finished,
            )
            reasons = [str(one.error) for one in played]
        except (EnvFailure, ValueError) as error:
            reasons = [str(error)] * len(replays)
        for number, replay in enumerate(replays):
            if number not in finished:
                replay.reason = f"its environment failed: {reasons[number]}"
                continue
            replay.replayed = finished[number]
            replay.differences = differences(
                replay.recorded, replay.replayed, own_history=origin.own_history
            )

    def _vector(self, origin: Origin, num_episodes: int) -> TextVectorEnv:
        slots = [origin.factory] * min(self._num_envs, num_episodes)
        vector = self._vectors.pop(origin.key, None)
        if vector is not None and vector.num_envs < len(slots):
            vector.close()
            vector = None
        if vector is None:
            if len(self._vectors) >= _MOST_VECTORS:
                self._vectors.pop(next(iter(self._vectors))).close()
            vector = TextVectorEnv(slots, backend=self._backend)
        self._vectors[origin.key] = vector  # the last one, so the others are closed before it
        return vector
