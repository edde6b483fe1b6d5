from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentgym_envs.trajectories.trajectory import Trajectory
from lab.studies.results import Results, gain_over_seeds, results_by_seed
from lab.studies.study import load_study
from lab.studies.table import tables_of
from trainers.evaluation.results import EvalResult
from trainers.evaluation.summary import summarize


def result(successes: Mapping[str, list[bool]]) -> EvalResult:
    return summarize(
        [
            Trajectory("toy/Letters-v0", task, status="terminated", success=won, score=float(won))
            for task, outcomes in successes.items()
            for won in outcomes
        ]
    )


def write(folder: Path, won: int, *, of: int, name: str = "after.json") -> None:
    """Write the result of a run on so many tasks, of which the first ones are won."""
    folder.mkdir(parents=True, exist_ok=True)
    result({f"a_{i}": [i < won] for i in range(of)}).save(folder / name)


def cells(name: str, folder: Path, table: int = 0) -> list[list[str]]:
    """Return the cells of a study's table, the header first."""
    lines = tables_of(Results(load_study(name), folder)).split("\n\n")[table].splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if "--" not in line
    ]


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


def test_of_a_run_that_was_cut_the_last_checkpoint_counts(tmp_path: Path) -> None:
    own = tmp_path / "seed_4"
    for step, won in ((100, 2), (20, 1)):
        write(own / f"checkpoint-{step}", won, of=4)
    assert results_by_seed(tmp_path)[4].success == 0.5
    write(own, 4, of=4)
    assert results_by_seed(tmp_path)[4].success == 1.0


def test_nothing_is_measured_at_first(tmp_path: Path) -> None:
    assert not Results(load_study("learning"), tmp_path).is_measured


def test_algorithms_are_in_the_order_of_their_gains(tmp_path: Path) -> None:
    for name, won in (("start", 0), ("grpo", 1), ("ppo", 2)):
        write(tmp_path / name / "seed_0", won, of=2)
    header, start, *rows = cells("learning", tmp_path)
    assert header == ["algorithm", "seed 0", "mean", "gain", "95% interval"]
    assert start == ["(the start)", "0.0%", "0.0%", "", ""]
    assert [row[:4] for row in rows] == [
        ["ppo", "100.0%", "100.0%", "+100.0 points"],
        ["grpo", "50.0%", "50.0%", "+50.0 points"],
    ]


def test_methods_are_compared_with_grpo_seed_by_seed(tmp_path: Path) -> None:
    for seed, start, grpo, ppo in ((0, 0, 1, 2), (1, 1, 3, 3), (2, 0, 2, 4)):
        for name, won in (("start", start), ("grpo", grpo), ("ppo", ppo)):
            write(tmp_path / name / f"seed_{seed}", won, of=4)
    write(tmp_path / "empg" / "seed_1", 2, of=4)
    header, *rows = cells("credit", tmp_path)
    assert header[3:6] == ["seed 0 - grpo", "seed 1 - grpo", "seed 2 - grpo"]
    by_name = {row[0]: row[1:] for row in rows}
    assert list(by_name) == ["(the start)", "grpo", "empg", "ppo"]
    assert by_name["(the start)"][0].startswith("8.3% (")
    assert by_name["(the start)"][1:] == [""] * 5
    assert by_name["ppo"][0].startswith("75.0% (")
    # 2 of 4 tasks more than the start with seeds 0 and 1, and 4 with seed 2.
    assert by_name["ppo"][1].startswith("+66.7 (")
    # 25 points, with a deviation of 25 and t = 4.303 for three seeds.
    assert by_name["ppo"][2:] == ["+25.0", "+0.0", "+50.0", "+25.0 (-37.1 to +87.1)"]
    assert by_name["grpo"][2:] == [""] * 4
    assert by_name["empg"][2:] == ["", "-25.0", "", ""]


def write_horizon(folder: Path, name: str, won: int, *, between: int, tokens: float) -> None:
    """Write a run on two tasks: `between` are won at checkpoint 6, `won` at the end."""
    own = folder / name / "seed_0"
    write(own, won, of=2)
    write(own, between, of=2, name="after_6.json")
    entries: list[dict[str, float]] = [{"global_step": 1, "eval_success": 0.5}]
    for step in (6, 18):
        entries.append(
            {"global_step": step, "episodes/success": 0.25, "episodes/sampled_tokens": tokens,
             "horizon": step, "step_time": 2.5}
        )  # fmt: skip
    (own / "model").mkdir()
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (own / "model" / "metrics.jsonl").write_text(text)


def test_schedules_are_compared_at_equal_steps_and_at_equal_tokens(tmp_path: Path) -> None:
    write_horizon(tmp_path, "start", 0, between=0, tokens=1.0)
    write_horizon(tmp_path, "fixed_short", 1, between=0, tokens=100.0)
    write_horizon(tmp_path, "staged", 2, between=1, tokens=200.0)
    results = Results(load_study("horizons"), tmp_path)
    points = results.points(results.trained["staged"])[0]
    assert [(p.step, p.tokens, p.horizon, p.success) for p in points] == [
        (0, 0.0, 0.0, 0.0),
        (6, 200.0 * 64, 6, 0.5),
        (18, 400.0 * 64, 18, 1.0),
    ]
    header, _, short, staged = cells("horizons", tmp_path)
    assert header[3] == "at 13k tokens"
    assert short == [
        "fixed short", "50.0% (50.0% to 50.0%)", "+50.0 (+0.0 to +100.0)", "50.0%", "13k", "5 s",
        "18",
    ]  # fmt: skip
    assert staged[3] == "50.0%", "its checkpoint of as many tokens"
    _, _, short, staged = cells("horizons", tmp_path, table=1)
    assert short[1] == "50.0%"
    assert staged[-1] == "", "there is no run at the long horizon"
    write_horizon(tmp_path, "fixed_long", 1, between=1, tokens=300.0)
    against = {row[0]: row[-1] for row in cells("horizons", tmp_path, table=1)}
    assert against["staged"] == "+50.0 (+0.0 to +100.0)"
    assert against["fixed long"] == ""


def test_the_table_says_what_is_measured_and_what_is_not(tmp_path: Path) -> None:
    write(tmp_path / "fetched" / "seed_0", 0, of=2)
    assert cells("language_model", tmp_path)[2] == ["after SFT", "", "not measured yet", "", ""]
    for name, seeds, won in (("start", [0, 1], 0), ("grpo", [1], 2)):
        for seed in seeds:
            write(tmp_path / name / f"seed_{seed}", won, of=2)
    assert cells("language_model", tmp_path)[1:] == [
        ["as it was fetched", "0.0%", "", "0.0%", "", ""],
        ["after SFT", "0.0%", "0.0%", "0.0%", "", ""],
        ["after GRPO", "", "100.0%", "100.0%", "+100.0 points", "+34.2 to +100.0"],
    ]


def test_staleness_is_read_from_the_log(tmp_path: Path) -> None:
    for name, won in (("start", 1), ("K2", 2)):
        own = tmp_path / name / "seed_0"
        write(own, won, of=2)
        (own / "model").mkdir()
        entry = {"global_step": 1, "episodes/success": 0.5, "step_time": 3, "async/staleness": 2}
        (own / "model" / "metrics.jsonl").write_text(json.dumps(entry) + "\n")
    _, row = cells("staleness", tmp_path)
    assert row[:2] == ["K = 2", "100.0% (1)"] and row[3:] == ["2.00", "3.0 s"]
