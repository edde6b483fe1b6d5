"""Makes the environments that a command names, and lists their tasks."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from agentgym_envs.core import TextEnv
from agentgym_envs.errors import UnknownTask
from agentgym_envs.registry import short_env_name
from agentgym_envs.tasks import TaskSet
from trainers.options.arguments import EnvArguments
from trainers.options.errors import UsageError
from trainers.rollout.policy import Policy
from trainers.rollout.rollout import Rollout
from wrappers import FailureRules, HorizonSchedule, TextVectorEnv
from wrappers.failures import persist

SET_UP_SECONDS = 10.0
"""How long machinery that breaks while an environment is made is waited for."""

MOST_ENVS = 64
"""Slots where `num_envs` is not given and the batch is larger."""


@dataclass(frozen=True)
class EnvFactory:
    """Makes one environment; a plain value, so that worker processes can be given it.

    Attributes:
        env: a registered id, or its spec, which also serves where the id is not registered, as in
            a worker process.
        kwargs: the environment's keyword arguments.
        wrappers: Gymnasium wrappers as `module:Class`, the first one innermost.
    """

    env: str | EnvSpec
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()

    @property
    def env_id(self) -> str:
        """The registered id."""
        return self.env if isinstance(self.env, str) else self.env.id

    def __call__(self) -> gym.Env[str, str]:
        """Make the environment."""
        env: Any = gym.make(self.env, disable_env_checker=True, **self.kwargs)
        for name in self.wrappers:
            env = load_attribute(name)(env)
        return env


def load_attribute(name: str) -> Any:
    """Import what `"module:attribute"` names.

    Raises:
        ValueError: the name has another form, or there is no such attribute.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise UsageError(f"expected module:Class, got {name!r}")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"cannot import {module_name!r} of {name!r} ({error}); install it, or put its folder "
            "on PYTHONPATH"
        ) from error
    if not hasattr(module, attribute):
        raise UsageError(f"module {module_name!r} has no {attribute!r}")
    return getattr(module, attribute)


class Environments:
    """The environments of one run: each id vectorized, with its task ids.

    Args:
        args: which environments, and how they are run.
        episodes: how many episodes a batch plays; the default for `args.num_envs`.

    Raises:
        ValueError: no environment is named, or two of them share a task prefix.
    """

    def __init__(self, args: EnvArguments, *, episodes: int = MOST_ENVS) -> None:
        if not args.env:
            raise UsageError("no environment is named; pass --env, such as --env TextCraft")
        self.args = args
        slots = args.num_envs or min(episodes, MOST_ENVS)
        self._factories = {
            env_id: EnvFactory(gym.spec(env_id), _kwargs_of(env_id, args), tuple(args.wrapper))
            for env_id in args.env
        }
        self._probes: dict[str, TextEnv] = {}
        self.vectors: dict[str, TextVectorEnv] = {}
        for env_id, factory in self._factories.items():
            probe = persist(factory, limit=SET_UP_SECONDS)
            text_env = probe.unwrapped
            if not isinstance(text_env, TextEnv):
                raise UsageError(f"{env_id} is not a TextEnv, so it has no tasks to train on")
            name = text_env.task_set.env_name
            if name in self.vectors:
                raise UsageError(f"{env_id}: another environment has the task ids {name}_* too")
            self._probes[name] = text_env
            self.vectors[name] = TextVectorEnv(
                [factory] * slots, backend=args.env_backend, step_timeout=args.step_timeout
            )

    @cached_property
    def env_ids(self) -> tuple[str, ...]:
        """The registered ids, in order."""
        return tuple(self._factories)

    def rollout(
        self,
        policy: Policy,
        *,
        schedule: HorizonSchedule | None = None,
        failure_rules: FailureRules | None = None,
    ) -> Rollout:
        """Return what plays these environments with a policy; see `Rollout`."""
        return Rollout(
            self.vectors,
            policy,
            schedule=schedule,
            failure_rules=failure_rules,
            overlap=self.args.overlap or (policy.answers_apart and self.args.env_backend != "sync"),
        )

    def task_ids(self, split: str, *, tasks: Sequence[str] | None = None) -> list[str]:
        """List the task ids of a split over all environments, narrowed by `tasks`.

        Of several environments each is narrowed by the entries that it knows.

        Raises:
            ValueError: the split is unknown, an entry of `tasks` matches nothing, or an environment
                knows none of them.
        """
        labels = None if tasks is None else [int(t) if t.isdigit() else t for t in tasks]
        ids: list[str] = []
        used: set[str | int] = set()
        for name, env in self._probes.items():
            own = labels
            if labels is not None and len(self._probes) > 1:
                own = _known(labels, env.task_set, split) or labels
                used.update(own)
            ids += [f"{name}_{number}" for number in env.task_set.select(split, own)]
        if used and used != set(labels or ()):
            unused = [label for label in labels or () if label not in used]
            raise UnknownTask(f"tasks: {unused} match nothing in split {split!r} of {self.env_ids}")
        return ids

    def close(self) -> None:
        """Close every environment."""
        for env in self.vectors.values():
            env.close()
        for probe in self._probes.values():
            probe.close()


def _kwargs_of(env_id: str, args: EnvArguments) -> dict[str, Any]:
    """Return an environment's keyword arguments: what all are given, and what it is by name."""
    kwargs: dict[str, Any] = {"action_format": args.action_format}
    by_name: dict[str, dict[str, Any]] = {}
    for key, value in args.extra_kwargs.items():
        named = _named(key, args.env) if isinstance(value, dict) else None
        if named is None:
            kwargs[key] = value
        else:
            by_name[named] = value
    kwargs.update(by_name.get(env_id, {}))
    if args.max_turns is not None:
        kwargs["max_turns"] = args.max_turns
    return kwargs


def _named(key: str, env_ids: Sequence[str]) -> str | None:
    """Return which of the environments a key names; None where it is an argument's name."""
    return next((i for i in env_ids if key.lower() in (i.lower(), short_env_name(i).lower())), None)


def _known(labels: Sequence[str | int], tasks: TaskSet, split: str) -> list[str | int]:
    """Return the labels that some task of the split has."""
    tasks.check_split(split)
    known = {label for n in tasks.numbers(split) for label in tasks.labels(tasks.spec(n))}
    return [label for label in labels if label in known]


def spread(ids: Sequence[str], count: int) -> list[str]:
    """Return `count` entries spread evenly over `ids`; all of them for 0 or a larger count."""
    if count == 0 or count >= len(ids):
        return list(ids)
    return [ids[index * len(ids) // count] for index in range(count)]
