"""Decides which cells of a sweep make one row of its report, and what tells the rows apart.

Cells are pooled where everything but the seed agrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.sweep.plan import Cell, conditions

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Row:
    """What the cells of one row have in common.

    Attributes:
        policy: who played.
        env_id: where.
        split: the panel's split.
        digest: of the panel's tasks.
        num_tasks: how many they are.
        max_turns: the limit; None is the environment's own.
        fingerprint: of the policy's files, where the sweep holds several of one name; else empty.
        conditions: every other setting that decides how episodes go.
    """

    policy: str
    env_id: str
    split: str
    digest: str
    num_tasks: int
    max_turns: int | None
    fingerprint: str
    conditions: Pairs


def group(cells: Sequence[Cell]) -> dict[Row, list[Cell]]:
    """Gather the cells of each row."""
    files: dict[str, set[str]] = {}
    for cell in cells:
        # Sweeps of earlier versions noted no fingerprint: such a cell may be of any files.
        files.setdefault(cell.policy, set()).update({cell.fingerprint} if cell.fingerprint else ())
    rows: dict[Row, list[Cell]] = {}
    for cell in cells:
        row = Row(
            cell.policy,
            cell.env_id,
            cell.split,
            cell.digest,
            len(cell.tasks),
            cell.max_turns,
            (cell.fingerprint or "unknown") if len(files[cell.policy]) > 1 else "",
            tuple(conditions(cell).items()),
        )
        rows.setdefault(row, []).append(cell)
    return rows


def tell_apart(rows: Iterable[Row]) -> dict[Row, tuple[str, ...]]:
    """Return what, besides policy and turn limit, distinguishes each row from the others.

    Such as `("temperature 0.2", "compat agentgym")`; usually empty.
    """
    every = list(rows)
    differing = _differing([dict(row.conditions) for row in every])
    return {
        row: (
            *([f"files {row.fingerprint[:8]}"] if row.fingerprint else []),
            *_tasks(row, [other for other in every if other.env_id == row.env_id]),
            *(
                f"{name.replace('_', ' ')} {value}"
                for name, value in row.conditions
                if name in differing
            ),
        )
        for row in every
    }


def _differing(every: Sequence[Mapping[str, str]]) -> set[str]:
    names = {name for conditions in every for name in conditions}
    return {name for name in names if len({conditions.get(name) for conditions in every}) > 1}


def _tasks(row: Row, rows: Sequence[Row]) -> list[str]:
    """Describe a row's tasks where the sweep holds several panels of the scenario."""
    panels = {(other.split, other.digest): other.num_tasks for other in rows}
    if len(panels) < 2:
        return []
    alike = list(panels.values()).count(row.num_tasks) > 1
    return [f"{row.num_tasks} tasks" + (f" ({row.split}, {row.digest[:6]})" if alike else "")]
