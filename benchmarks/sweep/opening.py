"""Opens a cell's policy and its environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from agentgym_envs import resolve_env_id
from benchmarks.sweep.plan import Cell
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.errors import UsageError
from trainers.options.policies import (
    PolicyArguments,
    PolicyLoadingArguments,
    check_baseline,
    is_text_policy,
)
from trainers.options.values import ADDRESS
from trainers.policies.open import check_model, open_environments, open_policy
from trainers.rollout.environments import Environments


def check_playable(cells: Sequence[Cell]) -> None:
    """Raise UsageError unless the cells' environments and policies can be opened.

    No weights are loaded.
    """
    baselines: dict[str, tuple[str, ...]] = {}
    for cell in {cell.scenario: cell for cell in cells}.values():
        environments = cell_environments(cell, num_envs=1)
        baselines.update(environments.baselines)
        environments.close()
    for cell in {cell.policy: cell for cell in cells}.values():
        check_baseline(cell.policy, baselines)
        policy = policy_arguments(cell)
        if policy.is_served:
            open_policy(policy, build_arguments(EpisodeArguments, cell), seed=cell.seed)
        elif has_weights(policy):
            check_model(policy)


def policy_arguments(cell: Cell) -> PolicyArguments:
    """Return the options of a cell's policy, without those that concern others of the sweep."""
    loading: PolicyLoadingArguments = build_arguments(PolicyLoadingArguments, cell)
    is_named = cell.policy in loading.named
    others: dict[str, Any] = {"api_model" if is_named else "policies": None}
    if not is_named and not cell.policy.startswith(ADDRESS):
        others["max_cost"] = None
    if is_named or cell.policy.startswith(ADDRESS) or is_text_policy(cell.policy):
        others |= {"chat_template": None, "chat_template_kwargs": None}
    return PolicyArguments(**{**vars(loading), **others}, policy=cell.policy)


def check_same(cell: Cell, fingerprint: str) -> None:
    """Raise UsageError unless a policy is the one that the sweep began with."""
    if cell.fingerprint and fingerprint != cell.fingerprint:
        raise UsageError(
            f"{cell.policy} has other files or another endpoint than when the sweep began"
        )


def has_weights(policy: PolicyArguments) -> bool:
    """Return whether a policy is a model that is loaded here."""
    return not is_text_policy(policy.policy) and not policy.is_served


def cell_environments(cell: Cell, *, num_envs: int) -> Environments:
    """Open a cell's environments."""
    arguments = build_arguments(EnvArguments, cell)
    env = f"{cell.module}:{cell.env_id}" if cell.module else cell.env_id
    arguments.env, arguments.split = [resolve_env_id(env)], cell.split
    arguments.max_turns, arguments.num_envs = cell.max_turns, num_envs
    return open_environments(arguments)


def build_arguments(kind: type, cell: Cell) -> Any:
    """Build an arguments dataclass from those of the cell's settings that are its fields."""
    settings = dict(cell.settings)
    return kind(**{f.name: settings[f.name] for f in fields(kind) if f.name in settings})
