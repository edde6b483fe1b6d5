"""Numbers WebArena's tasks: the embedded ones, or those of task files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from agentgym_envs.tasks import TaskSet, TaskSpec
from agentgym_envs.webarena.tasks import catalogue
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.pins import PAPER_TEST

SPLITS = ("train", "validation", "test")

SUBTASKS = {
    "shopping": "Shopping",
    "shopping_admin": "CMS",
    "map": "Maps",
    "gitlab": "GitLab",
    "reddit": "Reddit",
}
"""The rows of the paper's table, by the first of a task's sites that has one."""


def subtask_of(sites: Sequence[str]) -> str:
    """Name the subtask of a task on these sites."""
    return next((SUBTASKS[site] for site in sites if site in SUBTASKS), "other")


class EmbeddedTasks(TaskSet):
    """The embedded tasks, split by template: a test template's tasks are never seen in training.

    `paper_test` is a pinned part of `test` with the sizes of the paper's panel. A filter may also
    name a template: `"template_12"`.
    """

    env_name = "webarena"
    splits = SPLITS
    panels = {"paper_test": "test"}

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split or panel, ascending."""
        return PAPER_TEST if split in self.panels else catalogue.numbers(split)

    def describe(self, number: int) -> tuple[str, str]:
        """Return (subtask, split) of a task."""
        try:
            template, _ = catalogue.split_number(number)
        except ValueError:
            known = catalogue.templates()
            raise ValueError(
                f"unknown task_id 'webarena_{number}'; a number is that of a template "
                f"({min(known)} to {max(known)}, with gaps) times {catalogue.STRIDE} plus 0 to "
                f"{catalogue.INSTANCES - 1}; env.unwrapped.task_ids(split) lists a split"
            ) from None
        return subtask_of(template.sites), template.split

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return what a `tasks=` filter may call a task: id, number, subtask or template."""
        return (*super().labels(spec), f"template_{spec.number // catalogue.STRIDE}")

    def task(self, number: int) -> WebTask:
        """Return a task in WebArena's form."""
        return catalogue.task_of(number)


class GivenTasks(TaskSet):
    """Tasks that somebody brings.

    Args:
        tasks: for each split, its tasks; splits that are left out are empty.

    Raises:
        ValueError: two tasks have one number.
    """

    env_name = "webarena"
    splits = SPLITS

    def __init__(self, tasks: Mapping[str, Sequence[WebTask]]) -> None:
        self._split_of = {task.task_id: split for split, each in tasks.items() for task in each}
        self._tasks = {task.task_id: task for each in tasks.values() for task in each}
        if len(self._tasks) < sum(len(each) for each in tasks.values()):
            raise ValueError("two splits hold a task_id of the same number; each needs its own")

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        return {
            split: sorted(number for number, of in self._split_of.items() if of == split)
            for split in SPLITS
        }

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split, ascending."""
        return self._numbers[split]

    def describe(self, number: int) -> tuple[str, str]:
        """Return (subtask, split) of a task."""
        if number not in self._tasks:
            raise ValueError(
                f"unknown task_id 'webarena_{number}'; there are {len(self._tasks)} tasks, "
                f"'webarena_{min(self._tasks)}' to 'webarena_{max(self._tasks)}'; "
                "env.unwrapped.task_ids(split) lists a split"
            )
        return subtask_of(self._tasks[number].sites), self._split_of[number]

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return what a `tasks=` filter may call a task: id, number, subtask or template."""
        template = self._tasks[spec.number].intent_template_id
        return (*super().labels(spec), f"template_{template}")

    def task(self, number: int) -> WebTask:
        """Return a task."""
        return self._tasks[number]
