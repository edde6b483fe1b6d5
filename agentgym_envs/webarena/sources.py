"""The sources of tasks: the content of the embedded sites, or files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from agentgym_envs.sites.content import SiteContent
from agentgym_envs.webarena.tasks.files import SPLITS, fingerprint, read_tasks
from agentgym_envs.webarena.tasks.task_set import EmbeddedTasks, GivenTasks, WebTasks

TasksFile = str | Path | Mapping[str, str | Path]
"""A file of tasks, all in the test split, or one file for each split."""


@dataclass(frozen=True)
class Source:
    """Tasks.

    Attributes:
        tasks: by number.
        name: what they are, with a version.
    """

    tasks: WebTasks
    name: str


@cache
def embedded_source(content: SiteContent) -> Source:
    """Return the tasks of the embedded sites."""
    return Source(EmbeddedTasks(content), content.name)


def read_source(tasks_file: TasksFile, *, sites_name: str) -> Source:
    """Return the tasks of files.

    Args:
        tasks_file: a file of tasks, or one for each split.
        sites_name: names the sites that they are played on.

    Raises:
        ValueError: a file does not hold what it should, or a split is unknown.
    """
    files = tasks_file if isinstance(tasks_file, Mapping) else {None: tasks_file}
    unknown = sorted(str(split) for split in files if split not in (None, *SPLITS))
    if unknown:
        raise ValueError(f"unknown splits {unknown}; allowed: {', '.join(SPLITS)}")
    given = {split: read_tasks(path) for split, path in files.items()}
    everything = [task for each in given.values() for task in each]
    if len({task.task_id for task in everything}) < len(everything):
        raise ValueError("two splits hold a task_id of the same number; each needs its own")
    tasks = GivenTasks(
        [replace(task, split=split or task.split) for split, each in given.items() for task in each]
    )
    names = "+".join(Path(path).name for path in files.values())
    return Source(tasks, f"{names} ({fingerprint(everything)}) on {sites_name}")
