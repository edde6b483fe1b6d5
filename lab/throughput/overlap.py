"""The gain of overlap: the same rollouts at each environment's own pace and in lockstep.

Every turn of the environments takes an artificial delay with a long tail, the same on both sides:
asleep, as one that waits for a browser or a server is. The delays' mean is set as a multiple of
what a generation call for all episodes takes on this machine, measured just before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from lab.throughput.measure import Row, Side, Stopwatch, compare
from lab.throughput.rollouts import (
    Steered,
    expert_completions,
    prompts,
    script,
    word_tokenizer,
)
from lab.warm_start.tiny import build_model
from trainers.backends.hf import HFBackend
from trainers.policies.model import ModelPolicy
from trainers.rollout.rollout import Rollout
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Generated, Sampling
from wrappers.vector.env import TextVectorEnv

_MAKE: dict[str, Any] = {"action_format": "react", "split": "test", "disable_env_checker": True}
_SPREAD = 1.0
"""Standard deviation of a delay's logarithm: one delay in a hundred is six times the mean."""


@dataclass
class Delay:
    """The delays of a run's environments, log-normal around `mean` seconds."""

    mean: float = 0.0

    def of(self, task: int, turn: int) -> float:
        """Return the seconds that a turn takes, always the same for the same turn."""
        drawn = np.random.default_rng([task, turn]).normal(-(_SPREAD**2) / 2, _SPREAD)
        return self.mean * float(np.exp(drawn))


class Delayed(gym.Wrapper[str, str, str, str]):
    """Sleeps before every turn.

    Args:
        env: the environment.
        delay: how long.
    """

    def __init__(self, env: gym.Env[str, str], delay: Delay) -> None:
        super().__init__(env)
        self._delay = delay

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Sleep and play one turn."""
        result = self.env.step(action)
        info = result[4]
        time.sleep(self._delay.of(int(info["task_id"].rpartition("_")[2]), info["turn"]))
        return result


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
        delay: the mean delay of a turn, in generation calls for all episodes.
        episodes: episodes under way, one per slot.
        turns: turns of every episode.
        tokens: sampled tokens of every turn.
        most_repeats: bounds the timed runs, since one takes many seconds.
    """

    delay: float
    episodes: int = 48
    turns: int = 4
    tokens: int = 8
    most_repeats: int = 2


CASES = (Case(0.0), Case(0.3), Case(1.0))


def overlap_rows(repeats: int, *, cases: Sequence[Case] = CASES) -> Iterator[Row]:
    """Measure every case."""
    completions = expert_completions(max(case.episodes for case in cases))
    texts = [text for task in completions.values() for text in task]
    tokenizer = word_tokenizer([*texts, *prompts(completions)])
    backend = _Timed(build_model(len(tokenizer)).eval())
    chat = ChatFormat.from_tokenizer(tokenizer)
    for case in cases:
        task_ids = list(completions)[: case.episodes]
        scripts = {task_id: script(completions[task_id], case.turns) for task_id in task_ids}
        delay = Delay()
        make = partial(_make, scripts, case, delay)
        # An id that is never sampled: every turn takes its whole budget, on both sides.
        sampling = Sampling(max_new_tokens=case.tokens, stop_ids=(len(tokenizer),))
        with TextVectorEnv([make] * case.episodes, backend="thread") as env:
            policy = ModelPolicy(backend, chat, sampling=sampling)
            apart, together = (
                _Player(Rollout(env, policy, overlap=overlap), backend, task_ids)
                for overlap in (True, False)
            )
            for side in (apart, together):
                side.run(Stopwatch())
            delay.mean = case.delay * together.seconds_per_call
            row = compare(
                "overlap",
                Side(f"rollout, delays of {case.delay:g} calls, overlap", "tokens", apart.run),
                Side("in lockstep", "tokens", together.run),
                repeats=min(repeats, case.most_repeats),
                warm_up=False,
                episodes=case.episodes,
                turns=case.turns,
                mean_delay_ms=round(1000 * delay.mean),
                torch_threads=torch.get_num_threads(),
            )
        row.notes["rows_per_call"] = (
            f"{apart.rows_per_call:.0f} against {together.rows_per_call:.0f}"
        )
        row.notes["share_of_time_generating"] = (
            f"{apart.share_generating:.2f} against {together.share_generating:.2f}"
        )
        yield row


class _Timed(HFBackend):
    """A backend that counts its calls, the rows in them and their seconds."""

    calls = num_rows = 0
    seconds = 0.0

    def generate(self, prompts: Sequence[list[int]], *args: Any, **kwargs: Any) -> list[Generated]:
        start = time.perf_counter()
        generated = super().generate(prompts, *args, **kwargs)
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.num_rows += len(prompts)
        return generated


class _Player:
    """One side.

    Attributes:
        rows_per_call, seconds_per_call, share_generating: means over the last run.
    """

    rows_per_call = seconds_per_call = share_generating = 0.0

    def __init__(self, rollout: Rollout, backend: _Timed, task_ids: Sequence[str]) -> None:
        self._rollout = rollout
        self._backend = backend
        self._task_ids = task_ids

    def run(self, watch: Stopwatch) -> None:
        """Play the episodes once."""
        backend = self._backend
        backend.calls = backend.num_rows = 0
        backend.seconds = 0.0
        before = watch.seconds
        with watch.running():
            trajectories = self._rollout.run(self._task_ids)
        watch.units += sum(turn.num_tokens for episode in trajectories for turn in episode.turns)
        self.rows_per_call = backend.num_rows / backend.calls
        self.seconds_per_call = backend.seconds / backend.calls
        self.share_generating = backend.seconds / (watch.seconds - before)


def _make(scripts: dict[str, list[str]], case: Case, delay: Delay) -> Delayed:
    env = gym.make("agentgym/TextCraft-v0", max_turns=case.turns, **_MAKE)
    return Delayed(Steered(env, scripts), delay)
