"""Code of users' own in our trainers: losses, metrics, callbacks and evaluations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from trainers.evaluation import validation
from trainers.trl_bridge.parts import StateFile


class Raises(TrainerCallback):  # type: ignore[misc]
    """A user's callback with an error."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        raise RuntimeError("the callback's own")


def test_a_loss_that_asks_trls_nothing_trains(trainer_in: Callable[..., Any]) -> None:
    trainer = trainer_in(max_steps=1)

    def loss(model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        outputs = model(input_ids=inputs["prompt_ids"], attention_mask=inputs["prompt_mask"])
        return outputs.logits.float().square().mean()

    trainer._compute_loss = loss
    trainer.train()
    assert trainer.state.log_history[0]["loss"] > 0


def test_a_users_loss_of_a_pass_is_called_where_no_row_has_an_advantage(
    trainer_in: Callable[..., Any],
) -> None:
    def equal(prompts: list[str], **_columns: Any) -> list[float]:
        return [1.0] * len(prompts)

    trainer = trainer_in(max_steps=1, trainer={"reward_funcs": equal})
    of_policy = trainer.loss_of_pass
    trainer.loss_of_pass = lambda model, inputs: of_policy(model, inputs) + 1.0
    trainer.train()
    assert trainer.state.log_history[0]["loss"] == pytest.approx(2.0), "of two micro-batches"


def test_a_metric_named_like_trls_of_rows_is_logged(trainer_in: Callable[..., Any]) -> None:
    def pays(completions: list[str], log_metric: Any, **_columns: Any) -> list[float]:
        log_metric("completions/quality", 0.5)
        return [float(len(completion)) for completion in completions]

    trainer = trainer_in(max_steps=2, logging_steps=2, trainer={"reward_funcs": pays})
    trainer.train()
    logged = trainer.state.log_history[0]
    assert [name for name in logged if name.startswith("completions/")] == ["completions/quality"]


def test_an_error_of_a_users_callback_keeps_its_kind(trainer_in: Callable[..., Any]) -> None:
    trainer = trainer_in(trainer={"callbacks": [Raises()]})
    with pytest.raises(RuntimeError, match="^the callback's own$"):
        trainer.train()


def test_the_time_of_an_evaluation_does_not_hold_the_play_that_it_waits_for(
    trainer_in: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, seconds = trainer_in(eval_strategy="steps", eval_steps=1), [0.0]
    clock = SimpleNamespace(perf_counter=lambda: seconds[0])
    monkeypatch.setattr(validation, "time", clock)

    @contextmanager
    def pause() -> Iterator[None]:
        seconds[0] += 100.0
        yield

    trainer.validation._pause = pause
    assert trainer.evaluate()["eval_runtime"] == 0.0


def test_a_checkpoint_without_a_state_begins_it_anew_and_warns(
    trainer_in: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = trainer_in(task_sampling="learnable", rollout={"horizon": "scaling:1,2@1"})
    tasks = trainer.learnable_tasks
    (part,) = (part for part in trainer.parts if getattr(part, "_owner", None) is tasks)
    tasks.record([("letters_1", True)])
    part.load(tmp_path)
    assert tasks.success == {}
    (record,) = caplog.records
    assert record.getMessage() == f"{tmp_path} holds no task_sampling.json; its state is reset"
    caplog.clear()
    part.load(None)
    for other in trainer.parts:  # a schedule of the step alone has no state
        if isinstance(other, StateFile) and other is not part:
            other.load(tmp_path)
    assert not caplog.records
