from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from lab.studies import command, rl_alone
from lab.studies.rl_alone import VARIANTS, trained_model, training
from lab.studies.runs import Run, play_all
from tests.lab.studies.test_language_model import trained_by


@pytest.mark.parametrize("name", VARIANTS)
def test_a_training_begins_with_the_model_and_plays_128_episodes_a_step(
    name: str, tmp_path: Path
) -> None:
    (words,) = training(VARIANTS[name], "some/model", 3, tmp_path, small=False).commands
    options: dict[str, Any] = trained_by(words)
    assert options["model_name_or_path"] == "some/model" and options["seed"] == 3
    assert options["per_device_train_batch_size"] * options["gradient_accumulation_steps"] == 128
    assert ("--env_kwargs" in words) == (name == "unlisted")


def test_commands_are_told_to_stop_at_the_end_and_are_not_done(tmp_path: Path) -> None:
    sleeping = Run(tmp_path / "run", (("-n1", "import time; time.sleep(60)"),), module="timeit")
    before = time.monotonic()
    play_all([sleeping], workers=1, threads=1, seconds=0.5)
    assert time.monotonic() - before < 30 and not sleeping.is_done


@pytest.mark.full
def test_trainings_that_were_ended_are_tested_by_their_last_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["rl_alone", "--model", "tiny", "--small", "--variants", "fixed", "--seeds", "0"]
    assert command.main([*words, "--out", str(tmp_path), "--minutes", "0.001"]) == 0
    assert "as it is" in capsys.readouterr().out
    assert trained_model(tmp_path / "fixed" / "grpo" / "seed_0") is None
    assert command.main([*words, "--out", str(tmp_path)]) == 0
    assert rl_alone.VARIANTS["fixed"].name in capsys.readouterr().out
    assert (tmp_path / "fixed" / "after" / "seed_0" / "after.jsonl").is_file()
