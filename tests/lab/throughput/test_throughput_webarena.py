from __future__ import annotations

import pytest

pytest.importorskip("starlette")

from lab.throughput.webarena import webarena_rows


@pytest.mark.slow
def test_steps_resets_and_many_episodes_have_rows() -> None:
    rows = list(webarena_rows(1, num_tasks=2, num_parallel=3, with_chromium=False))
    assert [row.unit for row in rows] == ["steps", "resets", "steps"]
    assert all(row.rate > 0 and row.baseline == "" for row in rows)
    assert rows[0].notes["tasks"] == 2
    assert 0 <= rows[2].notes["megabytes_per_episode"] < 100


@pytest.mark.browser
def test_chromium_is_measured_beside() -> None:
    rows = list(webarena_rows(1, num_tasks=2, num_parallel=1, with_chromium=True))
    assert [row.baseline for row in rows] == ["in Chromium", "in Chromium", ""]
    assert all(row.speed is not None and row.speed > 0 for row in rows[:2])
