"""Numbers WebArena's tasks and lists them by split."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentgym_envs.core.tasks import TaskSet, TaskSpec
from agentgym_envs.errors import UnknownTask
from agentgym_envs.sites.content import SiteContent
from agentgym_envs.webarena.tasks.files import SPLITS, WebTask

SUBTASKS = {
    "shopping": "Shopping",
    "shopping_admin": "CMS",
    "map": "Maps",
    "gitlab": "GitLab",
    "reddit": "Reddit",
}
"""The rows of the paper's table, by the first of a task's sites that has one."""


def subtask_name(sites: Sequence[str]) -> str:
    """Name the subtask of a task on these sites."""
    return next((SUBTASKS[site] for site in sites if site in SUBTASKS), "other")


@dataclass(frozen=True)
class Listing:
    """A task's entry in the index, known before the task is read."""

    subtask: str
    split: str
    template: int


class WebTasks(TaskSet):
    """Tasks by their numbers. A filter may also name a template: `"template_12"`.

    Args:
        listings: by number, ascending.
        panels: the numbers of each panel, all of them in the test split.
    """

    env_name = "webarena"
    splits = SPLITS

    def __init__(
        self, listings: Mapping[int, Listing], panels: Mapping[str, Sequence[int]]
    ) -> None:
        self._listings = listings
        self.panels = dict.fromkeys(panels, "test")
        self._numbers: dict[str, list[int]] = {split: [] for split in SPLITS}
        for number, listing in listings.items():
            self._numbers[listing.split].append(number)
        self._numbers |= {panel: list(numbers) for panel, numbers in panels.items()}

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split or panel, ascending."""
        return self._numbers[split]

    def describe(self, number: int) -> tuple[str, str]:
        """Return (subtask, split) of a task.

        Raises:
            UnknownTask: there is no such task.
        """
        listing = self._listings.get(number)
        if listing is None:
            raise UnknownTask(
                f"unknown task_id 'webarena_{number}'; there are {len(self._listings)} tasks, "
                f"'webarena_{min(self._listings)}' to 'webarena_{max(self._listings)}', with gaps; "
                "env.unwrapped.task_ids(split) lists a split"
            )
        return listing.subtask, listing.split

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return the names of a task in a `tasks=` filter: id, number, subtask, template."""
        return (*super().labels(spec), f"template_{self._listings[spec.number].template}")

    def task(self, number: int) -> WebTask:
        """Return a task."""
        raise NotImplementedError


class EmbeddedTasks(WebTasks):
    """The tasks of a world, split by template: a test template's are never seen in training.

    `paper_test` is a pinned part of `test` with the sizes of the paper's panel.

    Args:
        content: holds them; a template's are read when one of them is asked for.
    """

    def __init__(self, content: SiteContent) -> None:
        self._template_of = {number: each for each in content.templates for number in each.task_ids}
        listings: dict[int, Listing] = {}
        for each in content.templates:
            listing = Listing(subtask_name(each.sites), each.split, each.template)
            listings |= dict.fromkeys(each.task_ids, listing)
        super().__init__(listings, {"paper_test": content.paper_test})
        self._lines_of = lru_cache(maxsize=64)(lambda file: content.read(file).splitlines())

    def task(self, number: int) -> WebTask:
        """Return a task."""
        template = self._template_of[number]
        line = self._lines_of(template.file)[number - template.task_ids.start]
        return WebTask.from_json(json.loads(line))


class GivenTasks(WebTasks):
    """Tasks that somebody brings.

    Args:
        tasks: those that name no split are of the test split.
        panels: the numbers of each panel; those count whose tasks are there.
    """

    def __init__(
        self, tasks: Iterable[WebTask], panels: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        self._tasks = {task.task_id: task for task in sorted(tasks, key=lambda t: t.task_id)}
        listings = {
            number: Listing(subtask_name(task.sites), task.split or "test", task.intent_template_id)
            for number, task in self._tasks.items()
        }
        there = {
            name: [number for number in numbers if number in listings]
            for name, numbers in (panels or {}).items()
        }
        super().__init__(listings, there)

    def task(self, number: int) -> WebTask:
        """Return a task."""
        return self._tasks[number]
