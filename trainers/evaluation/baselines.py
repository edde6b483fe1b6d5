"""Measured success of the environments' baselines, for display beside a policy's score.

`python -m lab.baselines` writes `baselines.json`. It holds the solved tasks, so a success is that
on the very tasks of a policy.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from trainers.evaluation.intervals import Estimate, wilson

FILE = Path(__file__).with_name("baselines.json")


@dataclass(frozen=True)
class Measured:
    """A baseline's measurement.

    Attributes:
        env_id: the environment, made without further arguments.
        source: its data, as `info["source"]` names them.
        split: the split, all of whose tasks were played.
        max_turns: the turn limit.
        is_default: it is the environment's own.
        policy: the baseline, as `--policy` names it.
        num_tasks: tasks of the split.
        solved: numbers of the solved tasks.
        date: the day of the measurement.
    """

    env_id: str
    source: str
    split: str
    max_turns: int
    is_default: bool
    policy: str
    num_tasks: int
    solved: tuple[int, ...]
    date: str


class Baseline(NamedTuple):
    """A baseline's success on some tasks."""

    policy: str
    success: Estimate

    def __str__(self) -> str:
        value, low, high = self.success.value, self.success.low, self.success.high
        return (
            f"{self.policy}: success {value:.1%} (95% interval {low:.1%} to {high:.1%}) on the "
            "same tasks"
        )


def strongest(
    env_id: str, source: str, split: str, task_ids: Collection[str], *, max_turns: int | None
) -> Baseline | None:
    """Return the baseline with the highest success on some tasks of a split or its panel.

    The environment is made without further arguments; `max_turns` None is its own limit. Returns
    None if no baseline was measured on these data under this turn limit.
    """
    # The panel `paper_test` is a part of the split `test`; a split or the panel was measured.
    splits = (split, split.removeprefix("paper_"))
    numbers = set(map(task_number, task_ids))
    rows = [
        Baseline(row.policy, wilson(len(numbers.intersection(row.solved)), len(numbers)))
        for row in measured()
        if (row.env_id, row.source) == (env_id, source)
        and row.split in splits
        and (row.is_default if max_turns is None else row.max_turns == max_turns)
    ]
    return max(rows, key=lambda row: row.success.value, default=None)


@cache
def measured() -> tuple[Measured, ...]:
    """Return all measurements that are shipped."""
    rows = json.loads(FILE.read_text("utf-8"))
    return tuple(Measured(**{**row, "solved": tuple(row["solved"])}) for row in rows)


def task_number(task_id: str) -> int:
    """Return the number at the end of a task id."""
    return int(task_id.rpartition("_")[2])
