"""Episodes and folders for the viewer's tests: made, not played."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory, Turn, write_jsonl
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import SweepFolder


def made(task: int = 0, **values: Any) -> Trajectory:
    """Return an episode of two turns in an environment that has no scene."""
    turns = [
        Turn("The counter is 0.", "Thought: four are missing\nAction: add 4", 0.0, True, 0.4, 5),
        Turn("The counter is 4.", "Thought: a guess\nAction: jump", 0.0, False, 0.4, 4),
    ]
    standard: dict[str, Any] = {
        "env_id": "tests/Counting-v0",
        "task_id": f"counting_{task}",
        "subtask": "small",
        "split": "train",
        "goal": f"bring the counter to {task + 1}",
        "system_prompt": "A counter stands at 0.",
        "turns": turns,
        "final_observation": "The counter is 4.",
        "truncated_by": "max_turns",
        "policy": "runs/mine",
    }
    return Trajectory(**{**standard, **values})


def solved(task: int = 0, **values: Any) -> Trajectory:
    """Return an episode of one turn that reached the goal."""
    turns = [Turn("The counter is 0.", f"Thought: once\nAction: add {task + 1}", 1.0, True, 1.0, 3)]
    return made(
        task,
        **{"turns": turns, "status": "terminated", "truncated_by": None, "success": True, **values},
    )


def traced(*advantages: float) -> TokenTrace:
    """Return three sampled tokens after a prompt, and what training credited them with."""
    trace = TokenTrace([1, 2])
    trace.append_action([3, 4, 5], [-0.1, -2.0, -0.5])
    trace.advantages = list(advantages)
    return trace


def two_turns(*advantages: float) -> TokenTrace:
    """Return two turns of two tokens each, and what training credited these with."""
    trace = TokenTrace([1, 2])
    for ids in ([3, 4], [5, 6]):
        trace.append_given([9])
        trace.append_action(ids, [-0.1, -2.0])
    sampled = iter(advantages)
    trace.advantages = [next(sampled) if mask else 0.0 for mask in trace.action_mask]
    return trace


def training_run(folder: Path, *, steps: int = 2, tasks: int = 3) -> Path:
    """Write a training run with a group of two per task and step; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    record = {"command": "train grpo", "seed": 7, "EnvArguments": {"env": ["Counting"]}}
    (folder / "run.json").write_text(json.dumps(record))
    with (folder / "metrics.jsonl").open("w") as file:
        for step in range(1, 2 * steps + 1):
            entry = {"global_step": step, "episodes/success": 0.5, "horizon": 6.0 + step // 3}
            file.write(json.dumps(entry) + "\n")
    for step in range(steps):
        played = [
            one(task, global_step=step, traces=[traced()])
            for task in range(tasks)
            for one in (made, solved)
        ]
        write_jsonl(folder / "trajectories" / f"train_{step:06d}.jsonl", played)
    return folder


def phases(folder: Path) -> Path:
    """Write a training run with episodes from before, during and after training; return it."""
    training_run(folder, steps=2, tasks=1)
    for name, played in {
        "before_test": [made(8, policy="before"), made(9, policy="before")],
        "eval_000002": [solved(8, global_step=2), made(9, global_step=2)],
        "eval_000004": [solved(8, global_step=4), solved(9, global_step=4)],
        "after_test": [one(8, policy="after", global_step=4) for one in (solved, solved, made)],
    }.items():
        write_jsonl(folder / "trajectories" / f"{name}.jsonl", played)
    return folder


def sweep(folder: Path, *, limits: tuple[int | None, ...] = (None,), seeds: int = 1) -> Path:
    """Write a sweep of two policies on two tasks; return its folder."""
    store = SweepFolder(folder)
    for (policy, one), limit, seed in product(PLAYERS, limits, range(seeds)):
        cell = Cell(
            policy=policy,
            env_id="tests/Counting-v0",
            split="train",
            digest="0",
            max_turns=limit,
            seed=seed,
            samples=1,
            temperature=1.0,
            batch_size=1,
            settings=(),
            tasks=("counting_0", "counting_1"),
        )
        store.claim([cell])
        for batch in range(2):
            store.write(cell, batch, [one(batch, policy=policy)], seconds=1.0)
    return folder


PLAYERS = (("expert", solved), ("random", made))
