"""Progress of a training run: a line per log entry, a heartbeat, and estimates of time.

All metrics are in `metrics.jsonl` and go to `--report_to`. `trainers.metrics` says which are shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread
from typing import Any

from tqdm.auto import tqdm
from transformers import ProgressCallback, TrainerCallback
from transformers.utils import logging as transformers_logging

from agentgym_envs.core.text import counted
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.metrics import LINE, Metric, number
from trainers.runs.progress_bar import LINE_SECONDS, EpisodeProgress

_RECENT = 10
"""Steps whose mean time estimates that of further ones."""


@dataclass
class Sizes:
    """The sizes on which the time of a run depends beside its steps.

    Attributes:
        horizon: the turn horizon of the episodes of an optimizer step.
        eval_episodes: episodes of an evaluation.
        eval_turns: their turn limit.
    """

    horizon: Callable[[int], float] = lambda _step: 1.0
    eval_episodes: Callable[[], int] = lambda: 0
    eval_turns: int = 1


class Heartbeat(TrainerCallback):  # type: ignore[misc]
    """Writes a line where a run wrote none for half a minute, and an estimate of its whole time.

    Training and evaluations run within `writing`, and play within `playing`, whose trajectories go
    to `count`. A thread writes to the standard error.

    Args:
        clock: the time in seconds.

    Attributes:
        is_shown: lines are written; of several processes the first one's.
        sizes: for the estimate.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_shown = True
        self.sizes = Sizes()
        self._clock = clock
        self._written = 0.0
        self._depth = 0
        self._state: Any = None
        self._args: Any = None
        self._name = "starting"
        self._progress: EpisodeProgress | None = None
        self._passes: tuple[int, int, float] | None = None
        self._step_began = 0.0
        self._steps: list[float] = []
        self._play_s = self._eval_s = 0.0
        self._num_played = 0

    # The present work -------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write lines until the end, however it comes."""
        self._depth += 1
        if self._depth > 1 or not self.is_shown:
            try:
                yield
            finally:
                self._depth -= 1
            return
        self._written = self._clock()
        is_over = Event()
        writer = Thread(target=self._write_lines, args=(is_over,), daemon=True, name="heartbeat")
        writer.start()
        try:
            yield
        finally:
            self._depth -= 1
            is_over.set()
            writer.join()

    @contextmanager
    def playing(self, name: str, num_episodes: int, *, is_evaluation: bool) -> Iterator[None]:
        """Show the progress of episodes, of a training batch or an evaluation, under a name."""
        began, before = self._clock(), self._name
        self._name, self._progress = name, EpisodeProgress({name: num_episodes}, clock=self._clock)
        try:
            yield
        finally:
            self._name, self._progress = before, None
        seconds = self._clock() - began
        if is_evaluation:
            self._eval_s = seconds
        else:
            self._play_s, self._num_played = seconds, num_episodes
            self._passes = (0, self._args.gradient_accumulation_steps, self._clock())

    def count(self, trajectory: Trajectory) -> None:
        """Count an episode that has ended."""
        if self._progress is not None:
            self._progress.count(self._name, trajectory)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Begin to measure."""
        self._args, self._state, self._steps = args, state, []

    def on_step_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Take the time of a step."""
        self._name, self._step_began = f"step {state.global_step + 1}", self._clock()
        self._passes = (0, args.gradient_accumulation_steps, self._clock())

    def on_substep_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Count a micro-batch."""
        if self._passes is not None:
            done, total, began = self._passes
            self._passes = (done + 1, total, began)

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Take the time of a step, and after the first one estimate the run's."""
        self._passes = None
        self._steps.append(self._clock() - self._step_began)
        if len(self._steps) == 1 and self.is_shown and state.global_step < state.max_steps:
            tqdm.write(self.estimate(), file=sys.stdout)
            self._written = self._clock()

    def on_log(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Note that something was written."""
        self._written = self._clock()

    # Lines ------------------------------------------------------------------------------------

    def line(self) -> str:
        """Return the state of the present work and the time left, of it and of the run."""
        if self._progress is not None:
            present = f"{self._name}: {self._progress.facts()[self._name]}"
        elif self._passes is not None:
            done, total, began = self._passes
            present = f"{self._name}: learning, {done} of {total} micro-batches"
            if done:
                present += f", {_time((self._clock() - began) / done * (total - done))} left"
        else:
            present = self._name
        return f"{present}{self._run_left()}"

    def estimate(self) -> str:
        """Return the time of the whole run by that of its first step."""
        steps, (first,) = self._state.max_steps, self._steps
        begun = self._state.global_step - 1
        low = high = first
        horizon = self.sizes.horizon
        for step in range(begun + 1, steps):
            low += first
            high += first * max(1.0, horizon(step) / horizon(begun))
        count, measured = self._evaluations_left(), self._eval_s
        each = (measured, measured)
        if not measured and self._num_played:
            least = self._play_s / self._num_played * self.sizes.eval_episodes()
            each = (least, least * max(1.0, self.sizes.eval_turns / horizon(begun)))
        low, high = low + count * each[0], high + count * each[1]
        low, high = low + measured, high + measured
        times = _time(low) if _time(low) == _time(high) else f"{_time(low)} to {_time(high)}"
        what = f"steps {begun + 1} to {steps}" if begun else counted(steps, "step")
        parts = [what] + [counted(count, "evaluation")] * bool(count)
        more = ", the longer where later episodes use all their turns" * (" to " in times)
        return f"about {times} for {' and '.join(parts)} at the pace of the first step{more}"

    def _run_left(self) -> str:
        """Return the steps that were taken of the run, and the time left."""
        state = self._state
        if state is None or self._depth == 0 or state.max_steps <= 0:
            return ""
        text = f"; {state.global_step} of {state.max_steps} steps taken"
        if self._steps and state.global_step < state.max_steps:
            recent = self._steps[-_RECENT:]
            left = (state.max_steps - state.global_step) * sum(recent) / len(recent)
            left += self._evaluations_left() * self._eval_s
            text += f", about {_time(left)} left"
        return text

    def _evaluations_left(self) -> int:
        """Return how many evaluations are to come at steps, without those of epochs."""
        args, state = self._args, self._state
        if args.eval_strategy != "steps":
            return 0
        every = int(state.eval_steps)
        at_end = (state.max_steps % every != 0) + bool(args.load_best_model_at_end)
        return int(state.max_steps // every - state.global_step // every + at_end)

    def _write_lines(self, is_over: Event) -> None:
        while not is_over.wait(max(0.0, self._written + LINE_SECONDS - self._clock())):
            if self._clock() - self._written >= LINE_SECONDS:
                self._written = self._clock()
                tqdm.write(self.line(), file=sys.stderr)
                sys.stderr.flush()


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(max(0.0, seconds))))


class ShortProgress(ProgressCallback):  # type: ignore[misc]
    """transformers' progress bar with one short line per log entry."""

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Write the line above the bar."""
        line = short_line(state.global_step, logs or {})
        if state.is_world_process_zero and self.training_bar is not None and line is not None:
            self.training_bar.write(line)


def short_line(global_step: int, logs: dict[str, Any]) -> str | None:
    """Return the line for a log entry, or None if it has no metric of the line.

    An entry about the weights of another step than `global_step` names that step.
    """
    global_step = logs.get("global_step", global_step)
    parts = [
        f"{metric.label} {logs[metric.key]:{metric.format}}{_each(metric, logs)}"
        for metric in LINE
        if number(logs.get(metric.key)) is not None
    ]
    return f"step {global_step}: {', '.join(parts)}" if parts else None


def _each(metric: Metric, logs: dict[str, Any]) -> str:
    """Return the values of the environments that a metric is the mean of, in parentheses."""
    own = [
        f"{name.partition('/')[2]} {value:{metric.format}}"
        for name, value in logs.items()
        if name.startswith(f"{metric.each}/") and number(value) is not None
    ]
    return f" ({', '.join(own)})" if own and metric.lists_each else ""


def show_progress(trainer: Any) -> None:
    """Replace a trainer's progress bar, if it shows one, and start its heartbeat."""
    trainer.add_callback(trainer.heartbeat)
    if trainer.pop_callback(ProgressCallback) is not None:
        trainer.add_callback(ShortProgress())


def hide_loading_bars() -> None:
    """Turn off the bars of loading and saving models. A command does this once."""
    transformers_logging.disable_progress_bar()
