from __future__ import annotations

import pytest

pytest.importorskip("torch")

from lab.throughput.measure import Stopwatch
from lab.throughput.updates import Case, Update, play, update_rows

SMALL = Case(goals=2, group=2, turns=2, rows_per_pass=2, most_repeats=1)


@pytest.mark.slow
def test_both_sides_take_the_same_step() -> None:
    played = play(SMALL)
    played = played[::2] + played[1::2]  # unlike episodes in a group: like ones have no gradient
    for number, trajectory in enumerate(played):
        trajectory.success = bool(number % 2)
        trajectory.turns[-1].reward = float(number % 2)
    sides = [Update(played, SMALL, stock=stock) for stock in (False, True)]
    for side in sides:
        side.run(Stopwatch())
    assert sides[0].gradients[0] > 0
    assert sides[0].gradients == pytest.approx(sides[1].gradients, rel=1e-3)


@pytest.mark.slow
def test_both_sides_count_the_same_tokens() -> None:
    (row,) = update_rows(1, case=SMALL)
    assert row.unit == row.baseline_unit == "tokens"
    assert row.notes["episodes"] == 4
