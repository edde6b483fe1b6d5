"""Tasks as WebArena's task files hold them: one JSON object each.

Three things are added for the embedded sites, which may be left out: evaluators of ours inside
`eval`, the task's `split`, and `notes` for its solution.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym_envs.webarena.evaluators import build_evaluators

KEYS = (
    "sites",
    "task_id",
    "require_login",
    "storage_state",
    "start_url",
    "geolocation",
    "intent_template",
    "instantiation_dict",
    "intent",
    "require_reset",
    "eval",
    "intent_template_id",
)
"""The keys of a WebArena task that are read."""

ADDED = ("split", "notes")
SPLITS = ("train", "validation", "test")

_NEEDED = ("sites", "task_id", "start_url", "intent", "eval")


@dataclass(frozen=True)
class WebTask:
    """One task.

    Attributes:
        sites: WebArena's names of the sites that it needs.
        task_id: its number.
        start_url: where it begins, with placeholders; several tabs are joined by `" |AND| "`.
        intent: what is to be done.
        eval: what decides whether it was done.
        require_login: the agent is signed in at the start.
        storage_state: WebArena's file with the signed-in cookies; kept, never read.
        geolocation: kept, never used.
        intent_template: the intent with slots, `{{slot}}`.
        instantiation_dict: what fills them.
        require_reset: the task changes a site for those that follow it.
        intent_template_id: number of the template.
        split: that it belongs to, where it says so.
        notes: what its solution in `worlds/` knows beside the intent.
    """

    sites: tuple[str, ...]
    task_id: int
    start_url: str
    intent: str
    eval: Mapping[str, Any]
    require_login: bool = True
    storage_state: str | None = None
    geolocation: Mapping[str, float] | None = None
    intent_template: str = ""
    instantiation_dict: Mapping[str, Any] | None = None
    require_reset: bool = False
    intent_template_id: int = -1
    split: str | None = None
    notes: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the task as a task file holds it, its keys in WebArena's order."""
        values = {key: getattr(self, key) for key in KEYS}
        added = {key: getattr(self, key) for key in ADDED if getattr(self, key) is not None}
        return {**values, "sites": list(self.sites), **added}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> WebTask:
        """Read a task.

        Raises:
            ValueError: a key is missing, or a value has another form.
        """
        if not isinstance(record, Mapping):
            raise ValueError(f"a task must be a JSON object, got {record!r:.200}")
        missing = [key for key in _NEEDED if key not in record]
        if missing:
            raise ValueError(f"the task {record.get('task_id')!r} lacks {', '.join(missing)}")
        for key, kind in {"task_id": int, "start_url": str, "intent": str, "eval": dict}.items():
            if type(record[key]) is not kind:
                raise ValueError(f"{key} must be {kind.__name__}, got {record[key]!r:.200}")
        sites = record["sites"]
        if not isinstance(sites, list) or not sites or not all(isinstance(s, str) for s in sites):
            raise ValueError(f"sites must be a list of names, got {sites!r:.200}")
        if record.get("split") not in (None, *SPLITS):
            raise ValueError(
                f"split must be one of {', '.join(SPLITS)}, got {record['split']!r:.80}"
            )
        if not isinstance(record.get("notes"), Mapping | None):
            raise ValueError(f"notes must be a JSON object, got {record['notes']!r:.200}")
        values = {key: record[key] for key in (*KEYS, *ADDED) if key in record}
        try:
            build_evaluators(values["eval"])
        except ValueError as error:
            raise ValueError(f"the task {record['task_id']}: {error}") from error
        return cls(**{**values, "sites": tuple(sites)})


def write_tasks(path: str | Path, tasks: Iterable[WebTask]) -> None:
    """Write tasks to one file, a JSON list."""
    text = json.dumps([task.to_json() for task in tasks], ensure_ascii=False, indent=1)
    Path(path).write_text(text + "\n", encoding="utf-8")


def read_tasks(path: str | Path) -> list[WebTask]:
    """Read a file that holds a list of tasks, or one task.

    Raises:
        ValueError: it holds something else, or two tasks with one number; the message says what.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        records = content if isinstance(content, list) else [content]
        tasks = [WebTask.from_json(record) for record in records]
    except ValueError as error:
        raise ValueError(f"{path} is no file of WebArena tasks: {error}") from error
    twice = sorted(n for n, times in Counter(t.task_id for t in tasks).items() if times > 1)
    if twice or not tasks:
        wrong = f"holds the task_id {twice[:5]} twice" if twice else "holds no task"
        raise ValueError(f"{path} {wrong}; task ids name tasks, so each needs its own")
    return sorted(tasks, key=lambda task: task.task_id)


def fingerprint(tasks: Iterable[WebTask]) -> str:
    """Return 12 digits that change when a task changes."""
    text = json.dumps([task.to_json() for task in tasks], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
