from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentgym_envs.trajectory import Trajectory
from benchmarks.studies.horizons import (
    EPISODES_PER_STEP,
    SCHEDULES,
    curves,
    draw_curves,
    horizon_table,
    run_of,
)
from trainers.results import summarize
from wrappers.horizon import parse_schedule


def test_every_schedule_is_one_that_the_command_reads() -> None:
    assert {name: parse_schedule(text)(0) for name, text in SCHEDULES.items()} == {
        "fixed_short": 6, "fixed_long": 20, "staged": 6, "adaptive": 6,
    }  # fmt: skip


def test_the_schedules_differ_in_nothing_but_the_horizon(tmp_path: Path) -> None:
    def words(name: str) -> list[str]:
        training = list(run_of(name, 0, tmp_path).commands[0])
        training[training.index("--horizon") + 1] = ""
        return [word.replace(name, "") for word in training]

    assert len({tuple(words(name)) for name in SCHEDULES}) == 1


def write(folder: Path, name: str, won: bool, tokens: float) -> None:
    model = folder / name / "seed_0" / "model"
    model.mkdir(parents=True)
    played = [Trajectory("e", "a_1", status="terminated", success=won), Trajectory("e", "a_2")]
    summarize(played).save(folder / name / "seed_0" / "after.json")
    entries = [
        {"global_step": 1, "episodes/success": 0.25, "episodes/sampled_tokens": tokens,
         "horizon": 6.0, "step_time": 2.0},
        {"global_step": 1, "eval_success": 0.5},
        {"global_step": 2, "episodes/success": 0.5, "episodes/sampled_tokens": tokens,
         "horizon": 12.0, "step_time": 3.0},
    ]  # fmt: skip
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (model / "metrics.jsonl").write_text(text)


def test_the_table_tells_gain_tokens_time_and_the_last_horizon(tmp_path: Path) -> None:
    write(tmp_path, "start", won=False, tokens=1.0)
    write(tmp_path, "staged", won=True, tokens=100.0)
    points = curves(tmp_path / "staged")[0]
    assert [point["tokens"] for point in points] == [
        100.0 * EPISODES_PER_STEP,
        200.0 * EPISODES_PER_STEP,
    ]
    row = horizon_table(tmp_path).splitlines()[-1]
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        "staged", "50.0% (50.0% to 50.0%)", "+50.0 (+0.0 to +100.0)", "13k", "5 s", "12",
    ]  # fmt: skip
    assert draw_curves(tmp_path).stat().st_size > 1000


def test_a_study_without_its_start_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no measurement of the start"):
        horizon_table(tmp_path)
