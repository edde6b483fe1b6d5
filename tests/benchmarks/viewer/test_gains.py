"""The paired gain of one run over another, without a browser."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory, write_jsonl
from benchmarks.compare.command import comparison
from benchmarks.compare.sides import Choice, tallies
from benchmarks.report.tables import points
from benchmarks.viewer.gains import all_gains, success_gain
from benchmarks.viewer.index import Index
from tests.benchmarks.viewer.samples import made, solved, training_run
from trainers.evaluation.intervals import Estimate


def played(share: float, *, step: int, seed: int) -> list[Trajectory]:
    dice = Random(seed)
    kinds = [solved if dice.random() < share else made for _ in range(40)]
    return [kind(task, global_step=step) for task, kind in enumerate(kinds)]


def validated(folder: Path, share: float, *, seed: int) -> Path:
    training_run(folder)
    for step in (2, 4):
        episodes = played(share * step / 4, step=step, seed=seed)
        write_jsonl(folder / "trajectories" / f"eval_{step:06d}.jsonl", episodes)
    return folder


def read(folder: Path) -> Index:
    index = Index(folder)
    index.update()
    return index


def test_the_gain_is_that_of_the_compare_command(tmp_path: Path) -> None:
    one = validated(tmp_path / "one", 0.4, seed=1)
    two = validated(tmp_path / "two", 0.7, seed=2)
    gain = success_gain(read(tmp_path), 0, 1)
    assert gain is not None
    choice = Choice(global_step=4)
    table = comparison(tallies(one, choice), tallies(two, choice), names=("one", "two"))
    assert points(Estimate(gain["gain"], gain["low"], gain["high"])) in table
    assert gain["gain"] > 0 and gain["tasks"] == 40
    assert gain["of"] == ["validation at step 4"] * 2


def test_runs_that_share_no_task_or_end_in_training_have_no_gain(tmp_path: Path) -> None:
    validated(tmp_path / "one", 0.5, seed=1)
    training_run(tmp_path / "two")  # training batches alone: other tasks at each step
    other: list[Any] = [solved(task, env_id="tests/Other-v0", global_step=4) for task in range(3)]
    write_jsonl(training_run(tmp_path / "zzz") / "trajectories" / "eval_000004.jsonl", other)
    index = read(tmp_path)
    assert [success_gain(index, 0, 1), success_gain(index, 0, 2)] == [None, None]
    assert dict(all_gains(index)) == {}
