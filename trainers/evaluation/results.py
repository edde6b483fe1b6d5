"""The result of an evaluation, with its uncertainty, as a table and as a JSON file.

`trainers.evaluation.summary` makes it from episodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import write_atomically
from agentgym_envs.core.tasks import scenario_name
from agentgym_envs.core.text import counted
from trainers.evaluation.intervals import mean_of
from trainers.evaluation.tally import p_of, paired


@dataclass(frozen=True)
class SubtaskResult:
    """A row of the table by subtask: its tasks, and means over them."""

    n_tasks: int
    success: float
    score: float


@dataclass(frozen=True)
class PanelTasks:
    """The tasks of one environment in an evaluation.

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
class EnvironmentResult:
    """The row of one environment among several.

    The fields are `EvalResult`'s. Those that need an episode with a score are None without one.
    """

    n_tasks: int
    success: float | None
    ci95: tuple[float, float] | None
    score: float | None
    mean_turns: float | None
    invalid_rate: float | None
    failures: int
    unscored: int = 0
    subtasks: dict[str, SubtaskResult] = field(default_factory=dict)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> EnvironmentResult:
        """Rebuild a row from JSON values."""
        ci95 = record["ci95"]
        rows = {name: SubtaskResult(**row) for name, row in record["subtasks"].items()}
        return cls(**{**record, "ci95": ci95 and (ci95[0], ci95[1]), "subtasks": rows})

    def __str__(self) -> str:
        failed = f"failed episodes {self.failures}" + f", unscored {self.unscored}" * bool(
            self.unscored
        )
        if self.success is None or self.ci95 is None:
            return f"no episode with a score; {failed}"
        low, high = self.ci95
        return (
            f"{self.success:>6.1%}  ({low:.1%} to {high:.1%}) on {counted(self.n_tasks, 'task')}; "
            f"score {self.score:.3f}, {self.mean_turns:.1f} turns, invalid actions "
            f"{self.invalid_rate:.1%}, {failed}"
        )


@dataclass(frozen=True)
class EvalResult:
    """The result of an evaluation.

    Failed and unscored episodes are counted as such and enter nothing else. With several
    environments, success, score, turns and invalid actions are means over the environments, each
    weighing alike: pooled, the one with the most tasks would dominate.

    Attributes:
        policy: the policy's name.
        n_tasks: tasks with at least one episode that did not fail.
        samples_per_task: episodes played per task.
        temperature: of the sampling; None for policies without tokens.
        seed: of the sampling, the first of several.
        success: mean over tasks of the share of successful episodes.
        ci95: 95% interval of `success`, over the tasks of each environment.
        score: mean progress, 0..1.
        mean_turns: turns per episode.
        invalid_rate: share of turns whose action was invalid.
        sampled_tokens: all tokens that the policy wrote.
        failures: episodes that the machinery failed.
        truncated: truncated episodes by cause.
        wall_s: seconds.
        subtasks: the table by subtask; with several environments each has its own.
        tasks: the share of successful episodes by task id.
        episodes: the episodes behind that share, by task id.
        unscored: episodes that needed a judge when there was none.
        panels: the tasks that have a success.
        global_step: the optimizer step of a trained policy; 0 for others.
        run: options, versions and command, as in a training run's `run.json`; empty without one.
        environments: a row for each of several environments, by its short name.
        refusals: answers that a server marks as the model's refusal; they are played.
        cut_answers: turns that ended at the token limit.
        prompt_tokens: tokens that a server read, cached ones included.
        cached_tokens: those in its cache.
        cost: of all answers, in the currency of the prices; None if unknown.
        seeds: the success by seed, where there are several.
        ci95_seeds: 95% interval of their mean, by Student's t with the seeds as clusters: of other
            samples on these tasks. None for fewer than three, or where all are equal.
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
    episodes: dict[str, int] = field(default_factory=dict)
    unscored: int = 0
    panels: tuple[PanelTasks, ...] = ()
    global_step: int = 0
    run: dict[str, Any] = field(default_factory=dict)
    environments: dict[str, EnvironmentResult] = field(default_factory=dict)
    refusals: int = 0
    cut_answers: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    seeds: dict[int, float] = field(default_factory=dict)
    ci95_seeds: tuple[float, float] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> EvalResult:
        """Rebuild a result from `to_json`'s values."""
        rows = {name: SubtaskResult(**row) for name, row in record["subtasks"].items()}
        environments = {
            name: EnvironmentResult.from_json(row) for name, row in record["environments"].items()
        }
        low, high = record["ci95"]
        panels = tuple(PanelTasks(**part) for part in record["panels"])
        over = record.get("ci95_seeds")
        changed = {
            "ci95": (low, high),
            "subtasks": rows,
            "panels": panels,
            "seeds": {int(seed): share for seed, share in record.get("seeds", {}).items()},
            "ci95_seeds": over and (over[0], over[1]),
        }
        return cls(**{**record, **changed, "environments": environments})

    def save(self, path: str | Path) -> None:
        """Write the result as a JSON file."""
        write_atomically(path, json.dumps(self.to_json(), indent=2) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> EvalResult:
        """Read a file of `save`."""
        return cls.from_json(json.loads(Path(path).read_text(encoding="utf-8")))

    def __str__(self) -> str:
        low, high = self.ci95
        several = len(self.environments)
        over = f", the mean over {several} environments" * bool(several)
        refused = self.truncated.get("refused", 0)
        lines = [
            f"{self.policy}: success {self.success:.1%} (95% interval {low:.1%} to {high:.1%}) on "
            f"{counted(self.n_tasks, 'task')} x {self.samples_per_task}{over}",
            f"score {self.score:.3f}, {self.mean_turns:.1f} turns, invalid actions "
            f"{self.invalid_rate:.1%}, {self.sampled_tokens} sampled tokens, failed episodes "
            f"{self.failures}, "
            + f"unscored {self.unscored}, " * bool(self.unscored)
            + f"refused prompts {refused}, " * bool(refused)
            + f"answers that refuse {self.refusals}, " * bool(self.refusals)
            + f"turns cut off {self.cut_answers}, " * bool(self.cut_answers)
            + f"{self.wall_s:.1f} s",
        ]
        if self.seeds:
            by_seed = ", ".join(f"{seed} {share:.1%}" for seed, share in self.seeds.items())
            over_seeds = ""
            if self.ci95_seeds is not None:
                low, high = self.ci95_seeds
                over_seeds = f" (95% interval over seeds {low:.1%} to {high:.1%})"
            lines.insert(1, f"by seed: {by_seed}{over_seeds}")
        if self.prompt_tokens or self.cost is not None:
            cost = "" if self.cost is None else f", cost {self.cost:.4g}"
            lines.append(
                f"{self.prompt_tokens} prompt tokens, {self.cached_tokens} of them cached{cost}"
            )
        lines += _table(self.subtasks)
        for name, row in self.environments.items():
            lines += [f"{name:<26} {row}", *_table(row.subtasks)]
        return "\n".join(lines)


def _table(subtasks: Mapping[str, SubtaskResult]) -> list[str]:
    return [
        f"  {name:<24} {row.success:>6.1%}  of {counted(row.n_tasks, 'task')}"
        for name, row in sorted(subtasks.items())
    ]


@dataclass(frozen=True)
class Gain:
    """The improvement between two evaluations, the mean over their environments.

    Attributes:
        gain: difference of the success rates, after minus before.
        ci95: its 95% interval, paired over tasks.
        n_tasks: tasks of both evaluations.
        p: its p value, of the exact sign-flip test over tasks (`intervals.sign_flip_p`).
    """

    gain: float
    ci95: tuple[float, float]
    n_tasks: int
    p: float


def paired_gain(before: EvalResult, after: EvalResult) -> Gain:
    """Compare two evaluations task by task.

    Raises `ValueError` if they share no task, or tasks of the same ids are of other data.
    """
    sources = _sources(before)
    for task, source in _sources(after).items():
        if sources.get(task, source) != source:
            raise ValueError(
                f"{task} is of {sources[task]!r} in the one evaluation and of {source!r} in the "
                "other, which are not the same task; compare evaluations on the same data"
            )
    names = dict.fromkeys(map(scenario_name, after.tasks)) if after.environments else [""]
    gains = [paired(_tasks_of(after, name), _tasks_of(before, name)) for name in names]
    shared = [difference for difference in gains if difference is not None]
    if not shared:
        raise ValueError("the two evaluations share no task, so they cannot be compared")
    gain = mean_of([difference.gain for difference in shared])
    n_tasks = sum(difference.n_tasks for difference in shared)
    return Gain(gain.value, (gain.low, gain.high), n_tasks, p_of(shared))


def _sources(result: EvalResult) -> dict[str, str]:
    """Return each task's data, if the result names them."""
    return {
        task: panel.source
        for panel in result.panels
        for ids in panel.subtasks.values()
        for task in ids
    }


def _tasks_of(result: EvalResult, name: str) -> dict[str, float]:
    """Return the success by task of those whose ids begin with a name, or of all without one."""
    return {task: rate for task, rate in result.tasks.items() if name in ("", scenario_name(task))}
