"""Makes the questions of SQL over the sites' databases, in two files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentgym_envs.sql.questions import (
    EMBEDDED,
    QUESTIONS,
    Question,
    database_digests,
    question_row,
)
from worlds.packing import named, packed, write_rows
from worlds.sql.drawing import make_questions

VERSION = 6
"""The content's version, raised with every change of content.

A task id keeps its meaning within a version.
"""

SOURCES = ("worlds/sql", "worlds/dice.py", "agentgym_envs/content/dice.py")


def make(out: Path | None, *, seed: int = 0, scale: int = 1) -> None:
    """Make questions and write them.

    Args:
        out: the folder; None writes those that are shipped.
        seed: another one makes other questions over the same databases.
        scale: there is only the scale of 1.

    Raises:
        ValueError: another scale is asked for.
    """
    if scale != 1:
        raise ValueError(f"the questions of sql have no --scale, got {scale}; leave it out")
    name = named("agentgym-sql", VERSION, seed)
    folder = EMBEDDED if out is None else out
    digest = write_rows(folder, QUESTIONS, pack(name, make_questions(seed)), SOURCES)
    print(f"{name} ({digest}) in {folder}")


def pack(name: str, questions: Sequence[Question]) -> bytes:
    """Return a row about the questions, and then one per question."""
    head = {"name": name, "databases": database_digests()}
    return packed([head, *map(question_row, questions)])
