"""Turns the episodes of an evaluation into its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from agentgym_envs.registration.registry import distinct_names
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.evaluation.intervals import mean_of, mean_over_seeds
from trainers.evaluation.results import EnvironmentResult, EvalResult, PanelTasks, SubtaskResult
from trainers.evaluation.tally import Tally, tally, task_key
from trainers.options.errors import UsageError

MIN_SEEDS = 3
"""The fewest seeds that an interval is made of."""


def summarize(
    trajectories: Sequence[Trajectory],
    *,
    policy: str = "",
    temperature: float | None = None,
    seeds: Sequence[int] = (0,),
    wall_s: float = 0.0,
    cost: float | None = None,
) -> EvalResult:
    """Turn the episodes of an evaluation into an `EvalResult`, whose fields the arguments are.

    Of several seeds each has as many of the episodes, in their order. The cost of all answers,
    those of repeated episodes included, is by default the sum over turns.

    Raises:
        UsageError: there is no episode with a score.
    """
    total = tally(trajectories)
    groups = _grouped(trajectories, by=lambda one: one.env_id)
    scored = [part for part in map(tally, groups.values()) if part.episodes]
    if not scored:
        raise UsageError(
            f"no episode to evaluate: of {len(trajectories)}, {total.unscored} need a judge to be "
            "scored and the others failed"
        )
    success, score = (
        mean_of([rate for rate in map(rates, scored) if rate is not None])
        for rates in (Tally.success, Tally.score)
    )
    finished = [t for t in trajectories if t.status != "failed"]
    environments = _environments(groups)
    return EvalResult(
        policy=policy,
        n_tasks=len(total.successes),
        samples_per_task=max(Counter(map(task_key, trajectories)).values()),
        temperature=temperature,
        seed=seeds[0],
        success=success.value,
        ci95=(success.low, success.high),
        score=score.value,
        mean_turns=fmean(part.turns / part.episodes for part in scored),
        invalid_rate=fmean(part.invalid / max(part.turns, 1) for part in scored),
        sampled_tokens=total.tokens,
        failures=total.failures,
        unscored=total.unscored,
        global_step=trajectories[0].global_step,
        truncated=dict(Counter(t.truncated_by for t in finished if t.truncated_by is not None)),
        wall_s=wall_s,
        refusals=total.refusals,
        cut_answers=total.cut_answers,
        prompt_tokens=total.prompt_tokens,
        cached_tokens=total.cached_tokens,
        cost=total.cost if cost is None else cost,
        subtasks={} if environments else _subtasks(finished),
        tasks={task_id: share for (_, _, task_id), share in total.task_success.items()},
        episodes={task_id: len(each) for (_, _, task_id), each in total.successes.items()},
        panels=_panels(finished),
        environments=environments,
        **_by_seed(trajectories, seeds),
    )


def _by_seed(trajectories: Sequence[Trajectory], seeds: Sequence[int]) -> dict[str, Any]:
    """Return the success of each of several seeds, and the interval over them."""
    count = len(trajectories) // len(seeds)
    success: dict[int, float] = {}
    for place, seed in enumerate(seeds if len(seeds) > 1 else ()):
        groups = _grouped(trajectories[place * count :][:count], by=lambda one: one.env_id)
        shares = [share for group in groups.values() if (share := tally(group).success())]
        if shares:
            success[seed] = fmean(share.value for share in shares)
    if len(success) < MIN_SEEDS or len(set(success.values())) == 1:
        return {"seeds": success}
    over = mean_over_seeds([*success.values()])
    return {"seeds": success, "ci95_seeds": (max(0.0, over.low), min(1.0, over.high))}


def _panels(episodes: Sequence[Trajectory]) -> tuple[PanelTasks, ...]:
    parts: dict[tuple[str, str, str], dict[str, dict[str, None]]] = {}
    for episode in episodes:
        subtasks = parts.setdefault((episode.env_id, episode.source, episode.split), {})
        subtasks.setdefault(episode.subtask, {})[episode.task_id] = None
    return tuple(
        PanelTasks(*place, {name: list(ids) for name, ids in subtasks.items()})
        for place, subtasks in parts.items()
    )


def _environments(groups: dict[str, list[Trajectory]]) -> dict[str, EnvironmentResult]:
    """Return the results of several environments by short name, and none of a single one."""
    if len(groups) == 1:
        return {}
    names = distinct_names(groups)
    return {names[env_id]: _environment(group) for env_id, group in groups.items()}


def _environment(trajectories: Sequence[Trajectory]) -> EnvironmentResult:
    part = tally(trajectories)
    success, score = part.success(), part.score()
    return EnvironmentResult(
        n_tasks=len(part.successes),
        success=None if success is None else success.value,
        ci95=None if success is None else (success.low, success.high),
        score=None if score is None else score.value,
        mean_turns=part.turns / part.episodes if part.episodes else None,
        invalid_rate=part.invalid / max(part.turns, 1) if part.episodes else None,
        failures=part.failures,
        unscored=part.unscored,
        subtasks=_subtasks([t for t in trajectories if t.status != "failed"]),
    )


def _subtasks(trajectories: Sequence[Trajectory]) -> dict[str, SubtaskResult]:
    parts = _grouped(trajectories, by=lambda one: one.subtask)
    tallies = {name: tally(part) for name, part in parts.items()}
    return {
        name: SubtaskResult(
            len(part.successes),
            float(np.mean([*part.task_success.values()])),
            float(np.mean([*part.task_score.values()])),
        )
        for name, part in tallies.items()
    }


def _grouped(
    trajectories: Sequence[Trajectory], *, by: Callable[[Trajectory], str]
) -> dict[str, list[Trajectory]]:
    groups: dict[str, list[Trajectory]] = {}
    for trajectory in trajectories:
        groups.setdefault(by(trajectory), []).append(trajectory)
    return groups
