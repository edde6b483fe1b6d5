"""Copies of episodes at their half, which branches and tree search go on from.

A snapshot is the actions so far, and to restore it is to play them again: the rows compare that
with the reset to the same tasks, which every episode pays.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import gymnasium as gym

from agentgym_envs import resolve_env_id
from agentgym_envs.core.snapshots import Snapshot
from lab.throughput.environments import expert_actions, record_episode, text_resets
from lab.throughput.measure import Row, Side, Stopwatch, Workload, compare

SCENARIOS = ("BabyAI", "TextCraft", "ALFWorld", "SQL", "WebShop", "Maze", "Wordle")


def snapshot_rows(repeats: int, *, num_tasks: int = 40) -> Iterator[Row]:
    """Measure snapshots taken at the half of the expert's episodes on test tasks."""
    for name in SCENARIOS:
        env = gym.make(resolve_env_id(name), disable_env_checker=True)
        base: Any = env.unwrapped
        task_ids = base.task_ids("test")[:num_tasks]
        halves = []
        for task_id in task_ids:
            actions = record_episode(env, task_id, expert_actions).actions
            halves.append(actions[: (len(actions) + 1) // 2])
        watch = Stopwatch()
        snapshots = [
            _snapshot_at(env, task_id, half, watch)
            for task_id, half in zip(task_ids, halves, strict=True)
        ]
        yield compare(
            "snapshots",
            Side(f"{name}, snapshots restored", "copies", _restores(base, snapshots)),
            Side("resets to the same tasks", "resets", text_resets(env, task_ids)),
            repeats=repeats,
            turns_played_again=round(fmean(map(len, halves)), 1),
            microseconds_of_a_snapshot=round(1e6 / watch.rate, 1),
        )
        env.close()


def _snapshot_at(
    env: gym.Env[str, str], task_id: str, actions: list[str], watch: Stopwatch
) -> Snapshot:
    env.reset(options={"task_id": task_id})
    for action in actions:
        env.step(action)
    base: Any = env.unwrapped
    with watch.running():
        snapshot: Snapshot = base.snapshot()
    watch.units += 1
    return snapshot


def _restores(base: Any, snapshots: list[Snapshot]) -> Workload:
    def work(watch: Stopwatch) -> None:
        with watch.running():
            for snapshot in snapshots:
                base.restore(snapshot)
        watch.units += len(snapshots)

    return work
