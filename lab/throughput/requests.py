"""The gain of waiting for each server answer alone, against waiting for all.

The server is slow, and equally so for the same turn on both sides. Both sides play the same
actions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym

from lab.throughput.measure import Row, Side, Stopwatch, compare
from lab.throughput.slow_server import delay, serving
from trainers.backends.json_client import JSONClient
from trainers.options.arguments import EpisodeArguments
from trainers.policies.api import APIPolicy
from trainers.rollout.policy import Episode, Policy, PolicyAnswer
from trainers.rollout.rollout import Rollout
from wrappers.vector.env import TextVectorEnv
from wrappers.vector.slots import wait_for_any


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
        seconds: that an answer takes, where it is not slow.
        episodes: episodes, one per slot.
        turns: turns of every episode.
        max_requests: requests under way at once.
        most_repeats: bounds the timed runs, since one takes many seconds.
    """

    seconds: float
    episodes: int = 32
    turns: int = 10
    max_requests: int = 32
    most_repeats: int = 1


CASES = (Case(0.25), Case(0.25, max_requests=8))


def request_rows(repeats: int, *, cases: Sequence[Case] = CASES) -> Iterator[Row]:
    """Measure every case."""
    for case in cases:
        task_ids = [f"textcraft_{number}" for number in range(case.episodes)]
        make = partial(
            gym.make,
            "agentgym/TextCraft-v0",
            max_turns=case.turns,
            action_format="function_call",
            disable_env_checker=True,
        )
        with (
            serving(_Delays(case)) as server,
            TextVectorEnv([make] * case.episodes) as env,
        ):
            client = JSONClient(server.url, max_requests=case.max_requests)
            policy = APIPolicy(client, "slow", EpisodeArguments())
            row = compare(
                "requests",
                Side("answers as they come", "turns", partial(_play, env, policy, task_ids)),
                Side("in lockstep", "turns", partial(_play, env, InLockstep(policy), task_ids)),
                repeats=min(repeats, case.most_repeats),
                warm_up=False,
                episodes=case.episodes,
                turns=case.turns,
                max_requests=case.max_requests,
            )
            client.close()
        longest = max(sum(_seconds(case, task, turn) for turn in range(case.turns))
                      for task in range(case.episodes))  # fmt: skip
        total = sum(_seconds(case, task, turn) for task in range(case.episodes)
                    for turn in range(case.turns))  # fmt: skip
        num_turns = case.episodes * case.turns
        row.notes["seconds"] = (
            f"{num_turns / row.rate:.1f} against {num_turns / (row.baseline_rate or 1):.1f}"
        )
        row.notes["least_seconds"] = round(max(longest, total / case.max_requests), 1)
        yield row


def _play(env: TextVectorEnv, policy: Policy, task_ids: Sequence[str], watch: Stopwatch) -> None:
    with watch.running():
        trajectories = Rollout(env, policy).run(task_ids)
    watch.units += sum(len(episode.turns) for episode in trajectories)


class InLockstep(Policy):
    """Waits until every episode has its answer.

    Args:
        policy: whose answers come apart.
    """

    def __init__(self, policy: APIPolicy) -> None:
        self.name = policy.name
        self._policy = policy

    def begin_batch(self, **batch: Any) -> None:
        """Begin a batch of the policy."""
        self._policy.begin_batch(**batch)

    def act(self, episodes: Sequence[Episode]) -> list[PolicyAnswer | None]:
        """Answer each episode's observation."""
        answers: dict[int, PolicyAnswer] = {}
        while waiting := [episode for episode in episodes if episode.key not in answers]:
            for episode, answer in zip(waiting, self._policy.act(waiting), strict=True):
                if answer is not None:
                    answers[episode.key] = answer
            wait_for_any(self._policy.pending(), None)
        return [answers[episode.key] for episode in episodes]

    def leave(self, episode: Episode) -> None:
        """Forget an episode that has ended."""
        self._policy.leave(episode)


def _seconds(case: Case, task: int, turn: int) -> float:
    """Return the duration of an answer, always the same for the same turn."""
    return delay(case.seconds, [task, turn])


class _Delays:
    """Returns the delay of a request by its task, in order of arrival, and its turn.

    Args:
        case: the row's.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._tasks: dict[str, int] = {}
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> float:
        contents = [message["content"] for message in body["messages"]]
        with self._lock:
            new = len(self._tasks) % self._case.episodes
            task = self._tasks.setdefault(contents[1], new)
        return _seconds(self._case, task, len(contents) // 2 - 1)
