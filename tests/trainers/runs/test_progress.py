"""The lines of a run that is silent for long."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from transformers import TrainerCallback

from agentgym_envs import Trajectory
from trainers.runs import progress as module
from trainers.runs.progress import Heartbeat, Sizes


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def begun(*, max_steps: int = 20, global_step: int = 0, **options: Any) -> tuple[Any, Any, Any]:
    """Heartbeat of a training that has begun, its clock and its state."""
    clock = Clock()
    heartbeat = Heartbeat(clock)
    fixed: dict[str, Any] = {"eval_strategy": "steps", "load_best_model_at_end": False}
    args = SimpleNamespace(gradient_accumulation_steps=8, **fixed, **options)
    state = SimpleNamespace(global_step=global_step, max_steps=max_steps, eval_steps=5)
    heartbeat._depth = 1
    heartbeat.on_train_begin(args, state, None)
    return heartbeat, clock, state


def step(heartbeat: Any, clock: Clock, state: Any, *, plays: float, learns: float) -> None:
    heartbeat.on_step_begin(heartbeat._args, state, None)
    with heartbeat.playing(f"step {state.global_step + 1}", 64, is_evaluation=False):
        clock.now += plays
    clock.now += learns
    state.global_step += 1
    heartbeat.on_step_end(heartbeat._args, state, None)


def test_a_line_says_what_is_done_and_the_time_left_of_it_and_of_the_run() -> None:
    heartbeat, clock, state = begun()
    assert heartbeat.line() == "starting; 0 of 20 steps taken"
    with heartbeat.playing("evaluation at step 0", 4, is_evaluation=True):
        clock.now += 30
        heartbeat.count(Trajectory("e", "e_0", status="terminated", success=True))
        assert heartbeat.line() == (
            "evaluation at step 0: 1 of 4 episodes, 1 won, 0 lost, 3 under way or to come, "
            "0:01:30 left; 0 of 20 steps taken"
        )
        clock.now += 30
    step(heartbeat, clock, state, plays=6, learns=4)
    heartbeat.on_step_begin(heartbeat._args, state, None)
    with heartbeat.playing("step 2", 64, is_evaluation=False):
        clock.now += 6
    for _ in range(2):
        clock.now += 5
        heartbeat.on_substep_end(heartbeat._args, state, None)
    # 19 steps of ten seconds, and evaluations at 5, 10, 15 and 20 of a minute.
    assert heartbeat.line() == (
        "step 2: learning, 2 of 8 micro-batches, 0:00:30 left; "
        "1 of 20 steps taken, about 0:07:10 left"
    )


def test_the_first_step_tells_the_whole_runs_time(capsys: pytest.CaptureFixture[str]) -> None:
    heartbeat, clock, state = begun()
    heartbeat.sizes = Sizes(lambda at: 4 if at < 4 else 8, lambda: 16, eval_turns=8)
    step(heartbeat, clock, state, plays=8, learns=2)
    # 20 steps of 10 s, or 16 of them of 20 s; 4 evaluations of a quarter of the episodes: 2 or 4 s.
    assert capsys.readouterr().out == (
        "about 0:03:28 to 0:06:16 for 20 steps and 4 evaluations at the pace of the first step, "
        "the longer where later episodes use all their turns\n"
    )
    step(heartbeat, clock, state, plays=8, learns=2)
    assert capsys.readouterr().out == ""


def test_an_evaluation_that_was_measured_is_not_guessed_and_counts_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    heartbeat, clock, state = begun(max_steps=4, global_step=1)
    with heartbeat.playing("evaluation at step 1", 4, is_evaluation=True):
        clock.now += 30
    step(heartbeat, clock, state, plays=8, learns=2)
    assert capsys.readouterr().out == (
        "about 0:01:30 for steps 2 to 4 and 1 evaluation at the pace of the first step\n"
    )


def test_lines_are_written_where_nothing_else_was_and_end_with_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LINE_SECONDS", 0.1)
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    heartbeat = Heartbeat()
    with pytest.raises(RuntimeError), heartbeat.writing(), heartbeat.writing():
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            heartbeat.on_log(None, None, None)
            time.sleep(0.01)
        assert written.getvalue() == ""
        end = time.monotonic() + 10
        while not written.getvalue() and time.monotonic() < end:
            time.sleep(0.02)
        raise RuntimeError
    lines = written.getvalue().splitlines()
    assert set(lines) == {"starting"}
    time.sleep(0.2)
    assert written.getvalue().splitlines() == lines


def test_training_and_its_evaluations_say_how_far_they_are(
    trainer_in: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINE_SECONDS", 0.02)
    lines: list[str] = []
    write = Heartbeat.line
    monkeypatch.setattr(Heartbeat, "line", lambda self: lines.append(write(self)) or lines[-1])

    class Slow(TrainerCallback):  # type: ignore[misc]
        def on_substep_end(self, *_: Any, **_kw: Any) -> None:
            time.sleep(0.1)

    trainer = trainer_in(
        max_steps=2, eval_strategy="steps", eval_steps=1, trainer={"callbacks": [Slow()]}
    )
    count = trainer.heartbeat.count
    trainer.rollout.on_trajectory = lambda one: (count(one), time.sleep(0.03))
    trainer.train()
    assert any(line.startswith("step 1: ") and " of 8 episodes, " in line for line in lines), lines
    assert any(
        line.startswith("step 2: learning, ") and " of 2 micro-batches" in line for line in lines
    ), lines
    assert any("; 1 of 2 steps taken, about 0:00:0" in line for line in lines)
    lines.clear()
    time.sleep(0.1)
    assert lines == []
