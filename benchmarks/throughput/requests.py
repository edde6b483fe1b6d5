"""Measures the gain of waiting for each server answer alone, against waiting for all of them.

The server answers over real HTTP after a while, one request in ten after ten times as long, the
same for the same turn on both sides. Both sides play the same actions.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.throughput.measure import Row, Side, Stopwatch, compare
from trainers.backends.json_client import JSONClient
from trainers.options.arguments import EpisodeArguments
from trainers.policies.api import APIPolicy
from trainers.rollout.policy import Episode, Policy, PolicyAnswer
from trainers.rollout.rollout import Rollout
from wrappers.vector.env import TextVectorEnv
from wrappers.vector.slots import wait_for_any

_SLOW_SHARE = 0.1
_SLOW = 10.0
_LOOK = json.dumps({"name": "inventory", "arguments": {}})


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
        with _serving(case) as url, TextVectorEnv([make] * case.episodes) as env:
            client = JSONClient(url, max_requests=case.max_requests)
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
    """Return how long an answer takes, always the same for the same turn."""
    is_slow = np.random.default_rng([task, turn]).random() < _SLOW_SHARE
    return case.seconds * (_SLOW if is_slow else 1.0)


@contextmanager
def _serving(case: Case) -> Iterator[str]:
    """Serve chat completions, each after its delay; yield the address."""
    tasks: dict[str, int] = {}
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            contents = [message["content"] for message in body["messages"]]
            with lock:
                task = tasks.setdefault(contents[1], len(tasks) % case.episodes)
            time.sleep(_seconds(case, task, len(contents) // 2 - 1))
            message = {"role": "assistant", "content": _LOOK}
            data = json.dumps({"choices": [{"message": message}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
