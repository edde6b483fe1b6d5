"""What a test reads off the viewer's page."""

from __future__ import annotations

from typing import Any

FIRST = "trajectories/train_000000.jsonl:1"
"""The key of a training run's first trajectory."""


def rows(page: Any, name: str = "goal a") -> list[str]:
    """Return the texts of the rows that are drawn, of their goals or of another cell."""
    return list(page.locator(f".row .{name}").all_inner_texts())


def summary(page: Any, text: str) -> None:
    """Wait until the line above the list holds a text."""
    page.locator("#summary", has_text=text).wait_for()


def runs(page: Any) -> list[str]:
    """Return the runs and folders beside the list, as they stand there."""
    return list(page.locator(".run-tree .run-title").all_inner_texts())
