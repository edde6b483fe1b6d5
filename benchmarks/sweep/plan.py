"""What a sweep plays: cells, each cut into batches.

A cell is one policy on one panel with one turn limit and one seed. Its episodes are cut into
batches in a fixed order, and each batch's random numbers depend on the cell and the batch alone: so
it does not matter which process plays it, when, or how often it was begun before.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentgym_envs.registry import short_env_name
from agentgym_envs.secrets import hide_address, hide_kwargs, masked
from benchmarks.sweep.suites import Panel, Suite
from trainers.options.arguments import read_object

SWEEP_STREAM = 3
"""Tells a sweep's random numbers from those of `agentgym eval`."""

FREE_SETTINGS = frozenset(
    {
        *("env_backend", "step_timeout", "max_failed_share", "max_outage"),
        *("max_requests", "request_timeout"),
    }
)
"""Settings that say how episodes are played and not which: a cell may go on under other ones."""

_OF_ENVIRONMENTS = ("env_kwargs", "wrapper")


@dataclass(frozen=True)
class Cell:
    """One entry of the grid, without its secrets, which `agentgym_envs.secrets` reveals.

    Attributes:
        policy: who plays.
        env_id: where.
        split: the panel's split.
        digest: the panel's pinned digest.
        max_turns: the turn limit; None is the environment's own.
        seed: of the sampling.
        samples: episodes per task.
        temperature: of the sampling.
        batch_size: episodes that are played together.
        settings: every other option of the playing, by name; `FREE_SETTINGS` do not decide what is
            played.
        tasks: the task ids, subtask by subtask.
        fingerprint: of the policy's files, as `policy_fingerprint` gives it; None where it was not
            taken, as in sweeps of earlier versions.
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
    fingerprint: str | None = None

    def __post_init__(self) -> None:
        # Here, since a cell names a folder, is written, and stands in reports.
        object.__setattr__(self, "policy", hide_address(self.policy))
        object.__setattr__(self, "settings", tuple(map(_shown_setting, self.settings)))

    @property
    def scenario(self) -> str:
        """The environment's short name."""
        return short_env_name(self.env_id)

    @property
    def name(self) -> str:
        """The cell's folder: readable, and different for different cells of one sweep."""
        turns = "default" if self.max_turns is None else str(self.max_turns)
        return f"{slug(self.policy)}/{self.scenario}/turns_{turns}/seed_{self.seed}"

    @property
    def batches(self) -> list[tuple[str, ...]]:
        """The task ids of each batch; a task's samples stand side by side."""
        episodes = [task for task in self.tasks for _ in range(self.samples)]
        return [
            tuple(episodes[start : start + self.batch_size])
            for start in range(0, len(episodes), self.batch_size)
        ]

    def stream(self, batch: int) -> tuple[int, ...]:
        """Return the numbers that a batch's seed is made from."""
        turns = 0 if self.max_turns is None else self.max_turns
        return (SWEEP_STREAM, zlib.crc32(self.env_id.encode()), turns, batch)

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


def slug(policy: str) -> str:
    """Return a policy's name as part of a path; different policies keep different names."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", policy).strip("_.") or "policy"
    return plain if plain == policy else f"{plain[-60:]}-{zlib.crc32(policy.encode()):08x}"


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

    Args:
        suite: whose panels are played.
        policies: who plays.
        max_turns: turn limits; None is each environment's own.
        seeds: of the sampling.
        samples: episodes per task.
        temperature: of the sampling.
        batch_size: episodes played together.
        settings: every other option of the playing.
        fingerprints: of the policies' files, by policy.

    Raises:
        ValueError: a panel's tasks are not the pinned ones.
    """
    kwargs = read_object("env_kwargs", settings.get("env_kwargs"))
    if "max_turns" in kwargs:
        raise ValueError("env_kwargs must leave max_turns to the grid; pass --max-turns instead")
    panels = [(panel, _in_order(panel, kwargs)) for panel in suite.panels]
    return [
        Cell(
            policy=policy,
            env_id=panel.env_id,
            split=panel.split,
            digest=panel.digest,
            max_turns=turns,
            seed=seed,
            samples=samples,
            temperature=temperature,
            batch_size=batch_size,
            settings=tuple(sorted(settings.items())),
            tasks=tasks,
            fingerprint=(fingerprints or {}).get(policy),
        )
        for policy in policies
        for panel, tasks in panels
        for turns in max_turns
        for seed in seeds
    ]


def differences(asked: Cell, there: Cell) -> list[str]:
    """Return how a cell that was asked for differs from the played one of its name.

    Secrets decide nothing, since a cell shows none: a password may have been changed since.
    `FREE_SETTINGS` are not compared, nor the policy's files where one cell does not know them.
    """
    ours, theirs = _identity(asked), _identity(there)
    differing = [
        f"{key}: {theirs.get(key)!r} there, {ours.get(key)!r} asked for"
        for key in {**ours, **theirs}
        if ours.get(key) != theirs.get(key)
    ]
    if asked.tasks != there.tasks:
        differing.append(f"tasks: {len(there.tasks)} there, other {len(asked.tasks)} asked for")
    if asked.fingerprint and there.fingerprint is not None:
        if asked.fingerprint != there.fingerprint:
            differing.append(f"{asked.policy} held other files then, so it was another policy")
    return differing


def conditions(cell: Cell) -> dict[str, str]:
    """Return what decides a cell's episodes beside policy, place, tasks, turn limit and seed.

    Cells of equal conditions may be pooled. What is None or empty is left out.
    """
    values = {"temperature": cell.temperature, **dict(cell.settings)}
    left_out = (*FREE_SETTINGS, *_OF_ENVIRONMENTS)
    deciding = {name: value for name, value in values.items() if name not in left_out}
    return {**_in_words(deciding), **environment_changes(cell)}


def environment_changes(cell: Cell) -> dict[str, str]:
    """Return what makes a cell's environment another than the registered one; mostly nothing."""
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
    """Return what is compared value by value."""
    values = {**cell.to_json(), **dict(cell.settings)}
    return {
        key: value
        for key, value in values.items()
        if key not in FREE_SETTINGS and key not in ("settings", "tasks", "fingerprint")
    }


def _in_order(panel: Panel, env_kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    groups: Iterable[tuple[str, ...]] = panel.tasks(env_kwargs).values()
    return tuple(task for group in groups for task in group)
