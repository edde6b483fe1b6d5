"""The 812 official tasks, read from the package `webarena-verified`.

The package carries WebArena's own file unchanged, `test.raw.json`, and the same tasks as it has
reworded and started them. Both are read as files: the package's modules, and what they need, are
not imported.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentgym_envs.errors import MissingExtra
from agentgym_envs.webarena.tasks.files import WebTask, read_tasks

PACKAGE = "webarena-verified"

_MODULE = "webarena_verified"
_FOLDER = Path("assets") / "dataset"
_ORIGINAL = "test.raw.json"
_VERIFIED = "webarena-verified.json"
_AGENTGYM = "agentgym_ids.json"


def source_name(*, is_verified: bool = False) -> str:
    """Name the tasks and their version."""
    name = "webarena verified" if is_verified else "webarena"
    return f"{name} ({PACKAGE} {version(PACKAGE)})"


@cache
def official_tasks() -> tuple[WebTask, ...]:
    """Return the 812 tasks by their official numbers, which are AgentGym's too.

    Raises:
        ImportError: the package is not installed.
    """
    return tuple(read_tasks(_file(_ORIGINAL)))


@cache
def verified_tasks() -> tuple[WebTask, ...]:
    """Return the 812 tasks with the package's wording and first pages.

    All else is as in the original: whether they need a log-in, and `eval`, which is not what
    `webarena-verified` judges them by.

    Raises:
        ImportError: the package is not installed.
    """
    records = json.loads(_file(_VERIFIED).read_text(encoding="utf-8"))
    by_number = {record["task_id"]: record for record in records}
    return tuple(_verified(task, by_number[task.task_id]) for task in official_tasks())


@cache
def agentgym_panels() -> dict[str, list[int]]:
    """Return the numbers that AgentGym-RL trains on, `agentgym_train`, and its table's 50."""
    held = json.loads((Path(__file__).parent / _AGENTGYM).read_text(encoding="utf-8"))
    return {name: numbers for name, numbers in held.items() if name != "source"}


def _verified(task: WebTask, record: dict[str, Any]) -> WebTask:
    expected = record["eval"][0]["expected"]
    return replace(
        task,
        intent=record["intent"],
        intent_template=record["intent_template"],
        instantiation_dict=record["instantiation_dict"],
        start_url=" |AND| ".join(record["start_urls"]),
        require_reset=task.require_reset or expected["task_type"].lower() == "mutate",
    )


def _file(name: str) -> Path:
    spec = find_spec(_MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("official", "the official WebArena", f"no package {PACKAGE}")
    return Path(spec.submodule_search_locations[0]) / _FOLDER / name
