"""Reads the success of a run from its folder: evaluations with intervals, and the curve.

Imports no torch, so that every command can afford it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from agentgym_envs.registration.registry import short_env_name
from trainers.metrics import CARD, Metric, number
from trainers.runs.folder import SUMMARY_FILE, check_metrics, read_json, read_run

ROWS = 8
"""Rows of a curve in figures."""
PLATEAU = 5
"""Evaluations, the last ones, whose mean is a run's plateau."""
FRESH = "eval_fresh"
"""Prefix of metrics and files of the kept weights, measured again."""


@dataclass(frozen=True)
class Measured:
    """One evaluation of a run's policy.

    Attributes:
        global_step: the optimizer step of the weights.
        env_id: the environment; empty for the mean over several.
        split: of the tasks.
        success: mean over tasks.
        low, high: its 95% interval over tasks; None if it is not on record.
        when: in words.
        is_fresh: of episodes that had no part in the choice of the weights.
    """

    global_step: int
    env_id: str
    split: str
    success: float
    low: float | None
    high: float | None
    when: str
    is_fresh: bool = False

    @property
    def title(self) -> str:
        """The environment's short name."""
        return short_env_name(self.env_id) if self.env_id else "all environments"

    @property
    def interval(self) -> str:
        """The interval, in words."""
        if self.low is None or self.high is None:
            return ""
        return f"{self.low:.1%} to {self.high:.1%}"

    def __str__(self) -> str:
        return f"{self.success:.1%} ({self.interval})" if self.interval else f"{self.success:.1%}"


@dataclass(frozen=True)
class Plateau:
    """The mean of a run's last evaluations, none of which was chosen.

    Attributes:
        success: the mean.
        count: the evaluations.
        first, last: their optimizer steps.
    """

    success: float
    count: int
    first: int
    last: int

    def __str__(self) -> str:
        return (
            f"{self.success:.1%}, the mean of the last {self.count} evaluations (steps "
            f"{self.first} to {self.last})"
        )


@dataclass(frozen=True)
class FinalSuccess:
    """The success of a run's weights at its end, the least biased number first.

    Attributes:
        measured: of fresh episodes, or of an evaluation that chose nothing.
        plateau: around the weights' end; None for fewer than two evaluations after the start.
        best: the evaluation that chose the weights, a maximum over noise; None without a choice.
        before: of the weights before training.
    """

    measured: Measured | None
    plateau: Plateau | None
    best: Measured | None
    before: Measured | None

    def to_json(self) -> dict[str, Any]:
        """Return the entries of `summary.json`."""
        values: dict[str, Any] = {}
        for name, one in (("", self.measured), ("_best", self.best), ("_start", self.before)):
            if one is not None:
                values |= {f"success{name}": one.success, f"ci95{name}": [one.low, one.high]}
        if self.measured is not None:
            values["is_fresh"] = self.measured.is_fresh
        if self.plateau is not None:
            values["success_plateau"] = self.plateau.success
            values["plateau_steps"] = [self.plateau.first, self.plateau.last]
            values["plateau_evaluations"] = self.plateau.count
        if self.best is not None:
            values["best_step"] = self.best.global_step
        return values


def final_success(
    folder: str | Path, weights_step: int, *, is_chosen: bool = False
) -> FinalSuccess | None:
    """Return the success of a run's final weights, or None where they were not measured.

    Args:
        folder: the run's.
        weights_step: the optimizer step of the weights.
        is_chosen: they are the best of the evaluated ones.
    """
    evaluations = overall(validations(folder))
    own = evaluations.get(weights_step)
    if own is None:
        return None
    fresh = overall(validations(folder, FRESH)).get(weights_step)
    best = own if is_chosen and len(evaluations) > 1 else None
    measured = own if best is None else fresh
    return FinalSuccess(measured, plateau_of([*evaluations.values()]), best, evaluations.get(0))


def plateau_of(evaluations: Sequence[Measured]) -> Plateau | None:
    """Return the mean of the last evaluations, or None for fewer than two after the start.

    `evaluations` are one of each step, in order.
    """
    last = [one for one in evaluations if one.global_step][-PLATEAU:]
    if len(last) < 2:
        return None
    mean = fmean(one.success for one in last)
    return Plateau(mean, len(last), last[0].global_step, last[-1].global_step)


def overall(measured: Sequence[Measured]) -> dict[int, Measured]:
    """Return the evaluation of each step, of several environments the mean over them."""
    overall = [one for one in measured if not one.env_id] or measured
    return {one.global_step: one for one in overall}


def measured_success(folder: str | Path) -> list[Measured]:
    """List the evaluations of a run, those of each environment apart, in the order of steps.

    They are the validations, and a quickstart's evaluations before and after training.
    """
    measured = [*quickstart_success(folder), *validations(folder), *validations(folder, FRESH)]
    return sorted(measured, key=lambda one: one.global_step)


def validations(folder: str | Path, label: str = "eval") -> list[Measured]:
    """List the validations of a run's metrics, the last one of each step.

    With the label `FRESH` it is the one of the kept weights, measured again.
    """
    folder = Path(folder)
    options = read_run(folder).get("EnvArguments", {})
    env_ids = list(options.get("env") or [])
    split = str(options.get("eval_split", "validation"))
    last: dict[tuple[int, str], Measured] = {}
    for entry in check_metrics(folder)[0]:
        step = entry["global_step"]
        is_fresh = label == FRESH
        when = "before training" if step == 0 else f"step {step}"
        when += ", fresh episodes" * is_fresh
        key = f"{label}_success"
        for env_id, ending in _environments(entry, key, env_ids):
            success, low, high = (
                number(entry.get(f"{key}{bound}{ending}")) for bound in ("", "_low", "_high")
            )
            if success is not None:
                last[step, env_id] = Measured(
                    step, env_id, split, success, low, high, when, is_fresh=is_fresh
                )
    return sorted(last.values(), key=lambda one: one.global_step)


def training_curve(
    folder: str | Path, *, up_to: int | None = None
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the learning curve as a table of a few rows, each the mean of some steps.

    Args:
        folder: a run's.
        up_to: the last optimizer step that counts.

    Returns:
        The names of the columns after that of the steps, and the rows.
    """
    entries = [
        entry
        for entry in check_metrics(folder)[0]
        if any(name in entry for name in ("episodes/success", "loss"))
        and (up_to is None or entry["global_step"] <= up_to)
    ]
    columns = [
        metric
        for metric in CARD
        if any(number(entry.get(metric.key)) is not None for entry in entries)
    ]
    rows = []
    for part in _parts(entries):
        first, last = part[0]["global_step"], part[-1]["global_step"]
        steps = str(first) if first == last else f"{first} to {last}"
        rows.append((steps, *(_mean(part, metric) for metric in columns)))
    return [metric.label for metric in columns], rows


def quickstart_success(folder: str | Path) -> list[Measured]:
    """List a quickstart's evaluations before and after training, none for other runs."""
    summary = read_json(Path(folder) / SUMMARY_FILE)
    if not {"success_before", "success_after", "ci95_before", "ci95_after"} <= set(summary):
        return []
    measured = []
    for name, step in (
        ("before", 0),
        ("after", int(summary.get("global_step", summary.get("max_steps", 0)))),
    ):
        low, high = summary[f"ci95_{name}"]
        success = float(summary[f"success_{name}"])
        env_id = str(summary.get("env_id", ""))
        measured.append(Measured(step, env_id, "test", success, low, high, f"{name} training"))
    return measured


def _environments(entry: dict[str, Any], key: str, env_ids: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the environments of an entry's metric, with the suffix of their keys."""
    known = {short_env_name(env_id): env_id for env_id in env_ids}
    own = [name.partition("/")[2] for name in entry if name.startswith(f"{key}/")]
    for name in own:
        yield known.get(name, name), f"/{name}"
    yield (env_ids[0] if len(env_ids) == 1 else ""), ""


def _parts(entries: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the entries in parts of about equal length, a part for each row."""
    bounds = [round(row * len(entries) / ROWS) for row in range(ROWS + 1)]
    for start, end in zip(bounds, bounds[1:], strict=False):
        if start < end:
            yield entries[start:end]


def _mean(entries: list[dict[str, Any]], metric: Metric) -> str:
    values = [value for entry in entries if (value := number(entry.get(metric.key))) is not None]
    return f"{fmean(values):{metric.mean_format or metric.format}}" if values else ""
