"""The result of an evaluation, with its uncertainty, as a table and as a JSON file.

Episodes are summed up by `trainers.evaluation.tally`, as those of reports are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agentgym_envs.files import write_whole
from agentgym_envs.trajectory import Trajectory
from trainers.evaluation.tally import Tally, paired, tally, task_key


@dataclass(frozen=True)
class SubtaskResult:
    """One row of the table by subtask.

    Attributes:
        n_tasks: tasks with at least one episode that did not fail.
        success: mean over tasks of the share of successful episodes.
        score: the same for the score.
    """

    n_tasks: int
    success: float
    score: float


@dataclass(frozen=True)
class PanelTasks:
    """What of one environment an evaluation played.

    Attributes:
        env_id: the environment.
        source: its data, as `info["source"]` names them.
        split: the split that holds the tasks.
        subtasks: the task ids of each subtask.
    """

    env_id: str
    source: str
    split: str
    subtasks: dict[str, list[str]]


@dataclass(frozen=True)
class EvalResult:
    """The result of an evaluation.

    Failed and unscored episodes are counted as such and enter nothing else.

    Attributes:
        policy: who played.
        n_tasks: tasks with at least one episode that did not fail.
        samples_per_task: episodes played per task.
        temperature: of the sampling; None for policies without tokens.
        seed: of the sampling.
        success: mean over tasks of the share of successful episodes.
        ci95: 95% interval of `success` over tasks.
        score: mean progress, 0..1.
        mean_turns: turns per episode.
        invalid_rate: share of turns whose action was invalid.
        sampled_tokens: tokens the policy wrote, in all.
        failures: episodes given up because the machinery broke.
        truncated: episodes cut short, by cause.
        wall_s: seconds.
        subtasks: the table by subtask.
        tasks: the share of successful episodes by task id.
        unscored: episodes that only a judge could have scored, where there was none.
        panels: which tasks of which environments have a success; empty in earlier versions.
        global_step: the optimizer step that a trained policy is of; 0 for others.
        run: what was run: options, versions, command, as in a training run's `run.json`; empty
            where no command was.
        prompt_tokens: tokens that a server read, cached ones included.
        cached_tokens: those of them that it had in its cache.
        cost: of all answers, in the currency of the prices; None where nobody told.
    """

    policy: str
    n_tasks: int
    samples_per_task: int
    temperature: float | None
    seed: int
    success: float
    ci95: tuple[float, float]
    score: float
    mean_turns: float
    invalid_rate: float
    sampled_tokens: int
    failures: int
    truncated: dict[str, int]
    wall_s: float
    subtasks: dict[str, SubtaskResult] = field(default_factory=dict)
    tasks: dict[str, float] = field(default_factory=dict)
    unscored: int = 0
    panels: tuple[PanelTasks, ...] = ()
    global_step: int = 0
    run: dict[str, Any] = field(default_factory=dict)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {**asdict(self), "ci95": list(self.ci95)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> EvalResult:
        """Rebuild a result from `to_json`'s values."""
        rows = {name: SubtaskResult(**row) for name, row in record["subtasks"].items()}
        low, high = record["ci95"]
        panels = tuple(PanelTasks(**part) for part in record.get("panels", ()))
        return cls(**{**record, "ci95": (low, high), "subtasks": rows, "panels": panels})

    def save(self, path: str | Path) -> None:
        """Write the result as a JSON file."""
        write_whole(path, json.dumps(self.to_json(), indent=2) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> EvalResult:
        """Read what `save` wrote."""
        return cls.from_json(json.loads(Path(path).read_text(encoding="utf-8")))

    def __str__(self) -> str:
        low, high = self.ci95
        refused = self.truncated.get("refused", 0)
        lines = [
            f"{self.policy}: success {self.success:.1%} (95% interval {low:.1%} to {high:.1%}) on "
            f"{self.n_tasks} tasks x {self.samples_per_task}",
            f"score {self.score:.3f}, {self.mean_turns:.1f} turns, invalid actions "
            f"{self.invalid_rate:.1%}, {self.sampled_tokens} sampled tokens, failed episodes "
            f"{self.failures}, "
            + f"unscored {self.unscored}, " * bool(self.unscored)
            + f"refused prompts {refused}, " * bool(refused)
            + f"{self.wall_s:.1f} s",
        ]
        if self.prompt_tokens or self.cost is not None:
            cost = "" if self.cost is None else f", cost {self.cost:.4g}"
            lines.append(
                f"{self.prompt_tokens} prompt tokens, {self.cached_tokens} of them cached{cost}"
            )
        lines += [
            f"  {name:<24} {row.success:>6.1%}  of {row.n_tasks} tasks"
            for name, row in sorted(self.subtasks.items())
        ]
        return "\n".join(lines)


def summarize(
    trajectories: Sequence[Trajectory],
    *,
    policy: str = "",
    temperature: float | None = None,
    seed: int = 0,
    wall_s: float = 0.0,
    cost: float | None = None,
) -> EvalResult:
    """Turn the episodes of an evaluation into its result.

    Args:
        trajectories: the episodes.
        policy: who played.
        temperature: of the sampling.
        seed: of the sampling.
        wall_s: seconds.
        cost: of all answers, those of episodes that were played again included; None takes the sum
            over the episodes' turns.

    Raises:
        ValueError: there is no episode with a score.
    """
    total = tally(trajectories)
    success, score = total.success(), total.score()
    if success is None or score is None:
        raise ValueError(
            f"no episode to evaluate: of {len(trajectories)}, {total.unscored} need a judge to be "
            f"scored and the others failed"
        )
    finished = [t for t in trajectories if t.status != "failed"]
    by_subtask: dict[str, list[Trajectory]] = {}
    for trajectory in finished:
        by_subtask.setdefault(trajectory.subtask, []).append(trajectory)
    counts = Counter(task_key(t) for t in trajectories)
    return EvalResult(
        policy=policy,
        n_tasks=len(total.successes),
        samples_per_task=max(counts.values()),
        temperature=temperature,
        seed=seed,
        success=success.value,
        ci95=(success.low, success.high),
        score=score.value,
        mean_turns=total.turns / total.episodes,
        invalid_rate=total.invalid / max(total.turns, 1),
        sampled_tokens=total.tokens,
        failures=total.failures,
        unscored=total.unscored,
        global_step=trajectories[0].global_step,
        truncated=dict(Counter(t.truncated_by for t in finished if t.truncated_by is not None)),
        wall_s=wall_s,
        prompt_tokens=total.prompt_tokens,
        cached_tokens=total.cached_tokens,
        cost=total.cost if cost is None else cost,
        subtasks={name: _subtask_result(tally(part)) for name, part in by_subtask.items()},
        tasks={task_id: share for (_, _, task_id), share in total.task_success.items()},
        panels=_panels(finished),
    )


def _panels(episodes: Sequence[Trajectory]) -> tuple[PanelTasks, ...]:
    parts: dict[tuple[str, str, str], dict[str, dict[str, None]]] = {}
    for episode in episodes:
        subtasks = parts.setdefault((episode.env_id, episode.source, episode.split), {})
        subtasks.setdefault(episode.subtask, {})[episode.task_id] = None
    return tuple(
        PanelTasks(*place, {name: list(ids) for name, ids in subtasks.items()})
        for place, subtasks in parts.items()
    )


def _subtask_result(part: Tally) -> SubtaskResult:
    success, score = part.task_success.values(), part.task_score.values()
    return SubtaskResult(len(success), float(np.mean(list(success))), float(np.mean(list(score))))


@dataclass(frozen=True)
class Gain:
    """How much better a policy became.

    Attributes:
        gain: difference of the success rates, after minus before.
        ci95: its 95% interval, paired over tasks.
        n_tasks: the tasks that both evaluations played.
    """

    gain: float
    ci95: tuple[float, float]
    n_tasks: int


def paired_gain(before: EvalResult, after: EvalResult) -> Gain:
    """Compare two evaluations task by task.

    Raises:
        ValueError: they share no task.
    """
    difference = paired(after.tasks, before.tasks)
    if difference is None:
        raise ValueError("the two evaluations share no task, so they cannot be compared")
    gain = difference.gain
    return Gain(gain.value, (gain.low, gain.high), difference.n_tasks)
