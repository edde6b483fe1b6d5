from __future__ import annotations

import pytest

pytest.importorskip("torch")

from lab.throughput.viewer import viewer_rows


@pytest.mark.slow
def test_the_index_is_measured_alone() -> None:
    (row,) = viewer_rows(1, num_episodes=300, with_chromium=False)
    assert row.unit == "trajectories" and row.rate > 0
    assert row.notes["megabytes"] >= 1
    assert row.notes["seconds"] == pytest.approx(300 / row.rate, abs=0.01)


@pytest.mark.browser
def test_the_page_is_measured_from_its_address_to_the_whole_list() -> None:
    read, shown = viewer_rows(1, num_episodes=300, with_chromium=True)
    assert 0 < shown.rate < read.rate
    assert shown.notes["seconds_until_the_command_listens"] > 0
