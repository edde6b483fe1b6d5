"""Suites: panels of tasks, one per environment, pinned by digests.

A panel's task ids come from its environment; where the panel has a digest they must have it, so
that today's number is about the same tasks as last year's. `benchmarks.sweep.suite_files` reads
suites from files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from agentgym_envs import TextEnv, resolve_env_id
from agentgym_envs.core.tasks import spread_over_kinds
from agentgym_envs.machinery.secrets import masked
from agentgym_envs.registration.registry import short_env_name


@dataclass(frozen=True)
class Panel:
    """The part of a suite that one environment plays.

    Attributes:
        env_id: the environment.
        split: the split or panel of the environment that the tasks are from.
        sizes: how many tasks of each subtask, in the table's order, spread evenly over it; None
            takes all of one. Empty takes every subtask.
        digest: `task_digest` of the tasks; empty where they are not pinned.
        every: take every so many tasks of each subtask, before `sizes` counts them; 1 takes all.
        only: take these alone: subtasks, depths or task ids of the split; None takes all.
        max_turns: the turn limit; None is the environment's own.
        env_kwargs: further arguments of the environment.
        name: what the panel is called in folders and tables; empty takes the environment's.
        module: imported to register the environment; empty where this package does.
        place: the file and line that it was read from, for messages.
    """

    env_id: str
    split: str
    sizes: Mapping[str, int | None] = field(default_factory=dict)
    digest: str = ""
    every: int = 1
    only: tuple[str | int, ...] | None = None
    max_turns: int | None = None
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    module: str = ""
    place: str = field(default="", compare=False)

    @property
    def scenario(self) -> str:
        """Its name, or the environment's short name."""
        return self.name or short_env_name(self.env_id)

    def tasks(self, env_kwargs: Mapping[str, Any] | None = None) -> dict[str, tuple[str, ...]]:
        """Return the task ids of each subtask.

        Args:
            env_kwargs: what the environment is made with besides the panel's own arguments.

        Raises:
            ValueError: there are no such tasks, they are not the pinned ones, or with `env_kwargs`
                they are other data under the same ids.
        """
        try:
            chosen = self._chosen(env_kwargs or {})
            self._check_pinned(chosen)
        except ValueError as error:
            raise ValueError(f"{self.place}: {error}" if self.place else str(error)) from error
        return chosen

    def _chosen(self, env_kwargs: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        with closing(self.make(env_kwargs)) as env:
            if env_kwargs:
                self._check_source(env.source, env_kwargs)
            ids_by_subtask: dict[str, list[str]] = {}
            for number in env.task_set.select(self.split, self.only):
                spec = env.task_set.spec(number)
                ids_by_subtask.setdefault(spec.subtask, []).append(spec.task_id)
        thinned = {subtask: ids[:: self.every] for subtask, ids in ids_by_subtask.items()}
        if not thinned:
            raise ValueError(f"split {self.split!r} of {self.env_id} holds no task")
        return {
            subtask: self._counted(subtask, size, thinned, env.task_set.task_kind)
            for subtask, size in (self.sizes or dict.fromkeys(thinned)).items()
        }

    def _counted(
        self,
        subtask: str,
        size: int | None,
        thinned: Mapping[str, Sequence[str]],
        task_kind: Callable[[str], Any],
    ) -> tuple[str, ...]:
        ids = thinned.get(subtask, ())
        if len(ids) < (size or 1):
            known = ", ".join(f"{name} {len(all_ids)}" for name, all_ids in thinned.items())
            raise ValueError(
                f"{size or 'all'} tasks of the subtask {subtask!r} are requested; available in "
                f"split {self.split!r} of {self.env_id}: {known}"
            )
        return tuple(spread_over_kinds(ids, size or len(ids), task_kind))

    def _check_pinned(self, chosen: Mapping[str, Sequence[str]]) -> None:
        digest = task_digest(chosen)
        if self.digest and digest != self.digest:
            raise ValueError(
                f"the tasks of {self.env_id}, split {self.split!r}, are not the pinned ones: "
                f"digest {digest}, expected {self.digest}. Results would not compare with earlier "
                "ones; if the change is meant, pin this digest"
            )

    def _check_source(self, source: str, env_kwargs: Mapping[str, Any]) -> None:
        # Other data may well have tasks of the same numbers, so that the ids alone do not tell.
        with closing(self.make()) as env:
            own = env.source
        if source != own:
            raise ValueError(
                f"with env_kwargs {masked(env_kwargs, in_kwargs=True)}, {self.env_id} plays "
                f"{source!r}, but the suite's panel is {own!r}; allowed are arguments "
                "that keep the panel's data, such as compat. Other data are a panel of their own: "
                "write a suite file with these env_kwargs (agentgym suites --help)"
            )

    def make(self, env_kwargs: Mapping[str, Any] | None = None) -> TextEnv:
        """Make the panel's environment, with other arguments above its own, or raise ValueError."""
        kwargs = {**self.env_kwargs, **(env_kwargs or {})}
        env_id = resolve_env_id(f"{self.module}:{self.env_id}" if self.module else self.env_id)
        try:
            env: gym.Env[Any, Any] = gym.make(env_id, disable_env_checker=True, **kwargs)
        except TypeError as error:  # what Gymnasium makes of an argument that nobody takes
            raise ValueError(
                f"env_kwargs must fit every environment of the suite, got "
                f"{masked(kwargs, in_kwargs=True)}: {error}"
            ) from error
        if not isinstance(env.unwrapped, TextEnv):
            raise ValueError(f"{env_id} is no TextEnv, so it has no tasks")
        return env.unwrapped


@dataclass(frozen=True)
class Suite:
    """A named set of panels of different names, with one line of description."""

    name: str
    description: str
    panels: tuple[Panel, ...]


def task_digest(tasks: Mapping[str, Sequence[str]]) -> str:
    """Return the first 16 hex digits of the SHA-256 of task ids, subtask by subtask."""
    lines = [f"{subtask}\t{task_id}" for subtask in sorted(tasks) for task_id in tasks[subtask]]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
