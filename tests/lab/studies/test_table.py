from __future__ import annotations

from pathlib import Path

import pytest

from agentgym_envs.trajectory import Trajectory
from lab.studies.table import gain_over_seeds, learning_table
from trainers.evaluation.results import EvalResult
from trainers.evaluation.summary import summarize
from trainers.options.errors import UsageError


def result(successes: dict[str, list[bool]]) -> EvalResult:
    return summarize(
        [
            Trajectory("toy/Letters-v0", task, status="terminated", success=won, score=float(won))
            for task, outcomes in successes.items()
            for won in outcomes
        ]
    )


def test_the_gain_is_paired_by_task_and_averaged_over_seeds() -> None:
    before = {0: result({"a_1": [False, False], "a_2": [True, False]})}
    before[1] = result({"a_1": [False, False], "a_2": [False, False]})
    after = {0: result({"a_1": [True, True], "a_2": [True, True]})}
    after[1] = result({"a_1": [False, False], "a_2": [True, True]})
    gain = gain_over_seeds(before, after)
    # a_1: +1 and 0; a_2: +0.5 and +1.
    assert gain.value == pytest.approx(0.625)
    assert (gain.low, gain.high) == (0.5, 0.75)


def test_a_gain_needs_a_seed_measured_twice() -> None:
    one = result({"a_1": [True]})
    with pytest.raises(ValueError, match="no seed"):
        gain_over_seeds({0: one}, {1: one})


def test_the_table_has_a_row_per_algorithm_the_best_first(tmp_path: Path) -> None:
    for name, won in (("start", [False, False]), ("weak", [True, False]), ("strong", [True, True])):
        folder = tmp_path / name / "seed_0"
        folder.mkdir(parents=True)
        result({"a_1": won, "a_2": won}).save(folder / "after.json")
    lines = learning_table(tmp_path).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["(the start)", "strong", "weak"]
    assert "+50.0 points" in lines[-1]
    assert "0.0%" in lines[2]


def test_a_study_without_its_start_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no measurement of the start"):
        learning_table(tmp_path)


def test_a_study_without_its_start_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no measurement of the start yet"):
        learning_table(tmp_path)
