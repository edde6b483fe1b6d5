from __future__ import annotations

import pytest

pytest.importorskip("torch")

from benchmarks.throughput.measure import Stopwatch
from benchmarks.throughput.updates import Case, _Update, play, update_rows

SMALL = Case(goals=2, group=2, turns=2, rows_per_pass=2, most_repeats=1)


def test_both_sides_take_the_same_step() -> None:
    played = play(SMALL)
    for number, trajectory in enumerate(played):
        trajectory.success = bool(number % 2)
        trajectory.turns[-1].reward = float(number % 2)
    sides = [_Update(played, SMALL, stock=stock) for stock in (False, True)]
    for side in sides:
        side.run(Stopwatch())
    assert sides[0].losses == pytest.approx(sides[1].losses, abs=1e-5)


def test_both_sides_count_the_same_tokens() -> None:
    (row,) = update_rows(1, case=SMALL)
    assert row.unit == row.baseline_unit == "tokens"
    assert row.notes["episodes"] == 4
