"""The progress line: one short line per log entry, in place of all metrics.

All metrics are in `metrics.jsonl` and go to `--report_to`. `trainers.metrics` says which are shown.
"""

from __future__ import annotations

from typing import Any

from transformers import ProgressCallback
from transformers.utils import logging as transformers_logging

from trainers.metrics import LINE, Metric, number


class ShortProgress(ProgressCallback):  # type: ignore[misc]
    """transformers' progress bar with one short line per log entry."""

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_kw: Any
    ) -> None:
        """Write the line above the bar."""
        line = short_line(state.global_step, logs or {})
        if state.is_world_process_zero and self.training_bar is not None and line is not None:
            self.training_bar.write(line)


def short_line(global_step: int, logs: dict[str, Any]) -> str | None:
    """Return the line for a log entry, or None if it has no metric of the line.

    Args:
        global_step: the run's; an entry about the weights of another step names it.
        logs: the entry.
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
    """Replace a trainer's progress bar, if it shows one, and let it give signs of life."""
    trainer.add_callback(trainer.signs)
    if trainer.pop_callback(ProgressCallback) is not None:
        trainer.add_callback(ShortProgress())


def hide_loading_bars() -> None:
    """Turn off the bars of loading and saving models. A command does this once."""
    transformers_logging.disable_progress_bar()
