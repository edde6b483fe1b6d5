from __future__ import annotations

import pytest

from lab.throughput.requests import Case, request_rows


@pytest.mark.slow
def test_both_sides_play_the_same_turns_and_apart_they_need_less_time() -> None:
    (row,) = request_rows(1, cases=(Case(0.1, episodes=8, turns=6, max_requests=8),))
    assert row.unit == row.baseline_unit == "turns"
    ours, theirs = map(float, row.notes["seconds"].split(" against "))
    assert ours < theirs
    assert row.notes["least_seconds"] >= 0.6
