"""Names tasks by id and number, and lists them by split."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

from agentgym_envs.core.item_ids import is_item_file, read_item_ids
from agentgym_envs.errors import UnknownTask

_MAX_DIGITS = 18


@dataclass(frozen=True)
class TaskSpec:
    """One task by name.

    Attributes:
        task_id: `"<env>_<number>"`, AgentGym's item id.
        number: the number in `task_id`.
        subtask: the row of the benchmark's table that the task belongs to.
        split: the split that holds the task.
    """

    task_id: str
    number: int
    subtask: str
    split: str


def scenario_name(task_id: str) -> str:
    """Return the name in front of a task id's number: `"babyai"` of `"babyai_41"`."""
    return str(task_id).rpartition("_")[0]


def spread_over_kinds(
    ids: Sequence[str], count: int, task_kind: Callable[[str], Any], *, start: float = 0.0
) -> list[str]:
    """Return `count` of the task ids in order, spread evenly over each kind by its share.

    Scenarios list their tasks in turns, one of each kind: of every ninth task all could be of one
    kind.

    Args:
        ids: the task ids of one scenario, `count` or more.
        count: how many.
        task_kind: a task id's kind, such as `TaskSet.task_kind`.
        start: which one of each stretch of tasks is taken, from 0 to below 1; another one gives
            other tasks in the same shares.
    """
    places = sorted(range(len(ids)), key=lambda place: task_kind(ids[place]))
    chosen = sorted(places[int((n + start) * len(ids) / count)] for n in range(count))
    return [ids[place] for place in chosen]


class TaskSet(ABC):
    """The tasks of one scenario.

    Subclasses name the scenario, list the numbers of each split and describe one number.
    Splits never overlap; numbers outside every listed split may still be valid tasks.
    """

    env_name: str
    """The scenario's prefix in task ids, e.g. `"babyai"`."""

    splits: tuple[str, ...]
    """Names of the listed splits, `"train"`, `"validation"` and `"test"` among them."""

    panels: Mapping[str, str] = {}
    """Pinned parts of a split, each with the split that holds it: `{"paper_test": "test"}`.

    A panel can be named where a split can; its tasks' `split` is the one they are part of.
    """

    tasks_filter: str = "task ids, their numbers, or subtasks"
    """The values of a `tasks=` filter, for messages."""

    @abstractmethod
    def numbers(self, split: str) -> Sequence[int]:
        """List the task numbers of one of `splits` or `panels`, in order."""

    @abstractmethod
    def describe(self, number: int) -> tuple[str, str]:
        """Return (subtask, split) of a task number.

        Raises:
            UnknownTask: there is no such task; the message says which numbers there are.
        """

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return the labels of this task: its id, number and subtask."""
        return (spec.task_id, spec.number, spec.subtask)

    def task_kind(self, task_id: str | int) -> tuple[str, str]:
        """Return a task's subtask and the last of its labels, such as BabyAI's level.

        Raises:
            UnknownTask: there is no such task.
        """
        spec = self.spec(task_id)
        return (spec.subtask, str(self.labels(spec)[-1]))

    def explain_empty(self, split: str) -> str:
        """Return why a split or panel holds no task, or an empty text where no reason is known."""
        return ""

    def spec(self, task_id: str | int) -> TaskSpec:
        """Look a task up by id (`"babyai_41"`) or number (`41`).

        Raises:
            UnknownTask: the id has another form, names another scenario, or does not exist.
        """
        number = self._number(task_id)
        subtask, split = self.describe(number)
        return TaskSpec(f"{self.env_name}_{number}", number, subtask, split)

    def task_ids(self, split: str) -> list[str]:
        """List the ids of one split or panel, in order.

        Raises:
            UnknownTask: there is no such split.
        """
        self.check_split(split)
        return [f"{self.env_name}_{number}" for number in self.numbers(split)]

    def check_split(self, split: str) -> None:
        """Raise UnknownTask unless `split` is one of `splits` or `panels`."""
        allowed = (*self.splits, *self.panels)
        if split not in allowed:
            raise UnknownTask(
                f"unknown split {split!r} of {self.env_name}; allowed: {', '.join(allowed)}"
            )

    def select(self, split: str, tasks: Sequence[str | int] | None) -> Sequence[int]:
        """List the numbers of a split that a `tasks=` filter leaves.

        Args:
            split: one of `splits` or `panels`.
            tasks: a list of subtasks, depths or ids, or one of them; None keeps everything. An
                entry that ends in `.json` is a file of item ids, whose tasks are taken in the
                file's order, whatever split they are of.

        Raises:
            UnknownTask: the split is unknown, the filter holds something else, an entry of it
                matches nothing in the split, or a file names what is no task.
        """
        self.check_split(split)
        numbers = self.numbers(split)
        if tasks is None:
            return numbers
        entries = self._entries(tasks, split)
        listed = self._listed(entry for entry in entries if is_item_file(entry))
        entries = [entry for entry in entries if not is_item_file(entry)]
        if not entries and listed:
            return listed
        labels = {number: self.labels(self.spec(number)) for number in numbers}
        known = {label for row in labels.values() for label in row}
        missing = [entry for entry in entries if entry not in known]
        if missing or not entries:
            raise UnknownTask(
                f"tasks={entries!r}: {missing!r} match nothing in split {split!r} of "
                f"{self.env_name}; allowed: {self._allowed(split)}"
            )
        chosen = set(entries)
        own = [number for number, row in labels.items() if chosen.intersection(row)]
        return list(dict.fromkeys([*own, *listed]))

    def _listed(self, files: Iterable[Any]) -> list[int]:
        """Return the numbers of the tasks that files of item ids name."""
        numbers: dict[int, None] = {}
        for path in files:
            try:
                numbers.update((self.spec(item).number, None) for item in read_item_ids(path))
            except UnknownTask as error:
                error.add_note(f"read in {path}")
                raise
        return list(numbers)

    def _entries(self, tasks: Any, split: str) -> list[str | int]:
        """Return the entries of a filter, which may be one entry alone."""
        if _is_label(tasks):
            return [tasks]
        if not isinstance(tasks, Iterable) or isinstance(tasks, (Mapping, bytes)):
            raise UnknownTask(
                f"tasks={tasks!r:.80} is no filter; give a list of {self._allowed(split)}"
            )
        entries = list(tasks)
        for entry in entries:
            if not _is_label(entry):
                raise UnknownTask(
                    f"tasks={entries!r:.80}: {entry!r:.80} is neither a str nor an int; give a "
                    f"list of {self._allowed(split)}"
                )
        return entries

    def _allowed(self, split: str) -> str:
        subtasks = sorted({self.spec(number).subtask for number in self.numbers(split)})
        example = f", such as tasks={subtasks[:1]!r}" if subtasks else ""
        return (
            f"{self.tasks_filter}, or .json files of item ids{example}; split {split!r} has the "
            f"subtasks {subtasks}"
        )

    def _number(self, task_id: Any) -> int:
        if _is_number(task_id):
            return int(task_id)
        prefix = f"{self.env_name}_"
        if isinstance(task_id, str) and task_id.startswith(prefix):
            digits = task_id[len(prefix) :]
            if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS:
                return int(digits)
        raise UnknownTask(
            f"unknown task_id {task_id!r:.80}; expected '{prefix}<number>' such as '{prefix}0', "
            f"or the number alone as an int"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_label(value: Any) -> bool:
    return isinstance(value, str) or _is_number(value)


def _check_table(table: Any) -> None:
    """Raise ValueError unless each number belongs to one subtask of one split."""
    if not _maps_names(table) or not all(_maps_names(subtasks) for subtasks in table.values()):
        raise ValueError(
            "a table of tasks must be {split: {subtask: numbers}}, such as {'train': {'easy': "
            f"range(0, 50)}}, 'validation': {{}}, 'test': {{}}}}; got {table!r:.200}"
        )
    owners: dict[int, str] = {}
    for split, subtasks in table.items():
        for subtask, numbers in subtasks.items():
            where = f"{split!r}, {subtask!r}"
            if not isinstance(numbers, Iterable):
                raise ValueError(f"{where} must hold a list or a range of ints, got {numbers!r}")
            for number in numbers:
                if not _is_number(number) or number < 0:
                    raise ValueError(f"{where}: a task number must be an int >= 0, got {number!r}")
                if number in owners:
                    raise ValueError(
                        f"{where}: the task number {number} stands in {owners[number]} already; "
                        "give each number to one subtask of one split"
                    )
                owners[number] = where


def _maps_names(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


class ListedTasks(TaskSet):
    """A task set whose tasks are all listed: {split: {subtask: numbers}}.

    Args:
        env_name: prefix of the task ids; two scenarios of one mixture need two.
        table: for each split, the numbers of each subtask. No number stands twice.

    Raises:
        ValueError: one of them has another form, or a number stands twice.
    """

    def __init__(self, env_name: str, table: Mapping[str, Mapping[str, Sequence[int]]]) -> None:
        if not re.fullmatch(r"[A-Za-z][\w-]*", env_name, re.ASCII):
            raise ValueError(
                f"env_name must be a letter, then letters, digits, _ or -, such as 'key_maze': it "
                f"begins the task ids; got {env_name!r}"
            )
        _check_table(table)
        self.env_name = env_name
        self.splits = tuple(table)
        self._table = table

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        return {
            split: sorted(number for numbers in subtasks.values() for number in numbers)
            for split, subtasks in self._table.items()
        }

    @cached_property
    def _index(self) -> dict[int, tuple[str, str]]:
        return {
            number: (subtask, split)
            for split, subtasks in self._table.items()
            for subtask, numbers in subtasks.items()
            for number in numbers
        }

    def numbers(self, split: str) -> Sequence[int]:
        """List the task numbers of one split, ascending."""
        return self._numbers[split]

    def describe(self, number: int) -> tuple[str, str]:
        """Return (subtask, split) of a listed number.

        Raises:
            UnknownTask: the number is not listed.
        """
        try:
            return self._index[number]
        except KeyError:
            raise UnknownTask(
                f"unknown task_id '{self.env_name}_{number}'; there are {len(self._index)} tasks, "
                f"'{self.env_name}_{min(self._index)}' to '{self.env_name}_{max(self._index)}'; "
                f"env.unwrapped.task_ids(split) lists them"
            ) from None
