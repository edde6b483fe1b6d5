"""The learning part, ended at a limit in the middle of GRPO, goes on from a checkpoint."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from lab import processes
from lab.gpu import learning, runner
from lab.gpu.parts import Part, Reading, Setting
from lab.gpu.records import Status
from lab.processes import Child
from lab.studies.runs import DONE, LOG
from trainers.runs.folder import read_metrics

PLAN = replace(
    learning.SMALL,
    grpo=(
        *("--max_steps", "12", "--learning_rate", "1e-6", "--horizon", "fixed:8"),
        *("--num_generations", "2", "--per_device_train_batch_size", "2"),
        *("--gradient_accumulation_steps", "1", "--eval_strategy", "no"),
    ),
)
"""Enough steps for a limit to come between."""


def learning_slowly(setting: Setting, part: str) -> Iterator[Reading]:
    learning.SMALL = PLAN
    yield from learning.learning(setting, part)


PART = Part("learning", "learns", f"{__name__}:learning_slowly", 600)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_training_that_a_limit_ended_goes_on_from_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))  # without smollm2
    monkeypatch.setattr(processes, "GRACE", 120.0)  # for a busy CPU
    work = tmp_path / "work" / "learning"
    words = (PART.name, PART.target, str(tmp_path), "small")
    child = Child([sys.executable, "-m", "lab.gpu.child", *words], log=tmp_path / "log.txt")
    with child:
        while len(read_metrics(work / "grpo")) < 2:
            assert not child.has_ended
            time.sleep(0.1)
    assert list((work / "grpo").glob("checkpoint-*"))
    assert not (work / "reinforcing" / DONE).exists()
    assert (tmp_path / "learning_curve.csv").is_file()  # what there is so far
    record = runner.run_part(PART, tmp_path, small=True, seconds=600)
    assert record.status == Status.DONE, record.reason
    assert "resuming from" in (work / "reinforcing" / LOG).read_text()
    steps = [entry["global_step"] for entry in read_metrics(work / "grpo") if "loss" in entry]
    assert steps == [*range(1, 13)]
    assert len(record.readings) == 3
