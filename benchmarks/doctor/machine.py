"""Checks the free memory, and the room in the folders that are written."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from agentgym_envs.content.caches import CACHE_VARIABLE, cache_folder
from benchmarks.doctor.checks import Check, Finding, Status
from benchmarks.machine import memory
from trainers.options.errors import UsageError, check_folder

LEAST_MEMORY = 2 * 10**9
"""Bytes: `agentgym quickstart` and an environment in each of a few processes need about as much."""

LEAST_DISK = 10**9
"""Bytes: checkpoints of a small model."""


def machine_checks() -> Iterator[Check]:
    """Yield the checks of the machine."""
    yield Check("memory", free_memory)
    yield Check("cache", partial(cache, partial(cache_folder, ""), CACHE_VARIABLE))
    if find_spec("huggingface_hub") is not None:
        yield Check("model cache", partial(cache, _hub_cache, "HF_HUB_CACHE"))
    yield Check("temporary files", temporary_files, "export TMPDIR=FOLDER")


def free_memory() -> Finding:
    """Compare the free memory with what the least of uses needs."""
    there = memory()
    if there.free is None:
        return Finding(Status.WORKS, f"{size(there.total)}")
    text = f"{size(there.free)} of {size(there.total)} free"
    if there.free < LEAST_MEMORY:
        text += f"; training and many environments need {size(LEAST_MEMORY)} and more"
        return Finding(Status.WARNING, text, "top -o %MEM  # shows what holds it")
    return Finding(Status.WORKS, text)


def cache(folder: Callable[[], Path], variable: str) -> Finding:
    """Look at a folder of what can be fetched or made again.

    Args:
        folder: returns it; it need not be there yet.
        variable: the environment variable that names another one.
    """
    place = folder()
    remedy = f"export {variable}=FOLDER  # a folder elsewhere"
    try:
        check_folder(variable, place)
    except UsageError as error:
        return Finding(Status.WARNING, f"{error}; nothing is kept for later", remedy)
    return _with_room(place, remedy)


def temporary_files() -> Finding:
    """Look at the folder of temporary files, which everything needs."""
    place = Path(tempfile.gettempdir())  # it has tried to write there
    return _with_room(place, "export TMPDIR=FOLDER  # on a larger disk")


def _with_room(folder: Path, remedy: str) -> Finding:
    """Judge the room on the disk of a folder that can be written."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(nearest).free
    text = f"{folder}: writable, {size(free)} free on its disk"
    if free < LEAST_DISK:
        return Finding(Status.WARNING, text, remedy)
    return Finding(Status.WORKS, text)


def size(number: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number = number / 1000  # type: ignore[assignment]
    return f"{number:.1f} GB"


def _hub_cache() -> Path:
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)
