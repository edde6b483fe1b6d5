"""Checks of the free memory and of the folders for caches and temporary files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from agentgym_envs.content.files import CACHE_VARIABLE, cache_folder
from benchmarks.doctor.checks import Check, Finding, Status
from benchmarks.machine import memory
from trainers.options.errors import UsageError, check_folder

MIN_MEMORY = 2 * 10**9
"""Bytes that `agentgym quickstart`, or an environment in each of a few processes, needs."""

MIN_DISK = 10**9
"""Bytes: checkpoints of a small model."""


def machine_checks() -> Iterator[Check]:
    """Yield the checks of memory and disk."""
    yield Check("memory", free_memory)
    yield Check("cache", partial(folder_room, CACHE_VARIABLE, partial(cache_folder, "")))
    if find_spec("huggingface_hub") is not None:
        yield Check("model cache", partial(folder_room, "HF_HUB_CACHE", _hub_cache))
    temporary = partial(folder_room, "TMPDIR", lambda: Path(tempfile.gettempdir()))
    yield Check("temporary files", temporary, "export TMPDIR=FOLDER")


def free_memory() -> Finding:
    """Compare the free memory with `MIN_MEMORY`."""
    measured = memory()
    if measured.free is None:
        return Finding(Status.WORKS, size(measured.total))
    text = f"{size(measured.free)} of {size(measured.total)} free"
    if measured.free < MIN_MEMORY:
        text += f"; training and many environments need {size(MIN_MEMORY)} and more"
        return Finding(Status.WARNING, text, "top -o %MEM  # shows what holds it")
    return Finding(Status.WORKS, text)


def folder_room(variable: str, folder_of: Callable[[], Path]) -> Finding:
    """Check that a folder, which need not exist yet, can be written and has room on its disk.

    Args:
        variable: the environment variable that selects another folder.
        folder_of: returns the folder.
    """
    folder = folder_of()
    remedy = f"export {variable}=FOLDER  # a folder elsewhere"
    try:
        check_folder(variable, folder)
    except UsageError as error:
        return Finding(Status.WARNING, f"{error}; nothing is kept for later", remedy)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    text = f"{folder}: writable, {size(free)} free on its disk"
    if free < MIN_DISK:
        return Finding(Status.WARNING, text, remedy)
    return Finding(Status.WORKS, text)


def size(number: float) -> str:
    """Format a number of bytes in the unit that suits it."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def _hub_cache() -> Path:
    from huggingface_hub.constants import HF_HUB_CACHE

    return Path(HF_HUB_CACHE)
