"""The tasks of a server: as its Task API lists them, or seeds where it has none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from agentgym_envs.core.tasks import TaskSet
from agentgym_envs.errors import UnknownTask
from agentgym_envs.remote.http import JsonServer

SPLITS = ("train", "validation", "test")
SEEDS = {"train": range(10_000), "validation": range(10_000, 10_050), "test": range(10_050, 10_150)}
"""The tasks of a server without a Task API: each number is a seed."""
SPLIT_STRIDE = 1_000_000
"""The first number of the second split, where a server's tasks have no numbers of their own."""

_TASK_ID = re.compile(r"([A-Za-z][\w-]*)_(\d{1,18})", re.ASCII)


@dataclass(frozen=True)
class Task:
    """A task: its row of the benchmark's table, its split, and the data of its reset."""

    subtask: str
    split: str
    reset: Mapping[str, Any]


class ServerTasks(TaskSet):
    """The tasks of a server, in its order.

    Args:
        env_name: what stands in front of their ids.
        tasks: by number.
        panels: parts of splits: their names, and the numbers of each.
        own_prefix: what the server's ids begin with, where numbers are those of its ids.
    """

    def __init__(
        self,
        env_name: str,
        tasks: Mapping[int, Task],
        panels: Mapping[str, Sequence[int]] | None = None,
        *,
        own_prefix: str | None = None,
    ) -> None:
        self.env_name = env_name
        self._own_prefix = own_prefix
        self.tasks = tasks
        self._numbers: dict[str, list[int]] = {split: [] for split in SPLITS}
        for number, task in tasks.items():
            self._numbers.setdefault(task.split, []).append(number)
        self.splits = tuple(self._numbers)
        rows = {name: list(numbers) for name, numbers in (panels or {}).items() if numbers}
        self.panels = {name: tasks[numbers[0]].split for name, numbers in rows.items()}
        self._numbers |= rows

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split, in the server's order."""
        return self._numbers[split]

    def fit_number(self, number: int, said: Any) -> bool:
        """Return whether the server's description of its task can be that of a number."""
        match = _TASK_ID.fullmatch(said) if isinstance(said, str) else None
        if self._own_prefix is None or match is None:
            return True
        return (match[1], int(match[2])) == (self._own_prefix, number)

    def describe(self, number: int) -> tuple[str, str]:
        """Return (subtask, split) of a listed number.

        Raises:
            UnknownTask: the number is not listed.
        """
        task = self.tasks.get(number)
        if task is None:
            raise UnknownTask(
                f"unknown task_id '{self.env_name}_{number}'; the server lists {len(self.tasks)} "
                "tasks; env.unwrapped.task_ids(split) lists them"
            )
        return task.subtask, task.split


def read_tasks(http: JsonServer, own_name: str, name: str | None) -> ServerTasks:
    """Read a server's tasks.

    Args:
        http: asks it.
        own_name: what it calls the environment.
        name: what stands in front of task ids; None takes the server's.

    Raises:
        EnvFailure: it does not answer, or has splits and no tasks.
    """
    place = f"/{quote(own_name, safe='')}"
    value = http.optional("GET", f"{place}/splits")
    entries = value if isinstance(value, list) else []
    kinds = {_name(entry): _kind(entry) for entry in entries}
    listed = {split: _list(http, place, split) for split in kinds}
    if not any(listed.values()):
        seeds = {n: Task("seed", s, {"seed": n}) for s, numbers in SEEDS.items() for n in numbers}
        return ServerTasks(name or _prefix(own_name), seeds)
    prefix, numbers = _numbers(listed)
    tasks: dict[int, Task] = {}
    panels = {}
    for split, rows in listed.items():
        known = [number for number in numbers[split] if number in tasks]
        if len(known) == len(rows):
            panels[split] = known
            continue
        for index, (row, number) in enumerate(zip(rows, numbers[split], strict=True)):
            subtask, own_split = _text(row, "subtask") or split, _text(row, "split") or kinds[split]
            tasks.setdefault(number, Task(subtask, own_split, {"split": split, "index": index}))
    return ServerTasks(name or prefix or _prefix(own_name), tasks, panels, own_prefix=prefix)


def _list(http: JsonServer, place: str, split: str) -> Sequence[Any]:
    """Return a split's tasks, empty ones for a server that only counts them."""
    value = http.optional("POST", f"{place}/tasks", {"split": split})
    tasks = value.get("tasks") if isinstance(value, dict) else None
    if isinstance(tasks, list):
        return tasks
    count = http.value("POST", f"{place}/num_tasks", {"split": split})
    number = count.get("num_tasks") if isinstance(count, dict) else None
    if not isinstance(number, int) or not 0 <= number <= SPLIT_STRIDE:
        raise http.failure(
            f"{place}/num_tasks", f"expected num_tasks of 0 to {SPLIT_STRIDE}, got {count!r:.200}"
        )
    return [{}] * number


def _numbers(listed: Mapping[str, Sequence[Any]]) -> tuple[str | None, dict[str, list[int]]]:
    """Return the prefix and the numbers of the tasks: their own, or their places."""
    ids = {split: [_TASK_ID.fullmatch(_id(t)) for t in tasks] for split, tasks in listed.items()}
    matches = [match for split in ids.values() for match in split]
    prefixes = {match[1] for match in matches if match}
    if len(prefixes) == 1 and all(matches):
        return prefixes.pop(), {s: [int(m[2]) for m in row if m] for s, row in ids.items()}
    return None, {
        split: list(range(place * SPLIT_STRIDE, place * SPLIT_STRIDE + len(tasks)))
        for place, (split, tasks) in enumerate(listed.items())
    }


def _id(task: Any) -> str:
    return _text(task, "task_id") or _text(task, "id") if isinstance(task, Mapping) else str(task)


def _text(task: Any, key: str) -> str:
    value = task.get(key) if isinstance(task, Mapping) else None
    return value if isinstance(value, str) else ""


def _name(entry: Any) -> str:
    return str(entry.get("name", "")) if isinstance(entry, Mapping) else str(entry)


def _kind(entry: Any) -> str:
    """Return the split that tasks of a server's split belong to."""
    name = _name(entry)
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    return name if name in SPLITS or kind not in SPLITS else str(kind)


def _prefix(name: str) -> str:
    """Return a name as task ids begin with it."""
    cleaned = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_-").lower()
    return cleaned if cleaned[:1].isalpha() else f"env_{cleaned}".rstrip("_")
