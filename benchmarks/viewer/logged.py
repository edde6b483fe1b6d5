"""Reads a run's logged metrics, and the options in its record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.viewer.runs import Run
from trainers.runs.folder import check_metrics
from trainers.runs.reader import RunFolder
from trainers.runs.success import Measured, quickstart_success

_STEP, _EVAL = "global_step", "eval_success"
_OCCASION = {"argv", "command_line", "started", "pid", "ended", "resumed", "tasks", "settings"}
"""Entries of a record that no other run can share, or that are no options."""
_COMMIT = re.compile(r"\b([0-9a-f]{10})[0-9a-f]{30}\b")
"""A commit, whose first letters are enough."""
_FOLDERS = {"output_dir", "logging_dir", "run_name"}


def metric_curve(run: Run, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a training run's logged metrics as JSON values.

    `names` holds all metrics that are numbers, in the order of their first entry. `rows` holds the
    step and the requested values (all by default) of each entry that has one of them.
    """
    entries = _logged(run) if run.kind == "training" else []
    known = list(dict.fromkeys(name for entry in entries for name in entry if name != _STEP))
    requested = known if names is None else names
    rows = [[entry[_STEP], *(entry.get(name) for name in requested)] for entry in entries]
    return {"names": known, "rows": [row for row in rows if any(v is not None for v in row[1:])]}


def _logged(run: Run) -> list[dict[str, float]]:
    """Return a run's logged numbers, between a quickstart's two measurements."""
    entries = [
        {name: value for name, value in entry.items() if type(value) in (int, float)}
        for entry in check_metrics(run.folder)[0]
    ]
    try:
        measured = quickstart_success(run.folder)
    except (OSError, ValueError, TypeError, KeyError):  # told as the run's problem
        measured = []
    ends = [{_STEP: one.global_step, _EVAL: one.success, **_bounds(one)} for one in measured]
    return [*ends[:1], *entries, *ends[1:]]


def _bounds(one: Measured) -> dict[str, float]:
    bounds = {f"{_EVAL}_low": one.low, f"{_EVAL}_high": one.high}
    return {name: value for name, value in bounds.items() if value is not None}


def run_options(run: Run) -> dict[str, str]:
    """Return a run's options, and the rest of its record under dotted names, as texts.

    An option has its own name without its group, which differs between algorithms. The time and
    place of the run are left out.
    """
    try:
        record = RunFolder(run.folder, run.kind).record  # type: ignore[arg-type]
    except (OSError, ValueError):  # told as the run's problem
        return {}
    options: dict[str, str] = {}
    for name, part in record.items():
        if isinstance(part, dict) and name[:1].isupper():  # a dataclass of options
            options.update(_flat(part))
        elif name not in _OCCASION:
            options.update(_flat({name: part}))
    return options


def _flat(values: dict[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if name in _FOLDERS:
            continue
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{name}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            yield f"{above}{name}", _COMMIT.sub(r"\1", text)
