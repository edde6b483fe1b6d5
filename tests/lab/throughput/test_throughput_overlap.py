from __future__ import annotations

import pytest

from lab.throughput.ready_share import SHARES, simulate, speeds

pytest.importorskip("torch")

from lab.throughput.overlap import Case, Delay, overlap_rows


@pytest.mark.slow
def test_both_sides_sample_the_same_tokens_and_tell_their_batches() -> None:
    (row,) = overlap_rows(1, cases=(Case(0.5, episodes=3, turns=2, tokens=2),))
    assert row.unit == row.baseline_unit == "tokens"
    assert row.speed is not None
    assert row.notes["rows_per_call"].endswith(" against 3")
    assert row.notes["mean_delay_ms"] > 0


def test_delays_are_the_same_every_time_and_have_their_mean() -> None:
    delay = Delay(0.2)
    drawn = [delay.of(task, turn) for task in range(100) for turn in range(50)]
    assert drawn[:50] == [delay.of(0, turn) for turn in range(50)]
    assert sum(drawn) / len(drawn) == pytest.approx(0.2, rel=0.1)
    assert sorted(drawn)[-50] > 5 * 0.2


def test_a_simulated_batch_in_lockstep_waits_for_its_slowest() -> None:
    # Without spread every call is for all that still play, and every delay takes its mean.
    alone = simulate(1.0, fixed=1.0, mean=2.0, spread=0.0, seed=0, episodes=1)
    turns = (alone - 2.0) / 3.0
    assert turns == pytest.approx(round(turns))
    assert 2 <= turns <= 18


def test_not_waiting_is_faster_where_delays_are_long_and_unequal() -> None:
    gains = speeds(fixed=0.5, mean=1.0, spread=1.5, seeds=range(2))
    assert gains[SHARES.index(1.0)] == 1.0
    assert gains[SHARES.index(0.25)] > 2.0
