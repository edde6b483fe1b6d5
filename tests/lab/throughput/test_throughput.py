from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.throughput import command
from lab.throughput.environments import (
    alfworld_rows,
    babyai_rows,
    maze_rows,
    sql_rows,
    textcraft_rows,
    webshop_rows,
    wordle_rows,
)
from lab.throughput.measure import Row, Side, Stopwatch, compare, machine, num_cores
from lab.throughput.vectors import vector_rows


def takes(seconds: float, units: int = 1, log: list[float] | None = None) -> Side:
    """Return a side whose work takes so long without taking it."""

    def work(watch: Stopwatch) -> None:
        if log is not None:
            log.append(seconds)
        watch.seconds += seconds
        watch.units += units

    return Side("pretending", "naps", work)


def test_only_the_time_inside_running_counts() -> None:
    watch = Stopwatch(units=10)
    start = time.perf_counter()
    time.sleep(0.02)
    with watch.running():
        time.sleep(0.01)
    assert 0.01 <= watch.seconds <= time.perf_counter() - start - 0.02
    assert watch.rate == pytest.approx(10 / watch.seconds)


def test_speed_is_the_baselines_time_over_ours() -> None:
    row = compare("nap", takes(0.01), takes(0.03), repeats=3, why="tired")
    assert row.speed == pytest.approx(3)
    assert row.speed_range == pytest.approx((3, 3))
    assert row.rate == pytest.approx(100)
    assert row.notes == {"why": "tired"}


def test_both_sides_take_turns_at_being_first() -> None:
    log: list[float] = []
    compare("nap", takes(0.001, log=log), takes(0.002, log=log), repeats=2)
    warm_up, timed = log[:2], log[2:]
    assert warm_up == [0.001, 0.002]
    assert timed == [0.001, 0.002, 0.002, 0.001]


def test_a_side_alone_has_a_rate_and_no_speed() -> None:
    row = compare("nap", takes(0.001, units=5), repeats=1, warm_up=False)
    assert row.rate == pytest.approx(5000)
    assert row.speed is None


def test_the_machine_is_described() -> None:
    stamp = machine()
    assert stamp["cpu"]
    assert stamp["cores"] >= 1
    assert "gymnasium" in stamp["versions"]


def test_babyai_plays_the_same_moves_on_the_bare_simulator() -> None:
    expert, random, resets = babyai_rows(1, num_tasks=3)
    assert expert.baseline_unit == random.baseline_unit == "moves"
    assert expert.notes["moves_per_step"] >= 1
    assert all(row.speed is not None and row.speed > 0 for row in (expert, random, resets))


@pytest.mark.slow
def test_textcraft_has_a_row_for_steps_and_two_for_resets_in_each_of_its_books() -> None:
    assert [row.unit for row in textcraft_rows(1)] == ["resets", "resets", "steps"] * 2


@pytest.mark.slow
def test_alfworld_has_rows_for_steps_and_resets() -> None:
    rows = list(alfworld_rows(1))
    assert [row.unit for row in rows] == ["steps", "steps", "resets"]
    assert all(row.rate > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [maze_rows, sql_rows, wordle_rows])
def test_the_small_environments_have_a_row_for_resets_and_one_for_steps(
    rows: Callable[[int], Iterator[Row]],
) -> None:
    measured = list(rows(1))
    assert [row.unit for row in measured] == ["resets", "steps"]
    assert all(row.rate > 0 for row in measured)


def test_webshop_has_a_row_for_resets_and_one_for_steps() -> None:
    pytest.importorskip("rapidfuzz")
    assert [row.unit for row in webshop_rows(1)] == ["resets", "steps"]


def test_every_backend_of_the_vector_is_measured() -> None:
    rows = list(vector_rows(1, num_envs=2))
    assert [row.name.split(", ")[1] for row in rows] == ["sync", "thread", "process"]
    assert all("own_microseconds_per_step" in row.notes for row in rows)


@pytest.mark.slow
def test_rollouts_with_and_without_the_cache_sample_the_same_tokens() -> None:
    pytest.importorskip("torch")
    from lab.throughput.rollouts import Case, rollout_rows

    cases = (Case(2, episodes=2), Case(2, episodes=2, repeats_task=True))
    short, long = rollout_rows(1, cases=cases)
    assert short.unit == short.baseline_unit == "tokens"
    assert short.rate > 0
    assert long.notes["history_tokens"] > short.notes["history_tokens"]


@pytest.mark.slow
def test_the_command_prints_a_table_and_writes_the_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    path = tmp_path / "runs" / "speed.json"
    status = command.main(["--only", "textcraft", "--repeats", "1", "--out", str(path)])
    assert status == 0
    assert "| TextCraft, resets " in capsys.readouterr().out
    record = json.loads(path.read_text())
    assert record["machine"]["python"]
    assert [row["group"] for row in record["rows"]] == ["textcraft"] * 6


def test_a_row_without_a_baseline_leaves_its_cells_empty() -> None:
    rows = [
        Row("a", "alone", "steps", 1234.5),
        Row("a", "both", "steps", 10.0, "bare", "moves", 20.0, 0.5, (0.4, 0.6)),
    ]
    lines = command.speed_table(rows).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "alone", "1,234 steps", "", "", "", "",
    ]  # fmt: skip
    assert "0.50 (0.40 to 0.60)" in lines[3]


@pytest.mark.parametrize("argv", [["--only", "chess"], ["--repeats", "0"]])
def test_a_mistake_on_the_command_line_is_told(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(argv)
    assert argv[0].strip("-") in capsys.readouterr().err


def test_the_cores_are_those_that_this_process_may_use() -> None:
    count = num_cores()
    assert count is not None and 1 <= count <= (os.cpu_count() or 1)
