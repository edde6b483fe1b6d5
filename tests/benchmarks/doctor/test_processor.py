"""How fast the processor multiplies, measured here and as other machines would have it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from benchmarks.doctor.checks import Status
from benchmarks.doctor.processor import judged_processor, processor


@pytest.mark.skipif(find_spec("torch") is None, reason="needs the train extra")
def test_this_processor_is_measured() -> None:
    finding = processor()
    assert finding.status in (Status.WORKS, Status.WARNING)
    assert "times as fast as float32" in finding.text


def test_threads_that_slow_each_other_down_are_told_of() -> None:
    finding = judged_processor({1: 100, 2: 20}, bfloat16=430, default=2, load=9.04)
    assert finding.status is Status.WARNING
    assert finding.remedy == "export OMP_NUM_THREADS=1"
    assert finding.text == (
        "bfloat16 is 4.3 times as fast as float32; 2 threads 0.2 times as fast as 1 at a load of "
        "9.0; torch takes 2 by itself"
    )


def test_threads_that_lie_idle_are_told_of() -> None:
    finding = judged_processor({1: 100, 4: 195, 8: 380}, bfloat16=50, default=1, load=None)
    assert finding.remedy == "export OMP_NUM_THREADS=8"


@pytest.mark.parametrize("default", [1, 2])
def test_a_small_difference_is_no_warning(default: int) -> None:
    finding = judged_processor({1: 100, 2: 105}, bfloat16=100, default=default, load=0.1)
    assert (finding.status, finding.remedy) == (Status.WORKS, None)
