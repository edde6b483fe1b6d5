"""Reads from the record of a run how the environments of its episodes were made."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainers.options.values import kwargs_for, value_for
from trainers.runs.folder import CELL_FILE, RUN_FILE, read_json
from trainers.runs.reader import nearest_record

_UNREADABLE = (OSError, ValueError, TypeError, AttributeError, KeyError)
"""The errors of a record of another form, which holds nothing that can be read."""


def saved_options(folder: Path) -> dict[str, Any]:
    """Return the options in the `run.json` or `cell.json` of a folder or of the one above.

    A cell's environment, turn limit and temperature are among them. Empty where there is no such
    record.
    """
    with contextlib.suppress(*_UNREADABLE):
        name, record = nearest_record(folder)
        if name == CELL_FILE:
            own = {name: record.get(name) for name in ("max_turns", "temperature")}
            return {**record["settings"], **own, "env": [record.get("env_id")]}
        if name == RUN_FILE:
            return run_options(record)
    return {}


def evaluation_of(file: Path) -> tuple[Path, dict[str, Any]] | None:
    """Return the result of `agentgym eval --out` that lies beside its episodes, and its path.

    None where no result in the folder names the file as its `trajectories`.
    """
    for path in sorted(file.parent.glob("*.json")):
        with contextlib.suppress(*_UNREADABLE):
            record = read_json(path)
            if Path(evaluation_options(record)["trajectories"] or "").name == file.name:
                return path, record
    return None


def evaluation_options(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options in the result of an evaluation, `trajectories` among them.

    Raises:
        ValueError: it is no such result.
    """
    options = run_options(result.get("run"))
    if not isinstance(options.get("trajectories", 0), str | None):
        raise ValueError("it is no result of agentgym eval --out")
    return options


def saved_env_kwargs(folder: str | Path | None, env_id: str = "") -> dict[str, Any]:
    """Return an environment's keyword arguments from the record of a folder (`saved_options`)."""
    with contextlib.suppress(*_UNREADABLE):
        return {} if folder is None else env_kwargs_of(saved_options(Path(folder)), env_id)
    return {}


def env_kwargs_of(options: Mapping[str, Any], env_id: str) -> dict[str, Any]:
    """Return the keyword arguments that saved options give one environment of a run."""
    written = options.get("env_kwargs")
    common = dict(json.loads(written)) if written else {}
    kwargs = kwargs_for(common, env_id, options.get("env", []))
    for name in ("action_format", "max_turns"):
        value = value_for(options.get(name), env_id)
        if value is not None:
            kwargs[name] = value
    if options.get("actions_per_turn", 1) > 1:
        kwargs["actions_per_turn"] = options["actions_per_turn"]
    return kwargs


def run_options(record: Any) -> dict[str, Any]:
    """Return the options in a run's record, none where it has another form.

    Those of the environments win over others.
    """
    groups = record if isinstance(record, dict) else {}
    ordered = (*groups.values(), groups.get("EnvArguments"))
    return {
        name: value for group in ordered if isinstance(group, dict) for name, value in group.items()
    }
