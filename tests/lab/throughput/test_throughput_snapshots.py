from __future__ import annotations

import pytest

from lab.throughput.snapshots import SCENARIOS, snapshot_rows


def test_every_scenario_has_a_row_of_copies_beside_its_resets() -> None:
    pytest.importorskip("rapidfuzz")  # WebShop
    rows = list(snapshot_rows(1, num_tasks=2))
    assert [row.name.split(",")[0] for row in rows] == list(SCENARIOS)
    for row in rows:
        assert (row.unit, row.baseline_unit) == ("copies", "resets")
        assert row.notes["turns_played_again"] >= 1
        assert row.speed is not None and row.speed > 0
