"""Results of `agentgym eval`, in JSON or as JSONL episodes, as settings of a report.

A result holds the success of each task and no turns, so that its subtasks have success alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory, read_jsonl
from benchmarks.report.grouping import make_row
from benchmarks.report.results import Setting, add_episodes
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.suites import task_digest
from trainers.evaluation.results import EvalResult
from trainers.options.arguments import EpisodeArguments
from trainers.options.environments import EnvConstructionArguments
from trainers.options.policies import PolicyLoadingArguments
from trainers.options.values import value_for
from trainers.runs.folder import EPISODES, read_json

_SETTINGS = {
    entry.name
    for kind in (EnvConstructionArguments, EpisodeArguments, PolicyLoadingArguments)
    for entry in fields(kind)
}
_UNCUT = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}
"""Sampling that cuts nothing off, which a sweep's cells do not mention."""


def is_evaluation(path: Path) -> bool:
    """Return whether a path names a file of an evaluation: its result, or its episodes."""
    return path.is_file() and (path.suffix == ".json" or EPISODES in path.suffixes)


def read_evaluation(path: Path) -> tuple[list[Setting], list[dict[str, Any]]]:
    """Return an evaluation's settings by environment and split, and its command.

    Raises:
        ValueError: the file is no result and holds no episodes, or lacks what was played.
    """
    if path.suffix != ".json":
        return _of_episodes(path), []
    result, episodes, record = read_result(path)
    run: dict[str, Any] = record.get("run") or {}
    # Policies without tokens have none; in a sweep they are given one all the same.
    temperature = 1.0 if result.temperature is None else result.temperature
    settings = _gathered(episodes, path, run, temperature=temperature)
    if len(settings) == 1:  # of several environments nobody knows who took what
        (whole,) = (setting.whole for setting in settings)
        whole.tokens, whole.seconds = result.sampled_tokens, result.wall_s
        whole.failures, whole.unscored = result.failures, result.unscored
        whole.cost = result.cost
    return settings, [run] if run else []


def read_result(path: Path) -> tuple[EvalResult, list[Trajectory], dict[str, Any]]:
    """Read a result's file, and return the result, its episodes and the whole record.

    Raises:
        ValueError: the file is no such result.
    """
    record = read_json(path)
    try:
        known = {entry.name for entry in fields(EvalResult)}
        result = EvalResult.from_json({k: v for k, v in record.items() if k in known})
        return result, list(result_episodes(result)), record
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} is no result of agentgym eval ({error!r})") from error


def result_episodes(result: EvalResult) -> Iterator[Trajectory]:
    """Yield an episode for each that a result counts: its task and success, without turns."""
    for part in result.panels:
        for subtask, task_ids in part.subtasks.items():
            for task_id in task_ids:
                total = result.episodes.get(task_id, result.samples_per_task)
                hits = round(result.tasks[task_id] * total)
                for number in range(total):
                    yield Trajectory(
                        part.env_id,
                        task_id,
                        subtask=subtask,
                        split=part.split,
                        source=part.source,
                        status="terminated",
                        success=number < hits,
                        score=float(number < hits),
                        policy=result.policy,
                    )


def _of_episodes(path: Path) -> list[Setting]:
    episodes = list(read_jsonl(path))
    if not episodes:
        raise ValueError(f"{path} holds no episodes")
    return _gathered(episodes, path, {}, temperature=1.0)


def _gathered(
    episodes: list[Trajectory], path: Path, run: Mapping[str, Any], *, temperature: float
) -> list[Setting]:
    groups: dict[tuple[str, str, str, int], list[Trajectory]] = {}
    for episode in episodes:
        key = (episode.policy, episode.env_id, episode.split, episode.global_step)
        groups.setdefault(key, []).append(episode)
    # An episode that failed at its start does not know its split; it is counted with the others.
    known = {key: members for key, members in groups.items() if key[2]} or groups
    for key, failed in groups.items():
        if key not in known:
            near = next((k for k in known if (k[1], k[3]) == (key[1], key[3])), next(iter(known)))
            known[near] += failed
    return [_setting(members, path, run, temperature) for members in known.values()]


def _setting(
    episodes: list[Trajectory], path: Path, run: Mapping[str, Any], temperature: float
) -> Setting:
    first = next((episode for episode in episodes if episode.split), episodes[0])
    cell = _cell(first, episodes, run, temperature)
    row = make_row(cell, fingerprint="")
    if not run:
        row = replace(row, conditions=())
    setting = Setting(
        cell.policy,
        cell.env_id,
        cell.split,
        cell.max_turns,
        cell.digest,
        row=row,
        place=str(path),
        ended=str(run.get("started") or _modified(path)),
        is_altered=bool(row.changes),
        num_requested=len(episodes),
    )
    add_episodes(setting, episodes, 0.0)
    return setting


def _cell(
    first: Trajectory, episodes: list[Trajectory], run: Mapping[str, Any], temperature: float
) -> Cell:
    """Return the cell of a sweep that would have played the same."""
    options = {
        name: value_for(value, first.env_id)
        for kind in ("EnvArguments", "EpisodeArguments", "PolicyArguments")
        for name, value in (run.get(kind) or {}).items()
    }
    settings = {
        name: value
        for name, value in options.items()
        if name in _SETTINGS or (name in _UNCUT and value != _UNCUT[name])
    }
    tasks: dict[str, dict[str, None]] = {}
    for episode in episodes:
        if episode.split:
            tasks.setdefault(episode.subtask, {})[episode.task_id] = None
    step = f", step {first.global_step}" if first.global_step else ""
    return Cell(
        policy=f"{first.policy}{step}",
        env_id=first.env_id,
        split=first.split,
        digest=task_digest({subtask: list(ids) for subtask, ids in tasks.items()}),
        max_turns=options.get("max_turns"),
        seed=0,
        samples=1,
        temperature=temperature,
        batch_size=1,
        settings=tuple(sorted(settings.items())),
        tasks=tuple(task_id for ids in tasks.values() for task_id in ids),
    )


def _modified(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
