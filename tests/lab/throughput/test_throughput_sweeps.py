"""How many requests a sweep has under way is measured, and they are nearly all that it may have."""

import pytest

from lab.throughput.sweeps import Case, sweep_rows


@pytest.mark.slow
def test_a_sweeps_workers_keep_nearly_all_requests_under_way_that_are_allowed():
    # Batches of half the episodes that may be under way, whose ends would leave half of them idle.
    case = Case(0.4, workers=2, samples=2, turns=1, batch_size=4, max_requests=16)
    (row,) = sweep_rows(1, cases=(case,))
    assert row.rate > 0
    mean, _, most = str(row.notes["under_way"]).partition(" of ")
    assert int(most) == 16
    assert 10 < float(mean) <= 16  # a batch at a time has 8 at most; a busy machine answers late
