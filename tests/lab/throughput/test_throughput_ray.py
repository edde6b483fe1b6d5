"""Ray's slots are measured beside the process backend's."""

from __future__ import annotations

import pytest

from lab.throughput.vectors import ray_rows


@pytest.mark.ray
def test_slots_alone_and_together_in_an_actor_are_measured_against_processes() -> None:
    pytest.importorskip("ray", reason='needs Ray: pip install "agentgym-envs[ray]"')
    rows = list(ray_rows(1, num_envs=2))
    assert [row.name for row in rows] == [
        f"TextVectorEnv, ray, 2 slots, {envs} an actor" for envs in (1, 2)
    ]
    for row in rows:
        assert row.baseline == "TextVectorEnv, process, 2 slots"
        assert row.baseline_rate is not None and 0 < row.rate
