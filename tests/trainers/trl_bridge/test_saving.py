"""What is warned of when a checkpoint is loaded, and what is not."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers.trainer import logger

from trainers.models.loading import load_policy
from trainers.options.configs import ModelArguments


def test_a_tied_weight_is_not_missing_and_another_is(
    trainer_in: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model, _ = load_policy(ModelArguments(model_name_or_path="tiny"))
    trainer = trainer_in(model=model)
    trainer.save_model(str(tmp_path / "best"))
    trainer.state.best_model_checkpoint = str(tmp_path / "best")
    logger.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.WARNING):
            trainer._load_best_model()
            assert "missing keys" not in caplog.text
            missing = ["lm_head.weight", "model.norm.weight"]
            trainer._issue_warnings_after_load(type(_result())(missing, []))
            assert (
                "missing keys in the checkpoint model loaded: ['model.norm.weight']" in caplog.text
            )
    finally:
        logger.removeHandler(caplog.handler)


def test_a_run_of_another_number_of_processes_is_told_that_it_differs(
    trainer_in: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = trainer_in()
    own, other = tmp_path / "own", tmp_path / "other"
    trainer._note_step()
    for folder in (own, other):
        folder.mkdir()
        trainer._save_rng_state(str(folder))
    (other / "rng_state.pth").rename(other / "rng_state_0.pth")
    (other / "rng_state_1.pth").write_bytes((other / "rng_state_0.pth").read_bytes())
    for checkpoint in (None, str(own)):
        trainer._load_rng_state(checkpoint)
    assert not caplog.records
    trainer._load_rng_state(str(other))
    assert f"{other} was saved by 2 process(es) and this run has 1" in caplog.text


def test_the_random_numbers_of_any_accelerator_are_those_of_the_last_step(
    trainer_in: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = {"present": [torch.zeros(1)]}
    device = SimpleNamespace(
        get_rng_state_all=lambda: states["present"],
        set_rng_state_all=lambda state: states.update(present=state),
    )
    trainer = trainer_in()
    monkeypatch.setattr(torch, "get_device_module", lambda: device)
    trainer._note_step()
    amid = states["present"] = [torch.ones(1)]
    saved = []
    save = torch.save
    monkeypatch.setattr(torch, "save", lambda *args: saved.append(states["present"]) or save(*args))
    trainer._save_rng_state(str(tmp_path))
    assert saved == [[torch.zeros(1)]] and states["present"] is amid


def _result() -> Any:
    """Return what `load_state_dict` returns."""
    from torch import nn

    layer = nn.Linear(1, 1)
    return layer.load_state_dict(layer.state_dict())
