"""The memory that a process may use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Memory:
    """Memory in bytes.

    Attributes:
        total: what there is, or what a container may use of it.
        free: what can be had without swapping; None where the system does not tell.
    """

    total: int
    free: int | None


def memory(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = _CGROUP) -> Memory:
    """Return the memory of the machine, or of the container where that has less.

    Args:
        meminfo: Linux's table.
        cgroup: where Linux keeps a container's limits.
    """
    try:
        lines = meminfo.read_text("utf-8").splitlines()
    except OSError:  # not Linux
        return Memory(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), None)
    rows = (line.partition(":") for line in lines)
    table = {name: int(rest.split()[0]) * 1024 for name, _, rest in rows}
    total, free = table["MemTotal"], table["MemAvailable"]
    limit = _number(cgroup / "memory.max") or _number(cgroup / "memory/memory.limit_in_bytes")
    if limit is None or limit >= total:  # without a limit it is `max`, or nearly 2**63
        return Memory(total, free)
    used = _number(cgroup / "memory.current") or _number(cgroup / "memory/memory.usage_in_bytes")
    # What files hold of it is given back when it is needed.
    return Memory(limit, min(free, limit - (used or 0) + _file_cache(cgroup)))


def _number(path: Path) -> int | None:
    try:
        text = path.read_text("utf-8").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None


def _file_cache(cgroup: Path) -> int:
    for path in (cgroup / "memory.stat", cgroup / "memory" / "memory.stat"):
        try:
            lines = path.read_text("utf-8").splitlines()
        except OSError:
            continue
        return sum(int(x.split()[1]) for x in lines if x.startswith("inactive_file "))
    return 0
