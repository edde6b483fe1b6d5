"""Measures the environments' baselines: `python -m lab.baselines`.

It plays every baseline on all tasks of `PANELS` and writes `trainers/evaluation/baselines.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime

import gymnasium as gym

from agentgym_envs import TextEnv, resolve_env_id
from agentgym_envs.content.files import write_atomically
from trainers.evaluation.baselines import FILE, Measured, task_number
from trainers.options.policies import BASELINE

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
    ("MiniWoB", "holdout", None),
    ("ALFWorld", "test", None),
    ("ALFWorld", "test", 12),
    ("ALFWorld", "unseen", 12),
)
"""Measured environments, splits and turn limits. None is the environment's own limit."""


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
            tuple(map(task_number, solved)),
            today,
        )
    env.close()


def _solves(env: TextEnv, task_id: str, name: str) -> bool:
    env.reset(options={"task_id": task_id})
    for action in env.baseline(name):
        *_, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return bool(info["success"])
    return False


def main() -> None:
    """Measure all baselines."""
    rows = []
    for name, split, max_turns in PANELS:
        for row in measure(resolve_env_id(name), split, max_turns):
            print(f"{name} {split} {max_turns} {row.policy}: {len(row.solved)} of {row.num_tasks}")
            rows.append(json.dumps(asdict(row)))
    write_atomically(FILE, "[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
