"""Environments and samplers whose delays pass on a clock that skips idle time.

A batch of thousands of episodes that would sleep for minutes takes as long as the scheduler's own
work. The clock runs while that works, so answers gather meanwhile, as they would.
"""

from __future__ import annotations

import heapq
import os
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentgym_envs.errors import EnvFailure
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.rollout.carried import CarriedGroups
from trainers.rollout.env_slots import gathering_seconds
from trainers.rollout.policy import Episode, Policy, PolicyAnswer, Reply
from trainers.rollout.rollout import Batch, Rollout
from wrappers.vector.calls import SlotCalls
from wrappers.vector.env import STEP_TIMEOUT, TextVectorEnv
from wrappers.vector.slots import wait_for_any


class Clock:
    """Seconds of this process's work, and those skipped. Only `read` advances it by work.

    Attributes:
        now: the moment of the last reading.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._worked = time.process_time()
        self._moments: list[float] = []

    def read(self) -> None:
        """Take in the work since the last reading."""
        worked = time.process_time()
        self.now += worked - self._worked
        self._worked = worked

    def skip(self, seconds: float) -> None:
        """Let idle time pass."""
        self.now += seconds

    def add(self, moment: float) -> None:
        """Add the moment of an answer."""
        heapq.heappush(self._moments, moment)

    def skip_to_answer(self) -> None:
        """Let the time pass until the next answer that has not come yet."""
        while self._moments and self._moments[0] <= self.now:
            heapq.heappop(self._moments)
        if self._moments:
            self.now = self._moments[0]


@dataclass(frozen=True)
class World:
    """The delays, failures and lengths of simulated environments.

    Attributes:
        turns: turns of every episode.
        mean: seconds of a turn, log-normal.
        spread: standard deviation of their logarithm.
        straggling: share of the turns that take twenty times as long.
        failing: share of the turns that end in an `EnvFailure`.
        observation: what every turn answers.
    """

    turns: int = 10
    mean: float = 1.0
    spread: float = 1.0
    straggling: float = 0.0
    failing: float = 0.0
    observation: str = "You see a door."

    def delays(self, rng: np.random.Generator, count: int) -> list[float]:
        """Draw the seconds of `count` turns."""
        drawn = self.mean * np.exp(rng.normal(-(self.spread**2) / 2, self.spread, count))
        return list(np.where(rng.random(count) < self.straggling, 20 * drawn, drawn))


class SimulatedSlot:
    """An environment that answers asynchronously without a thread. Implements `Slot`.

    Args:
        clock: the time.
        world: how it is.
        rng: draws its delays and failures.
    """

    deadline: float | None = None

    def __init__(self, clock: Clock, world: World, rng: np.random.Generator) -> None:
        self.running = False
        self._clock, self._world, self._rng = clock, world, rng
        self._answer_at = 0.0
        self._answer: Any = None
        self._turn = 0
        self._delays: list[float] = []
        self._fails_at: int | None = None
        self._info: dict[str, Any] = {}

    def answered(self) -> bool:
        """Whether its time is over."""
        return self._clock.now >= self._answer_at

    def watch(self, wakeup: Any) -> None:
        """Do nothing, since time is skipped without waiting."""

    def start(self, timeout: float | None) -> None:
        """Be there at once."""
        self.running, self._answer = True, None
        self._answer_at = self._clock.now

    def send(self, method: str, *args: Any, timeout: float | None) -> None:
        """Begin a call."""
        if method not in ("reset", "step"):
            self._answer = {"system_prompt": "Play.", "env_id": "agentgym/TextCraft-v0"}.get(
                str(args[0]) if args else ""
            )
            self._answer_at = self._clock.now
            return
        if method == "reset":
            self._begin(args[1]["task_id"])
            self._answer = self._world.observation, dict(self._info)
        else:
            self._turn += 1
            is_over = self._turn >= self._world.turns
            info = {**self._info, "turn": self._turn, "success": is_over, "score": float(is_over)}
            self._answer = self._world.observation, float(is_over), is_over, False, info
        self._answer_at = self._clock.now + self._delays[self._turn]
        self._clock.add(self._answer_at)

    def receive(self) -> Any:
        """Return the answer."""
        if self._fails_at is not None and self._turn == self._fails_at:
            self._fails_at = None
            raise EnvFailure("the simulator died")
        return self._answer

    def discard(self) -> None:
        """End the environment."""
        self.running = False

    def _begin(self, task_id: str) -> None:
        world, rng = self._world, self._rng
        self._turn = 0
        self._delays = world.delays(rng, world.turns + 1)
        failing = np.flatnonzero(rng.random(world.turns + 1) < world.failing)
        self._fails_at = int(failing[0]) if len(failing) else None
        self._info = {
            **{"task_id": task_id, "subtask": "", "split": "train", "source": "simulated"},
            **{"goal": "", "success": False, "score": 0.0, "is_valid_action": True},
            **{"available_actions": None, "turn": 0, "truncated_by": None},
        }


class SimulatedEnvs(TextVectorEnv):
    """A vector of simulated environments.

    Args:
        num_envs: how many.
        clock: the time.
        world: how they are.
        seed: of their delays and failures.
    """

    def __init__(self, num_envs: int, clock: Clock, world: World, *, seed: int) -> None:
        streams = np.random.SeedSequence(seed).spawn(num_envs)
        slots = [SimulatedSlot(clock, world, np.random.default_rng(one)) for one in streams]
        self.num_envs = num_envs
        self.step_timeout = STEP_TIMEOUT
        self._calls = SlotCalls(slots)
        self._backend = "thread"
        self._pid = os.getpid()
        self._finalizer = weakref.finalize(self, _close, self._calls, self._pid)
        self._start(range(num_envs))


def _close(calls: SlotCalls, pid: int) -> None:
    calls.close()


class SimulatedSampler(Policy):
    """Samples a batch of turns in a call that takes a fixed time and some per row.

    Args:
        clock: the time.
        fixed: seconds of every call.
        per_row: further seconds of each row.
    """

    name = "simulated"

    def __init__(self, clock: Clock, *, fixed: float = 0.05, per_row: float = 1e-4) -> None:
        self._clock, self._fixed, self._per_row = clock, fixed, per_row

    def act(self, episodes: Sequence[Episode]) -> list[Reply]:
        """Answer each episode."""
        self._clock.skip(self._fixed + self._per_row * len(episodes))
        return [Reply("look", 1)] * len(episodes)


class _Answer:
    """An answer of `SimulatedServer` on its way."""

    deadline: float | None = None

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._moment = clock, clock.now + seconds
        clock.add(self._moment)

    def answered(self) -> bool:
        return self._clock.now >= self._moment

    def watch(self, wakeup: Any) -> None:
        return None


class SimulatedServer(Policy):
    """Answers each episode on its own, after a log-normal time.

    Args:
        clock: the time.
        seed: of the times.
        mean: seconds of an answer.
    """

    name = "simulated"
    is_asynchronous = True

    def __init__(self, clock: Clock, *, seed: int, mean: float = 1.0) -> None:
        self._clock, self._mean = clock, mean
        self._rng = np.random.default_rng(seed)
        self._answers: dict[int, _Answer] = {}

    def act(self, episodes: Sequence[Episode]) -> list[PolicyAnswer | None]:
        """Return the answers that have come, and begin those that are not on their way."""
        replies: list[PolicyAnswer | None] = []
        for episode in episodes:
            answer = self._answers.get(episode.key)
            if answer is None:
                seconds = self._mean * float(np.exp(self._rng.normal(-0.5, 1.0)))
                self._answers[episode.key] = _Answer(self._clock, seconds)
                replies.append(None)
            elif answer.answered():
                del self._answers[episode.key]
                replies.append(Reply("look", 1))
            else:
                replies.append(None)
        return replies

    def pending(self) -> list[_Answer]:
        """List the answers that are on their way."""
        return list(self._answers.values())

    def leave(self, episode: Episode) -> None:
        """Forget an episode."""
        self._answers.pop(episode.key, None)


def play(
    envs: TextVectorEnv,
    policy: Policy,
    clock: Clock,
    task_ids: Sequence[str],
    *,
    on_trajectory: Callable[[Trajectory], None] | None = None,
) -> list[Trajectory]:
    """Play a batch as `Rollout.run` does, but skip its waiting."""
    batch = Batch(Rollout(envs, policy, overlap=True), task_ids, on_trajectory=on_trajectory)
    try:
        _play_on(batch, clock)
        return batch.finish()
    finally:
        batch.abandon()


def _play_on(batch: Batch, clock: Clock, until: Callable[[], bool] = lambda: False) -> None:
    while not until() and batch.next_turns() is not None:
        clock.read()
        answers = batch.pause.answers
        if answers:
            if not any(one.answered() for one in answers):
                clock.skip_to_answer()
            wait_for_any(answers, None)
            clock.skip(gathering_seconds(len(answers)))


class SimulatedGroups(CarriedGroups):
    """Groups that are carried over, by the clock.

    Args:
        rollout: plays under `overlap`.
        group_size: episodes of a group.
        clock: the time.
    """

    def __init__(self, rollout: Rollout, group_size: int, clock: Clock) -> None:
        super().__init__(rollout, group_size)
        self._clock = clock

    def _play(self, *, until: Callable[[], bool]) -> None:
        _play_on(self._playing, self._clock, until)
