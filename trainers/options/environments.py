"""The options of environments: their names, and how they are made and run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from agentgym_envs import resolve_env_id
from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.machinery.secrets import hide_kwargs
from agentgym_envs.registration.registry import short_env_name
from trainers.options.values import (
    BY_ENVIRONMENT,
    COUNT_BY_ENVIRONMENT,
    check_bounds,
    check_names,
    option,
    read_by_environment,
    read_object,
    read_weights,
    split_name,
)
from wrappers.vector.backends import Backend
from wrappers.vector.ray_slot import RayActors


@dataclass(kw_only=True)
class EnvConstructionArguments:
    """Construction and execution of environments."""

    _argument_group_name: ClassVar[str] = "environment"
    common_options: ClassVar[tuple[str, ...]] = ("action_format",)

    action_format: str = option("react", "How the policy writes actions.", choices=ACTION_FORMATS)
    actions_per_turn: int = option(
        1, "Most actions of a turn, which are played up to the first invalid one.", min=1
    )
    env_backend: Backend = option("sync", "Where environments run.")
    step_timeout: float | None = option(
        None, "Seconds before a slow environment fails (not with sync); default: 600."
    )
    wrapper: list[str] = option(
        [],
        "Gymnasium wrapper as module:Class; repeat for several, innermost first.",
        action="extend",
    )
    env_kwargs: str | None = option(
        None,
        "Arguments of the environments, as JSON: '{\"compat\": null}'. "
        "Of one: 'SearchQA={\"top_k\": 3}'.",
        **BY_ENVIRONMENT,
    )

    def __post_init__(self) -> None:
        self.env_kwargs = hide_kwargs(_joined_objects("env_kwargs", self.env_kwargs))
        check_bounds(self)
        _ = self.extra_kwargs

    @property
    def extra_kwargs(self) -> dict[str, Any]:
        """`env_kwargs` as a dict, with its secrets, or a `ValueError`."""
        return read_object("env_kwargs", self.env_kwargs)


def _joined_objects(name: str, value: Any) -> str | None:
    """Return JSON objects, some of them under an environment's name, as the text of one."""
    if isinstance(value, dict):  # as Python has them
        return json.dumps(value)
    if not isinstance(value, list):
        value = [value]
    if len(value) == 1 and split_name(value[0])[0] == "":
        return None if value[0] is None else str(value[0])
    joined: dict[str, Any] = {}
    for label, text in map(split_name, value):
        values = read_object(name, text)
        joined |= {label: {**joined.get(label, {}), **values}} if label else values
    return json.dumps(joined)


def _action_format(name: str, value: Any) -> str:
    if value not in ACTION_FORMATS:
        raise ValueError(
            f"{name} must be one of {', '.join(ACTION_FORMATS)}, or NAME=FORMAT for one "
            f"environment, got {value!r}"
        )
    return str(value)


@dataclass(kw_only=True)
class EnvArguments(EnvConstructionArguments):
    """The environments, their tasks, and how they are run.

    An option that may differ between environments is one value, or a dict of values by name with
    one under `"default"` (`trainers.options.values`).
    """

    common_options: ClassVar[tuple[str, ...]] = ("env", "split", "tasks", "max_turns")

    env: list[str] = option(
        [], "Environment id or short name, such as TextCraft; repeat for several.", action="extend"
    )
    mix: str | list[float] | dict[str, float] | None = option(
        None, "Weights of several environments in training and collection, in their order: 2,1,1."
    )
    split: str = option("train", "Split to draw tasks from.")
    eval_split: str = option("validation", "Split of evaluations during training.")
    tasks: list[str] | None = option(
        None,
        "Only these subtasks, depths or task ids of the split, or a .json file of AgentGym's item"
        ' ids, [{"item_id": "babyai_41"}, ...].',
    )
    eval_tasks: list[str] | None = option(None, "As --tasks, of evaluations during training.")
    max_turns: int | dict[str, int] | None = option(
        None, "Turn limit; default: the environment's. NAME=TURNS for one.", **COUNT_BY_ENVIRONMENT
    )
    action_format: str | dict[str, str] = option(  # type: ignore[assignment]
        "react",
        "Format of actions. NAME=FORMAT for one environment.",
        metavar="{" + ",".join(ACTION_FORMATS) + "}",
        read=_action_format,
        **BY_ENVIRONMENT,
    )
    num_envs: int | None = option(
        None, "Parallel episodes per environment; default: the batch, at most 64.", min=1
    )
    overlap: bool = option(
        False,
        "Sample while slow environments step; not with --env_backend sync. Runs then repeat up to"
        " rounding.",
    )

    ray: str | None = option(
        None, "Address of the Ray cluster; default: RAY_ADDRESS, or a local one."
    )
    ray_envs: int = option(RayActors.envs, "Environments per Ray actor.", min=1)
    ray_actor: str | None = option(
        None,
        "Options of Ray actors as JSON: "
        '\'{"num_cpus": 0.5, "runtime_env": {"env_vars": {"A": "b"}}}\'.',
    )

    def __post_init__(self) -> None:
        if isinstance(self.ray_actor, dict):  # as Python has them
            self.ray_actor = json.dumps(self.ray_actor)
        self.ray_actor = hide_kwargs(self.ray_actor)
        read_by_environment(self)
        super().__post_init__()
        names = [self.env] if isinstance(self.env, str) else self.env
        self.env = [resolve_env_id(name) for name in names]
        for name in ("tasks", "eval_tasks"):
            labels = getattr(self, name)
            if labels is not None:
                setattr(self, name, [str(label) for label in labels])
        check_names(self, self.env)
        weights = self.weights
        if not isinstance(self.mix, str | None):
            self.mix = ",".join(map(str, weights))
        if self.overlap and self.env_backend == "sync":
            raise ValueError(
                "overlap needs environments that step by themselves, got `env_backend=sync`; "
                "pass `env_backend=thread`, process or ray"
            )

        if self.env_backend != "ray" and (self.ray is not None or self.ray_actor is not None):
            raise ValueError(
                f"ray and ray_actor need environments on Ray, got "
                f"`env_backend={self.env_backend}`; pass `env_backend=ray`, or leave them out"
            )
        _ = self.ray_actors

    @property
    def ray_actors(self) -> RayActors | None:
        """The Ray cluster of the environments and its actors' options, or None without Ray.

        Raises:
            ValueError: `ray_actor` is not a JSON object.
        """
        if self.env_backend != "ray":
            return None
        return RayActors(self.ray, self.ray_envs, read_object("ray_actor", self.ray_actor))

    @property
    def weights(self) -> list[int]:
        """The environments' weights, in their order, by default all 1.

        Raises:
            UsageError: `mix` does not fit the environments.
        """
        return read_weights("mix", self.mix, [short_env_name(env_id) for env_id in self.env])
