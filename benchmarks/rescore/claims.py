"""Compares the result of an evaluation with the replays of its episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.recorded import evaluation_options
from benchmarks.rescore.differences import Difference, is_equal
from benchmarks.rescore.replays import Replay
from trainers.evaluation.summary import summarize
from trainers.options.errors import UsageError
from trainers.options.values import seed_list

_CLAIMS = (
    *("n_tasks", "samples_per_task", "success", "ci95", "score", "mean_turns", "invalid_rate"),
    *("failures", "unscored", "truncated", "subtasks", "tasks", "episodes", "panels"),
    *("environments", "seeds", "ci95_seeds"),
)
"""The fields of `EvalResult` that follow from the episodes, without tokens and seconds."""


def claim_differences(result: Mapping[str, Any], replays: Sequence[Replay]) -> list[Difference]:
    """List the differences of an evaluation's result from the replays of its episodes.

    An episode that was not replayed counts as it is recorded.

    Args:
        result: the JSON values of an `EvalResult`; others claim nothing that is checked.
        replays: those of all its episodes, in their order.
    """
    if "samples_per_task" not in result:
        return []
    episodes = [one.recorded if one.replayed is None else one.replayed for one in replays]
    seeds = seed_list(str(evaluation_options(result).get("seeds", 0)))
    replayed = _summary(episodes, seeds)
    found: list[Difference] = []
    for name in _CLAIMS:
        if name in result:
            found += _differing(name, result[name], replayed.get(name))
    return found


def _summary(episodes: Sequence[Trajectory], seeds: Sequence[int]) -> dict[str, Any]:
    try:
        return summarize(episodes, seeds=seeds).to_json()
    except UsageError:  # none of them has a score
        return {}


def _differing(name: str, stored: Any, replayed: Any) -> Iterator[Difference]:
    """Yield the differences of one field, of a table row by row."""
    if isinstance(stored, dict) and isinstance(replayed, dict):
        for key in {**stored, **replayed}:
            yield from _differing(f"{name} {key}", stored.get(key), replayed.get(key))
    elif not is_equal(stored, replayed):
        yield Difference(None, name, stored, replayed)
