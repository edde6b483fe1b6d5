"""What an expert is given and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen


@dataclass(frozen=True)
class Case:
    """What an expert knows of a task before it reads a page.

    Attributes:
        values: what fills the slots of the intent.
        notes: what it knows beside the intent; never shown to a policy.
    """

    values: Mapping[str, str]
    notes: Mapping[str, Any]


Solution = Callable[[Case, Screen], Iterator[ExpertMove]]
"""Yields moves that do the task, reading the screen before each, by role and name."""
