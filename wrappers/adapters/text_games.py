"""Any Gymnasium or GEM text environment as one of ours, in one call.

Both have `reset(seed)`, which returns a text and a dict, and `step(text)`, which returns five
values; so one class plays both. A task is a seed.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gymnasium as gym

from agentgym_envs.actions import ActionVerb
from agentgym_envs.core import Outcome, TextEnv
from agentgym_envs.core.tasks import ListedTasks, TaskSpec
from agentgym_envs.registration.registry import register_env
from agentgym_envs.remote.action_forms import VERBS, TextForm
from agentgym_envs.remote.task_lists import SEEDS

SUCCESS_REWARD = 1.0
"""The last reward of an episode that succeeds, where `info["success"]` does not say so."""


def register_gymnasium(env_id: str, game: str, **kwargs: Any) -> None:
    """Register a Gymnasium text environment as one of ours.

    Args:
        env_id: its id here, such as `"mylab/Hangman-v0"`.
        game: its Gymnasium id, or `"module:id"`.
        **kwargs: as `TextGame`, but for `make`.
    """
    # The spec, not its id: a worker knows nothing of what this process has registered.
    make = partial(gym.make, gym.spec(game), disable_env_checker=True)
    register_env(env_id, TextGame, make=make, name=_name(game), **kwargs)


def register_gem(env_id: str, game: str, **kwargs: Any) -> None:
    """Register a GEM environment as one of ours.

    GEM's games draw from Python's global generators, which their reset seeds: a process plays one
    at a time by its task.

    Args:
        env_id: its id here, such as `"mylab/Hangman-v0"`.
        game: its GEM id, such as `"game:Hangman-v0-easy"`.
        **kwargs: as `TextGame`, but for `make`.
    """
    register_env(env_id, TextGame, make=partial(_make_gem, game), name=_name(game), **kwargs)


class TextGame(TextEnv):
    """A text environment of another library.

    `success` is what its `info` says, else that the last reward is 1 or more; `score` likewise,
    else the last reward in 0..1. The texts of actions are sent as they are written.

    Args:
        make: makes the environment.
        name: what stands in front of task ids.
        instructions: what the policy is told before the first observation.
        **kwargs: as `TextEnv`.
    """

    instructions = "You act in an environment by text."
    verbs: tuple[ActionVerb, ...] = VERBS
    default_max_turns = 30

    def __init__(
        self,
        *,
        make: Callable[[], Any],
        name: str,
        instructions: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.instructions = instructions or self.instructions
        self.source = f"{name}/1"
        table = {split: {"seed": numbers} for split, numbers in SEEDS.items()}
        super().__init__(ListedTasks(name, table), **kwargs)
        self.parser = TextForm("text").parser(self.action_format)
        self._game = make()
        self._available: list[str] | None = None

    def begin(self, task: TaskSpec) -> str:
        """Reset the game with the task's number as the seed."""
        observation, info = self._game.reset(seed=task.number)
        self._available = _listed(info)
        self.goal = str(info.get("goal", "")) or self.task_set.env_name
        return self._text(observation)

    def apply(self, action: str) -> Outcome:
        """Play one action."""
        observation, reward, terminated, truncated, info = self._game.step(action)
        self._available = _listed(info)
        reward = float(reward)
        is_over = bool(terminated or truncated)
        success = info.get("success", bool(terminated) and reward >= SUCCESS_REWARD)
        score = info.get("score", reward if is_over else 0.0)
        return Outcome(
            self._text(observation),
            reward,
            bool(terminated),
            truncated=bool(truncated) and not terminated,
            success=bool(success),
            score=min(max(float(score), 0.0), 1.0) if math.isfinite(score) else 0.0,
            is_valid=bool(info.get("is_valid_action", True)),
        )

    def available_actions(self) -> list[str] | None:
        """List the actions of the game's `info`. None where it lists none."""
        _ = self.task
        return None if self._available is None else list(self._available)

    def close(self) -> None:
        """Close the game."""
        close = getattr(self._game, "close", None)  # GEM's environments need none
        if close is not None:
            close()

    def _text(self, observation: Any) -> str:
        if not isinstance(observation, str):
            raise TypeError(
                f"{self.task_set.env_name}: an observation must be a str, got "
                f"{type(observation).__name__}: {observation!r:.80}; wrap the environment in one "
                "that writes it as text (gymnasium.wrappers.TransformObservation)"
            )
        return observation


def _make_gem(game: str) -> Any:
    return importlib.import_module("gem").make(game)


def _listed(info: Mapping[str, Any]) -> list[str] | None:
    listed = info.get("available_actions")
    return [str(action) for action in listed] if isinstance(listed, list | tuple) else None


def _name(game: str) -> str:
    """Return a game's id as task ids begin with it."""
    short = game.rpartition("/")[2].rpartition(":")[2].partition("-v")[0]
    name = "".join(letter if letter.isalnum() else "_" for letter in short).lower()
    return name if name[:1].isalpha() else f"game_{name}"
