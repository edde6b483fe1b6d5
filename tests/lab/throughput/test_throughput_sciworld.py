from __future__ import annotations

import os

import pytest

from lab.throughput.sciworld import memory_megabytes, sciworld_rows


def test_a_process_s_memory_is_read() -> None:
    assert 5 < memory_megabytes(os.getpid()) < 10_000


@pytest.mark.science
def test_steps_resets_and_memory_are_measured() -> None:
    steps, resets, memory = sciworld_rows(1, num_tasks=1, num_envs=2)
    assert steps.baseline_unit == steps.unit == "steps"
    assert resets.speed is not None and resets.speed > 0
    assert 0 < memory.notes["megabytes_together"] < 1500
    assert memory.notes["megabytes_of_one_official"] > 50
