"""Steps that rounding swallows are named, and the share of changed weights is logged on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.trainers.toys import make_model
from trainers.runs.folder import read_metrics
from trainers.runs.health import CHANGED

LOST = "the trained weights are bfloat16"


@pytest.mark.parametrize(
    ("dtype", "learning_rate", "warned", "least", "most"),
    [
        (torch.bfloat16, 1e-6, True, 0.0, 0.1),
        (torch.bfloat16, 1e-2, False, 0.8, 1.0),
        (torch.float32, 1e-6, False, 0.9, 1.0),
    ],
)
def test_a_step_that_16_bits_round_away_is_named(
    trainer_in: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    dtype: torch.dtype,
    learning_rate: float,
    warned: bool,
    least: float,
    most: float,
) -> None:
    trainer = trainer_in(
        model=make_model().to(dtype), learning_rate=learning_rate, log_weight_changes=True,
        lr_scheduler_type="constant",
    )  # fmt: skip
    trainer.train()
    assert (LOST in caplog.text) == warned
    shares = [e[CHANGED] for e in read_metrics(trainer.args.output_dir) if CHANGED in e]
    assert len(shares) >= 2 and least <= shares[1] <= most


def test_nothing_is_logged_unasked(trainer_in: Callable[..., Any]) -> None:
    trainer = trainer_in(max_steps=1)
    trainer.train()
    assert not any(CHANGED in entry for entry in read_metrics(trainer.args.output_dir))
