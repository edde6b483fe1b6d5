from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentgym_envs.trajectory import Trajectory
from benchmarks.studies.horizons import (
    EPISODES_PER_STEP,
    SAVE_EVERY,
    SCHEDULES,
    STEPS,
    depth_table,
    draw_curves,
    horizon_table,
    points_of,
    run_of,
)
from benchmarks.studies.table import results_by_seed
from trainers.evaluation.summary import summarize
from wrappers.schedules import parse_schedule


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


def test_the_checkpoints_between_are_measured_at_the_long_horizon_too(tmp_path: Path) -> None:
    _, *measured = run_of("staged", 0, tmp_path).commands
    models = [words[words.index("--model") + 1] for words in measured]
    assert [Path(model).name for model in models] == ["checkpoint-6", "checkpoint-12", "model"]
    training = run_of("staged", 0, tmp_path).commands[0]
    kept = int(training[training.index("--save_total_limit") + 1])
    assert kept * SAVE_EVERY >= STEPS, "none of them is deleted before it is measured"
    turns = {words[words.index("--max_turns") + 1] for words in measured}
    assert turns == {"20"}


def write(folder: Path, name: str, won: int, *, between: int, tokens: float) -> None:
    """Write a run of two goals: `between` are won at checkpoint 6, `won` at the end."""
    own = folder / name / "seed_0"
    (own / "model").mkdir(parents=True)
    for result, wins in (("after_6.json", between), ("after.json", won)):
        played = [
            Trajectory("e", f"a_{i}", status="terminated", success=i < wins) for i in range(2)
        ]
        summarize(played).save(own / result)
    entries: list[dict[str, float]] = [{"global_step": 1, "eval_success": 0.5}]
    for step in (6, STEPS):
        entries.append(
            {"global_step": step, "episodes/success": 0.25, "episodes/sampled_tokens": tokens,
             "horizon": step, "step_time": 2.5}
        )  # fmt: skip
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (own / "model" / "metrics.jsonl").write_text(text)


def test_schedules_are_compared_at_equal_steps_and_at_equal_tokens(tmp_path: Path) -> None:
    write(tmp_path, "start", 0, between=0, tokens=1.0)
    write(tmp_path, "fixed_short", 1, between=0, tokens=100.0)
    write(tmp_path, "staged", 2, between=1, tokens=200.0)
    start = results_by_seed(tmp_path / "start")
    points = points_of(tmp_path / "staged", start)[0]
    assert [(p.step, p.tokens, p.horizon, p.success) for p in points] == [
        (0, 0.0, 0.0, 0.0),
        (6, 200.0 * EPISODES_PER_STEP, 6, 0.5),
        (STEPS, 400.0 * EPISODES_PER_STEP, STEPS, 1.0),
    ]
    header, _, _, short, staged = (
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in horizon_table(tmp_path).splitlines()
    )
    assert header[3] == "at 13k tokens"
    assert short == [
        "fixed short", "50.0% (50.0% to 50.0%)", "+50.0 (+0.0 to +100.0)", "50.0%", "13k", "5 s",
        "18",
    ]  # fmt: skip
    assert staged[3] == "50.0%", "its checkpoint of as many tokens"
    _, _, _, short, staged = depth_table(tmp_path).splitlines()
    assert short.split("|")[2].strip() == "50.0%"
    assert staged.split("|")[-2].strip() == "", "there is no run at the long horizon"
    write(tmp_path, "fixed_long", 1, between=1, tokens=300.0)
    rows = [row.split("|") for row in depth_table(tmp_path).splitlines()]
    against = {row[1].strip(): row[-2].strip() for row in rows}
    assert against["staged"] == "+50.0 (+0.0 to +100.0)"
    assert against["fixed long"] == ""
    assert draw_curves(tmp_path).stat().st_size > 1000


def test_a_study_without_its_start_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no measurement of the start"):
        horizon_table(tmp_path)
