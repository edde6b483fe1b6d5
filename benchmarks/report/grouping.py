"""Groups the cells of a sweep into the rows of its report, and distinguishes the rows.

Cells are pooled where everything but the seed agrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.sweep.plan import Cell, conditions, environment_changes

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Row:
    """The common settings of the cells of one row.

    Attributes:
        fingerprint: of the policy's files, where the sweep holds several of one name; else empty.
        changes: the environment's arguments and wrappers beside its defaults.
        conditions: every other setting that decides how episodes go.
    """

    policy: str
    scenario: str
    env_id: str
    split: str
    digest: str
    num_tasks: int
    max_turns: int | None
    fingerprint: str
    changes: Pairs
    conditions: Pairs


def group(cells: Sequence[Cell]) -> dict[Row, list[Cell]]:
    """Gather the cells of each row."""
    files: dict[str, set[str]] = {}
    for cell in cells:
        # Empty where the policy's folder was gone: such a cell may be of any files.
        files.setdefault(cell.policy, set()).update({cell.fingerprint} if cell.fingerprint else ())
    rows: dict[Row, list[Cell]] = {}
    for cell in cells:
        several = len(files[cell.policy]) > 1
        row = make_row(cell, fingerprint=(cell.fingerprint or "unknown") if several else "")
        rows.setdefault(row, []).append(cell)
    return rows


def make_row(cell: Cell, *, fingerprint: str) -> Row:
    """Return the row that a cell belongs to."""
    changes = environment_changes(cell)
    others = {name: value for name, value in conditions(cell).items() if name not in changes}
    return Row(
        cell.policy,
        cell.scenario,
        cell.env_id,
        cell.split,
        cell.digest,
        len(cell.tasks),
        cell.max_turns,
        fingerprint,
        tuple(changes.items()),
        tuple(others.items()),
    )


def distinguishing_settings(rows: Iterable[Row]) -> dict[Row, tuple[str, ...]]:
    """Return the settings, besides policy and turn limit, that distinguish each row.

    Such as `("temperature 0.2", "compat agentgym")`; usually empty.
    """
    every = list(rows)
    # Where no condition is on record, as of lone files of episodes, none is known to differ.
    differing = _differing([row.conditions for row in every if row.conditions])
    apart = {}
    for row in every:
        # Panels may well be of environments that are made with arguments of their own.
        beside = [other for other in every if other.scenario == row.scenario]
        changed = _differing([other.changes for other in beside])
        apart[row] = (
            *([f"files {row.fingerprint[:8]}"] if row.fingerprint else []),
            *_tasks(row, beside),
            *_in_words(row.conditions, differing),
            *_in_words(row.changes, changed),
        )
    return apart


def _differing(every: Sequence[Pairs]) -> set[str]:
    settings: list[Mapping[str, str]] = [dict(pairs) for pairs in every]
    names = {name for values in settings for name in values}
    return {name for name in names if len({values.get(name) for values in settings}) > 1}


def _in_words(pairs: Pairs, names: set[str]) -> list[str]:
    return [f"{name.replace('_', ' ')} {value}" for name, value in pairs if name in names]


def _tasks(row: Row, rows: Sequence[Row]) -> list[str]:
    """Describe a row's tasks where the sweep holds several panels of the scenario."""
    panels = {(other.split, other.digest): other.num_tasks for other in rows}
    if len(panels) < 2:
        return []
    alike = list(panels.values()).count(row.num_tasks) > 1
    return [f"{row.num_tasks} tasks" + (f" ({row.split}, {row.digest[:6]})" if alike else "")]
