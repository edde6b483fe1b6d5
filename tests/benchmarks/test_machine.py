from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.machine import Memory, memory

KIBI = 1024
TABLE = f"MemTotal: {8 * KIBI} kB\nMemFree: 1 kB\nMemAvailable: {5 * KIBI} kB\nHugePages_Total: 0\n"
MEBI = 2**20


@pytest.fixture
def meminfo(tmp_path: Path) -> Path:
    path = tmp_path / "meminfo"
    path.write_text(TABLE)
    return path


def write(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(f"{text}\n")
    return folder


def test_a_machine_without_limits_has_all_of_its_memory(meminfo: Path, tmp_path: Path) -> None:
    assert memory(meminfo, tmp_path / "none") == Memory(8 * MEBI, 5 * MEBI)
    cgroup = write(tmp_path / "cgroup", memory_max="max", memory_current="1")
    assert memory(meminfo, cgroup) == Memory(8 * MEBI, 5 * MEBI)


def test_a_container_has_what_its_limit_leaves(meminfo: Path, tmp_path: Path) -> None:
    cgroup = write(
        tmp_path / "cgroup",
        memory_max=str(4 * MEBI),
        memory_current=str(3 * MEBI),
        memory_stat=f"anon 7\ninactive_file {MEBI // 2}\nactive_file 9",
    )
    assert memory(meminfo, cgroup) == Memory(4 * MEBI, MEBI + MEBI // 2)


def test_a_container_of_the_first_kind_too(meminfo: Path, tmp_path: Path) -> None:
    (tmp_path / "cgroup").mkdir()
    folder = write(tmp_path / "cgroup" / "memory")
    (folder / "memory.limit_in_bytes").write_text(f"{4 * MEBI}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{MEBI}\n")
    assert memory(meminfo, tmp_path / "cgroup") == Memory(4 * MEBI, 3 * MEBI)
    (folder / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert memory(meminfo, tmp_path / "cgroup") == Memory(8 * MEBI, 5 * MEBI)


def test_without_linux_the_whole_is_told(tmp_path: Path) -> None:
    there = memory(tmp_path / "none", tmp_path)
    assert there.total > 2**28 and there.free is None
