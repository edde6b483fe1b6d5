"""Sampled tokens per second of rollouts, with the KV cache and with re-encoded history.

The policy is `tiny`'s architecture with random weights: what it writes is noise, so a wrapper
plays scripted actions in its place, and the observations are those of real episodes. Both sides
sample the same numbers of tokens in the same turns.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

import agentgym_envs  # noqa: F401 - registers the ids
from lab.throughput.measure import Row, Side, Stopwatch, compare
from lab.warm_start.tiny import build_model, build_tokenizer
from trainers.backends.hf import HFBackend
from trainers.policies.model import ModelPolicy
from trainers.rollout.rollout import Rollout
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Sampling
from wrappers.vector.env import TextVectorEnv

_ENV_ID = "agentgym/TextCraft-v0"
_MAKE: dict[str, Any] = {"action_format": "react", "split": "test", "disable_env_checker": True}
_FEWEST_MOVES = 5


class Steered(gym.Wrapper[str, str, str, str]):
    """Plays scripted actions whatever the policy answers.

    Args:
        env: the environment.
        scripts: for each task id, the actions to play, at least as many as there are turns.
        repeats_task: append the first observation to every later one, as a reminder of the task;
            histories become several thousand tokens long.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        scripts: Mapping[str, Sequence[str]],
        *,
        repeats_task: bool = False,
    ) -> None:
        super().__init__(env)
        self._scripts = scripts
        self._repeats_task = repeats_task

    def reset(self, **kwargs: Any) -> tuple[str, dict[str, Any]]:
        """Start an episode and its script."""
        observation, info = self.env.reset(**kwargs)
        self._first = observation
        self._next = iter(self._scripts[info["task_id"]])
        return observation, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Play the script's next action."""
        observation, reward, terminated, truncated, info = self.env.step(next(self._next))
        if self._repeats_task:
            observation = f"{observation}\n\n{self._first}"
        return observation, reward, terminated, truncated, info


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
        turns: turns of every episode.
        episodes: episodes that advance together.
        repeats_task: see `Steered`.
        most_repeats: bounds the timed runs, since one takes many seconds.
    """

    turns: int
    episodes: int = 16
    repeats_task: bool = False
    most_repeats: int = 2


CASES = (
    Case(5),
    Case(10),
    Case(20),
    Case(20, episodes=4, repeats_task=True, most_repeats=1),
)


def rollout_rows(repeats: int, *, cases: Sequence[Case] = CASES) -> Iterator[Row]:
    """Measure every case."""
    completions = expert_completions(max(case.episodes for case in cases))
    texts = [text for task in completions.values() for text in task]
    tokenizer = word_tokenizer([*texts, *prompts(completions)])
    per_turn = round(sum(len(tokenizer.encode(text)) for text in texts) / len(texts))
    model = build_model(len(tokenizer)).eval()
    for case in cases:
        task_ids = list(completions)[: case.episodes]
        scripts = {task_id: script(completions[task_id], case.turns) for task_id in task_ids}
        make = partial(steered, scripts, case)
        with TextVectorEnv([make] * case.episodes) as env:
            cached, anew = (
                _Rollout(env, model, tokenizer, task_ids, per_turn, cache=cache)
                for cache in (True, False)
            )
            name = f"rollout, {case.turns} turns" + (", task repeated" * case.repeats_task)
            row = compare(
                "rollout",
                Side(f"{name}, cache kept", "tokens", cached.run),
                Side("history encoded anew every turn", "tokens", anew.run),
                repeats=min(repeats, case.most_repeats),
                warm_up=case is cases[0],
                episodes=case.episodes,
                tokens_per_turn=per_turn,
                torch_threads=torch.get_num_threads(),
            )
        row.notes["history_tokens"] = cached.history_tokens
        yield row


class _Rollout:
    """One side: the same episodes, with or without the cache.

    Attributes:
        history_tokens: mean length of the last run's final histories.
    """

    history_tokens = 0

    def __init__(
        self,
        env: TextVectorEnv,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        task_ids: Sequence[str],
        per_turn: int,
        *,
        cache: bool,
    ) -> None:
        self._env = env
        self._model = model
        self._chat = ChatFormat.from_tokenizer(tokenizer)
        # An id that is never sampled: every turn takes its whole budget, on both sides.
        self._sampling = Sampling(max_new_tokens=per_turn, stop_ids=(len(tokenizer),))
        self._task_ids = task_ids
        self._cache = cache

    def run(self, watch: Stopwatch) -> None:
        """Play the episodes once."""
        backend = HFBackend(self._model, cache=self._cache)
        rollout = Rollout(self._env, ModelPolicy(backend, self._chat, sampling=self._sampling))
        with watch.running():
            trajectories = rollout.run(self._task_ids)
        watch.units += sum(turn.num_tokens for episode in trajectories for turn in episode.turns)
        self.history_tokens = round(
            sum(len(episode.trace) for episode in trajectories) / len(trajectories)
        )


def steered(scripts: Mapping[str, Sequence[str]], case: Case) -> Steered:
    """Make an environment that plays the scripts, for as many turns as the case has."""
    env = gym.make(_ENV_ID, max_turns=case.turns, **_MAKE)
    return Steered(env, scripts, repeats_task=case.repeats_task)


def expert_completions(num_tasks: int) -> dict[str, list[str]]:
    """Return the expert's completions on test tasks of several moves."""
    env = gym.make(_ENV_ID, **_MAKE)
    base: Any = env.unwrapped
    completions: dict[str, list[str]] = {}
    for task_id in base.task_ids():
        env.reset(options={"task_id": task_id})
        written = []
        for completion in base.expert():
            written.append(completion)
            env.step(completion)
        if len(written) >= _FEWEST_MOVES:
            completions[task_id] = written
        if len(completions) == num_tasks:
            break
    env.close()
    return completions


def script(completions: Sequence[str], turns: int) -> list[str]:
    """Return `turns` possible actions that never craft the goal."""
    gets = [text for text in completions if "Action: get " in text]
    idle = [*gets, "Thought: What do I hold?\nAction: inventory"]
    return list(itertools.islice(itertools.cycle(idle), turns))


def prompts(task_ids: Sequence[str] | Mapping[str, Any]) -> Iterator[str]:
    """Yield the instruction and each task's first observation."""
    env = gym.make(_ENV_ID, **_MAKE)
    yield env.unwrapped.system_prompt  # type: ignore[attr-defined]
    for task_id in task_ids:
        yield env.reset(options={"task_id": task_id})[0]
    env.close()


def word_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """Build a tokenizer with a token per word, about as long as a large model's tokens are."""
    words = {word for text in texts for word in re.findall(r" ?[A-Za-z]+|\n+", text)}
    return build_tokenizer(sorted(words))
