"""The paper's panels, with its agents' success, and the panels of embedded data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

_FILE = Path(__file__).parent / "published.yaml"

EMBEDDED = "embedded"
"""The label of numbers on data of our own in place of the paper's."""


@dataclass(frozen=True)
class PublishedPanel:
    """A panel with the paper's sizes.

    Attributes:
        digest: of its tasks.
        data: the prefix of the embedded data's name that stands in place of the paper's, or empty.
        success: overall success of the paper's agents, percent; empty for embedded data.
        max_turns: the turn limit of the paper's evaluation.
        tasks: how our tasks are related to the paper's.
    """

    env_id: str
    digest: str
    data: str = ""
    success: tuple[tuple[str, float], ...] = ()
    max_turns: int | None = None
    tasks: str = ""


@cache
def published_panels() -> tuple[PublishedPanel, ...]:
    """List the paper's panels, in its order."""
    return tuple(map(_panel, yaml.safe_load(_FILE.read_text("utf-8"))))


def published_panel(env_id: str, digest: str) -> PublishedPanel | None:
    """Return the panel of this environment whose tasks have this digest, or None."""
    panels = (p for p in published_panels() if (p.env_id, p.digest) == (env_id, digest))
    return next(panels, None)


def data_label(env_id: str, sources: Iterable[str]) -> str:
    """Return the label of an environment's embedded data, or an empty text."""
    prefix = next((panel.data for panel in published_panels() if panel.env_id == env_id), "")
    is_ours = prefix and all(not name or name.startswith(prefix) for name in sources)
    return EMBEDDED if is_ours else ""


def _panel(record: dict[str, Any]) -> PublishedPanel:
    success = tuple(record.pop("success", {}).items())
    return PublishedPanel(env_id=record.pop("env"), success=success, **record)
