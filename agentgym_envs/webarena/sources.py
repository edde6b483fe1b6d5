"""Chooses where the tasks and the sites come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentgym_envs.webarena.official.deployment import Deployment

from agentgym_envs.sites.content import SiteContent, open_content
from agentgym_envs.webarena.tasks.files import SPLITS, fingerprint, read_tasks
from agentgym_envs.webarena.tasks.task_set import EmbeddedTasks, GivenTasks, WebTasks

TasksFile = str | Path | Mapping[str, str | Path]
"""A file of tasks, all in the test split, or one file for each split."""

EVALUATIONS = ("original", "verified")


@dataclass(frozen=True)
class Source:
    """Tasks.

    Attributes:
        tasks: by number.
        name: what they are, with a version.
    """

    tasks: WebTasks
    name: str


def check_evaluation(
    evaluation: str, sites: Mapping[str, str] | str | None, tasks_file: TasksFile | None
) -> bool:
    """Return whether `webarena-verified` is to judge.

    Raises:
        ValueError: there is no such evaluation, or not for these tasks.
    """
    if evaluation not in EVALUATIONS:
        raise ValueError(f"unknown evaluation {evaluation!r}; allowed: {', '.join(EVALUATIONS)}")
    if evaluation == "original":
        return False
    if sites is None or tasks_file is not None:
        raise ValueError(
            "evaluation='verified' is for the official tasks: give sites= and no tasks_file="
        )
    return True


def open_world(sites_dir: str | Path | None, sites: Mapping[str, str] | str | None) -> SiteContent:
    """Return the content of the embedded sites.

    Args:
        sites_dir: a folder made by `python -m worlds sites`; None is the shipped content.
        sites: the addresses of a deployment, if one is played.

    Raises:
        ValueError: the folder holds no such content, or a deployment is named as well.
    """
    if sites_dir is None:
        return open_content()
    if sites is not None:
        raise ValueError(
            f"sites_dir={str(sites_dir)!r} gives the embedded sites other content, and sites= "
            "names a deployment; give one of them"
        )
    return open_content(Path(sites_dir).resolve())


def open_deployment(
    sites: Mapping[str, str] | str | None, backend: str, **kwargs: Any
) -> Deployment | None:
    """Return the deployment of the official sites that is named; None for the embedded sites.

    Args:
        sites: its addresses, or the environment's; see `read_sites`.
        backend: that shows the pages.
        **kwargs: as `Deployment`; without one they are not read.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: a package is missing; the message says what to install.
    """
    if sites is None:
        return None
    if backend != "chromium":
        raise ValueError(f"sites= needs backend='chromium', got {backend!r}")
    # Imported here: it needs the browser extra.
    from agentgym_envs.webarena.official.deployment import Deployment, read_sites

    return Deployment(read_sites(sites), **kwargs)


def open_source(
    tasks_file: TasksFile | None,
    content: SiteContent,
    *,
    sites: Mapping[str, str] | None = None,
    is_verified: bool = False,
) -> Source:
    """Return the embedded tasks, those of files, or the official ones.

    Args:
        tasks_file: a file of tasks, or one for each split.
        content: of the embedded sites, with their tasks.
        sites: the addresses of a deployment; None is for the embedded sites. Of the official tasks
            those remain whose sites are all among them.
        is_verified: take the official tasks as `webarena-verified` words them.

    Raises:
        ValueError: a file does not hold what it should, or a split is unknown.
        ImportError: the official tasks are not installed.
    """
    if tasks_file is None:
        return _embedded(content) if sites is None else _official(sites, is_verified)
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
    place = content.name if sites is None else f"{len(sites)} sites of a deployment"
    return Source(tasks, f"{names} ({fingerprint(everything)}) on {place}")


def _official(sites: Mapping[str, str], is_verified: bool) -> Source:
    # Imported here: it needs a package that the embedded sites do without.
    from agentgym_envs.webarena.official import dataset

    official = dataset.verified_tasks() if is_verified else dataset.official_tasks()
    playable = [task for task in official if set(task.sites) <= set(sites)]
    if not playable:
        raise ValueError(f"no official task plays on {sorted(sites)} alone; name more sites")
    tasks = GivenTasks(playable, dataset.agentgym_panels())
    return Source(tasks, dataset.source_name(is_verified=is_verified))


@cache
def _embedded(content: SiteContent) -> Source:
    return Source(EmbeddedTasks(content), content.name)
