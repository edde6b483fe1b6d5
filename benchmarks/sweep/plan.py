"""The cells of a sweep, each cut into batches.

A cell is one policy on one panel with one turn limit and one seed. Its episodes are cut into
batches in a fixed order, and each batch's random numbers depend on the cell and the batch alone: so
it does not matter which process plays it, when, or how often it was begun before.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from agentgym_envs.errors import for_each
from agentgym_envs.machinery.secrets import hide_address, hide_kwargs, masked
from agentgym_envs.registration.registry import short_env_name
from benchmarks.sweep.suites import Panel, Suite, task_digest
from trainers.options.arguments import EpisodeArguments
from trainers.options.environments import EnvConstructionArguments
from trainers.options.values import (
    kwargs_for,
    options_by_environment,
    read_object,
    value_for,
)

SWEEP_STREAM = 3
"""Tells a sweep's random numbers from those of `agentgym eval`."""

FREE_SETTINGS = frozenset(
    {
        *("env_backend", "step_timeout", "max_failed_share", "max_outage"),
        *("max_requests", "request_timeout", "policies", "max_cost"),
    }
)
"""Settings of the execution, not of the episodes: a cell may go on under other ones."""

_ENVIRONMENT_SETTINGS = ("env_kwargs", "wrapper")

_BY_ENVIRONMENT = frozenset(
    name
    for kind in (EnvConstructionArguments, EpisodeArguments)
    for name in options_by_environment(kind)
)
"""Settings that may name one of several environments."""


@dataclass(frozen=True)
class Cell:
    """One entry of the grid, without its secrets (`agentgym_envs.machinery.secrets`).

    Attributes:
        digest: of the panel's tasks.
        max_turns: the turn limit; None is the environment's own.
        samples: episodes per task.
        batch_size: episodes that are played together.
        settings: every other option by name; `FREE_SETTINGS` do not decide which episodes are
            played.
        tasks: the task ids, subtask by subtask.
        fingerprint: of the policy's files, as `policy_fingerprint` returns it; empty without files.
        module: imported to register the environment; empty where this package does.
        panel: the panel's own name; empty where it has the environment's.
    """

    policy: str
    env_id: str
    split: str
    digest: str
    max_turns: int | None
    seed: int
    samples: int
    temperature: float
    batch_size: int
    settings: tuple[tuple[str, Any], ...]
    tasks: tuple[str, ...]
    fingerprint: str = ""
    module: str = ""
    panel: str = ""

    def __post_init__(self) -> None:
        # Here, since a cell names a folder, is written, and stands in reports.
        object.__setattr__(self, "policy", hide_address(self.policy))
        object.__setattr__(self, "settings", tuple(map(_shown_setting, self.settings)))

    def with_settings(self, **settings: Any) -> Cell:
        """Return the cell with further settings, or others."""
        return replace(self, settings=tuple(sorted({**dict(self.settings), **settings}.items())))

    @property
    def scenario(self) -> str:
        """The panel's name: its own, or the environment's short one."""
        return self.panel or short_env_name(self.env_id)

    @property
    def name(self) -> str:
        """The cell's folder: readable, and different for different cells of one sweep."""
        turns = "default" if self.max_turns is None else str(self.max_turns)
        return f"{slug(self.policy)}/{slug(self.scenario)}/turns_{turns}/seed_{self.seed}"

    @property
    def batches(self) -> list[tuple[str, ...]]:
        """The task ids of each batch, with a task's samples side by side."""
        episodes = [task for task in self.tasks for _ in range(self.samples)]
        return [
            tuple(episodes[start : start + self.batch_size])
            for start in range(0, len(episodes), self.batch_size)
        ]

    def stream(self, batch: int) -> tuple[int, ...]:
        """Return the numbers that a batch's seed is made from."""
        turns = 0 if self.max_turns is None else self.max_turns
        place = self.env_id + self.panel
        return (SWEEP_STREAM, zlib.crc32(place.encode()), turns, batch)

    def to_json(self) -> dict[str, Any]:
        """Return the cell as JSON values."""
        return {**asdict(self), "settings": dict(self.settings), "tasks": list(self.tasks)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Cell:
        """Rebuild a cell from `to_json`'s values."""
        settings = tuple(sorted(record["settings"].items()))
        return cls(**{**record, "settings": settings, "tasks": tuple(record["tasks"])})


def _shown_setting(setting: tuple[str, Any]) -> tuple[str, Any]:
    name, value = setting
    if not isinstance(value, str):
        return setting
    return name, hide_kwargs(value) if name.endswith("kwargs") else hide_address(value)


def slug(name: str) -> str:
    """Return a name as a unique part of a path."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("_.") or "policy"
    return plain if plain == name else f"{plain[-60:]}-{zlib.crc32(name.encode()):08x}"


def grid(
    suite: Suite,
    policies: Sequence[str],
    *,
    max_turns: Sequence[int | None],
    seeds: Sequence[int],
    samples: int,
    temperature: float,
    batch_size: int,
    settings: dict[str, Any],
    fingerprints: Mapping[str, str] | None = None,
) -> list[Cell]:
    """List the cells of a sweep: policy by policy, so that a process seldom changes its model.

    `settings` are the options beside the named ones, `fingerprints` those of the policies' files.

    Raises:
        ValueError: a panel's tasks do not exist, or are not the pinned ones.
        MissingExtra: environments need extras that are not installed; it names all of them.
    """

    def planned(panel: Panel) -> tuple[Panel, dict[str, tuple[str, ...]], tuple[Any, ...]]:
        kwargs = _kwargs_of(panel, suite, settings)
        return panel, panel.tasks(kwargs), _settings(panel, settings, kwargs)

    panels = for_each(planned, suite.panels)
    return [
        Cell(
            policy=policy,
            env_id=panel.env_id,
            split=panel.split,
            digest=task_digest(tasks),
            max_turns=turns,
            seed=seed,
            samples=samples,
            temperature=temperature,
            batch_size=batch_size,
            settings=own_settings,
            tasks=tuple(task for group in tasks.values() for task in group),
            fingerprint=(fingerprints or {}).get(policy, ""),
            module=panel.module,
            panel=panel.name,
        )
        for policy in policies
        for panel, tasks, own_settings in panels
        for turns in _limits(panel, max_turns)
        for seed in seeds
    ]


def _limits(panel: Panel, max_turns: Sequence[int | None]) -> list[int | None]:
    """Return the turn limits that a panel is played with, each once."""
    return list(dict.fromkeys(panel.max_turns if turns is None else turns for turns in max_turns))


def _kwargs_of(panel: Panel, suite: Suite, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `env_kwargs` of the command line that are this panel's."""
    common = read_object("env_kwargs", settings.get("env_kwargs"))
    kwargs = kwargs_for(common, panel.env_id, [one.env_id for one in suite.panels])
    if "max_turns" in kwargs:
        raise ValueError("env_kwargs must leave max_turns to the grid; pass --max-turns instead")
    return kwargs


def _settings(
    panel: Panel, settings: Mapping[str, Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[str, Any], ...]:
    """Return the settings for a panel: its own `env_kwargs` below those of the command line."""
    own = {
        name: value_for(value, panel.env_id) if name in _BY_ENVIRONMENT else value
        for name, value in settings.items()
    }
    if panel.env_kwargs or kwargs != read_object("env_kwargs", settings.get("env_kwargs")):
        own["env_kwargs"] = json.dumps({**panel.env_kwargs, **kwargs})
    return tuple(sorted(own.items()))


def differences(requested: Cell, stored: Cell) -> list[str]:
    """Return how a requested cell differs from the stored one of the same name.

    Secrets decide nothing, since a cell shows none: a password may have been changed since.
    `FREE_SETTINGS` are not compared, nor the files of a policy that has none here.
    """
    new, old = _identity(requested), _identity(stored)
    differing = [
        f"{key}: {old.get(key)!r} there, {new.get(key)!r} requested"
        for key in {**new, **old}
        if new.get(key) != old.get(key)
    ]
    if requested.tasks != stored.tasks:
        differing.append(
            f"tasks: {len(stored.tasks)} there, other {len(requested.tasks)} requested"
        )
    if requested.fingerprint not in ("", stored.fingerprint):
        differing.append(
            f"{requested.policy} had other files or another endpoint then, so it was another policy"
        )
    return differing


def conditions(cell: Cell) -> dict[str, str]:
    """Return the settings that decide a cell's episodes beside its own fields.

    Cells of equal conditions may be pooled. What is None or empty is left out.
    """
    values = {"temperature": cell.temperature, **dict(cell.settings)}
    excluded = (*FREE_SETTINGS, *_ENVIRONMENT_SETTINGS)
    deciding = {name: value for name, value in values.items() if name not in excluded}
    return {**_in_words(deciding), **environment_changes(cell)}


def environment_changes(cell: Cell) -> dict[str, str]:
    """Return a cell's arguments and wrappers of the environment, mostly none."""
    settings = dict(cell.settings)
    kwargs = read_object("env_kwargs", settings.get("env_kwargs"))
    return _in_words({**masked(kwargs, in_kwargs=True), "wrapper": settings.get("wrapper")})


def _in_words(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in sorted(values.items())
        if value not in (None, [], {}, "")
    }


def _identity(cell: Cell) -> dict[str, Any]:
    """Return the values by which two cells are compared."""
    values = {**cell.to_json(), **dict(cell.settings)}
    return {
        key: value
        for key, value in values.items()
        if key not in FREE_SETTINGS and key not in ("settings", "tasks", "fingerprint")
    }
