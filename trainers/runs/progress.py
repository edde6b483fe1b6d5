"""One short line per log entry, in place of transformers' dump of every metric.

All metrics are in `metrics.jsonl` and go to `--report_to`; here stands what a person watches.
"""

from __future__ import annotations

from typing import Any

from transformers import ProgressCallback
from transformers.utils import logging as transformers_logging

SHOWN: dict[str, tuple[str, str]] = {
    "eval_success": ("evaluation success", ".1%"),
    "eval_success_low": ("from", ".1%"),
    "eval_success_high": ("to", ".1%"),
    "episodes/success": ("success", ".1%"),
    "reward": ("reward", ".3f"),
    "episodes/turns": ("turns", ".1f"),
    "horizon": ("horizon", ".0f"),
    "episodes/failed": ("failed", ".0f"),
    "loss": ("loss", ".4f"),
    "entropy": ("entropy", ".2f"),
    "rewards/margins": ("margin", ".3f"),
    "mean_token_accuracy": ("token accuracy", ".3f"),
    "step_time": ("seconds", ".1f"),
}
"""Metric -> what it is called on the line, and its format."""

_BY_ENVIRONMENT = ("success", "eval_success", "horizon")
"""Metrics that stand on the line of each environment, too."""


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
    """Return the line for a log entry, or None where nothing of it is shown.

    Args:
        global_step: the run's; an entry about the weights of another step names it.
        logs: the entry.
    """
    global_step = logs.get("global_step", global_step)
    parts = [
        f"{name} {logs[key]:{spec}}{_of_each(key, spec, logs)}"
        for key, (name, spec) in SHOWN.items()
        if isinstance(logs.get(key), int | float)
    ]
    return f"step {global_step}: {', '.join(parts)}" if parts else None


def _of_each(key: str, spec: str, logs: dict[str, Any]) -> str:
    """Return what stands behind a mean over environments: those that it is the mean of."""
    short = key.removeprefix("episodes/")
    own = [
        f"{name.partition('/')[2]} {value:{spec}}"
        for name, value in logs.items()
        if name.startswith(f"{short}/") and isinstance(value, int | float)
    ]
    return f" ({', '.join(own)})" if own and short in _BY_ENVIRONMENT else ""


def show_progress(trainer: Any) -> None:
    """Replace a trainer's progress bar, if it shows one, and let it give signs of life."""
    trainer.add_callback(trainer.signs)
    if trainer.pop_callback(ProgressCallback) is not None:
        trainer.add_callback(ShortProgress())


def hide_loading_bars() -> None:
    """Show no bar for each model that is loaded or saved; a command does this once."""
    transformers_logging.disable_progress_bar()
