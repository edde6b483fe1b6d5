"""Measured success of the environments' baselines, for display beside a policy's score.

`python -m trainers.evaluation.baselines` plays every baseline on all tasks of `PANELS` and writes
`baselines.json`. It holds the solved tasks, so a success is that on the very tasks of a policy.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

import gymnasium as gym

from agentgym_envs import TextEnv, resolve_env_id
from agentgym_envs.content.files import write_whole
from trainers.evaluation.intervals import Estimate, wilson
from trainers.options.policies import BASELINE

FILE = Path(__file__).with_name("baselines.json")

PANELS = (
    ("WebArena", "test", None),
    ("WebArena", "test", 25),
    ("SearchQA", "test", None),
    ("SQL", "test", None),
    ("WebShop", "test", None),
    ("WebShop", "test", 10),
    ("Wordle", "test", None),
    ("Maze", "test", None),
    ("Maze", "rooms", 60),
    ("TextCraft", "test", None),
    ("BabyAI", "test", None),
    ("SciWorld", "paper_test", None),
    ("ALFWorld", "test", None),
    ("ALFWorld", "test", 12),
    ("ALFWorld", "unseen", 12),
)
"""Environments, splits and turn limits that are measured. None is the environment's own limit."""


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
        num_tasks: how many tasks the split has.
        solved: the numbers of the tasks that were solved.
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
    """Return the baseline with the highest success on some tasks.

    Args:
        env_id: the environment, made without further arguments.
        source: its data.
        split: the split that holds the tasks, or a panel of it.
        task_ids: the tasks.
        max_turns: the turn limit; None is the environment's own.

    Returns:
        None where no baseline was measured on these data under this turn limit.
    """
    # The panel `paper_test` is a part of the split `test`; a split or the panel was measured.
    splits = (split, split.removeprefix("paper_"))
    numbers = set(map(_number, task_ids))
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


def measure(
    env_id: str, split: str, max_turns: int | None, *, every: int = 1
) -> Iterator[Measured]:
    """Play the baselines of an environment and yield the tasks that each of them solves.

    Args:
        env_id: the environment.
        split: whose tasks are played.
        max_turns: the turn limit; None is the environment's own.
        every: play every so many tasks.
    """
    env = gym.make(env_id, max_turns=max_turns, disable_env_checker=True).unwrapped
    assert isinstance(env, TextEnv)
    task_ids = env.task_ids(split)[::every]
    today = datetime.now(UTC).date().isoformat()
    for name in env.baselines:
        solved = [task_id for task_id in task_ids if _solves(env, task_id, name)]
        yield Measured(
            env_id,
            env.source,
            split,
            env.max_turns,
            env.max_turns == env.default_max_turns,
            f"{BASELINE}{name}",
            len(task_ids),
            tuple(map(_number, solved)),
            today,
        )
    env.close()


def _number(task_id: str) -> int:
    return int(task_id.rpartition("_")[2])


def _solves(env: TextEnv, task_id: str, name: str) -> bool:
    env.reset(options={"task_id": task_id})
    for action in env.baseline(name):
        *_, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return bool(info["success"])
    return False


def main() -> None:
    """Measure all baselines anew."""
    rows = []
    for name, split, max_turns in PANELS:
        for row in measure(resolve_env_id(name), split, max_turns):
            print(f"{name} {split} {max_turns} {row.policy}: {len(row.solved)} of {row.num_tasks}")
            rows.append(json.dumps(asdict(row)))
    write_whole(FILE, "[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
