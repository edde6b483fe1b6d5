"""The served environments by their names in addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote

import gymnasium as gym

from agentgym_envs.core import TextEnv
from agentgym_envs.errors import UnknownTask, for_each
from agentgym_envs.registration.registry import check_kwargs, distinct_names


@dataclass(frozen=True)
class ServedEnvironment:
    """A served environment, with its name in addresses: `textcraft`."""

    name: str
    env_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> gym.Env[Any, Any]:
        """Make an environment, which the caller closes."""
        # Gymnasium's checker cannot step any more once the first reset was refused.
        return gym.make(self.env_id, disable_env_checker=True, **self.kwargs)

    @cached_property
    def sample(self) -> TextEnv:
        """A text environment that is never played, for its texts, verbs and tasks.

        Raises:
            TypeError: the environment is no `TextEnv`.
        """
        env = self.make().unwrapped
        if not isinstance(env, TextEnv):
            raise TypeError(
                f"{self.env_id} is a {type(env).__name__}; only subclasses of TextEnv are served"
            )
        return env

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of its splits and panels."""
        return (*self.sample.task_set.splits, *self.sample.task_set.panels)

    def task_ids(self, split: str) -> list[str]:
        """List the tasks of a split or panel, or raise UnknownTask."""
        return self.sample.task_ids(split)

    def task_id(self, split: str, index: int) -> str:
        """Return a task by its index in a split, or raise UnknownTask."""
        ids = self.task_ids(split)
        if not 0 <= index < len(ids):
            raise UnknownTask(
                f"index must be in 0..{len(ids) - 1} of the split {split!r} of {self.name}, got "
                f"{index}"
            )
        return ids[index]


def served(
    env_ids: Sequence[str], kwargs: Mapping[str, Mapping[str, Any]]
) -> tuple[ServedEnvironment, ...]:
    """Return the environments of registered ids under different names, with the ids' `kwargs`.

    Raises:
        ValueError: one of them cannot be made with its arguments.
        TypeError: one is no text environment.
        MissingExtra: environments need extras that are not installed; it names all of them.
    """
    names = distinct_names(env_ids)

    def opened(env_id: str) -> ServedEnvironment:
        check_kwargs(env_id, kwargs.get(env_id, {}))
        # Two underlines stand between the parts of a server's address, and in ids of such alone.
        address = quote(names[env_id].lower().replace("/", "-").replace("__", "-"), safe="")
        environment = ServedEnvironment(address, env_id, dict(kwargs.get(env_id, {})))
        _ = environment.sample
        return environment

    return tuple(for_each(opened, names))
