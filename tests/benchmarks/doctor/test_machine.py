from __future__ import annotations

import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest

from agentgym_envs.content.files import CACHE_VARIABLE, cache_folder
from benchmarks.doctor import machine
from benchmarks.doctor.checks import Finding, Status
from benchmarks.machine import Memory

GIGA = 10**9


@pytest.mark.parametrize(
    ("there", "status", "text"),
    [
        (Memory(16 * GIGA, 9 * GIGA), Status.WORKS, "9.0 GB of 16.0 GB free"),
        (Memory(16 * GIGA, GIGA), Status.WARNING, "1.0 GB of 16.0 GB free"),
        (Memory(16 * GIGA, None), Status.WORKS, "16.0 GB"),
    ],
)
def test_little_memory_is_warned_of(
    there: Memory, status: Status, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "memory", lambda: there)
    finding = machine.free_memory()
    assert finding.status is status
    assert finding.text.startswith(text)


def test_a_cache_that_can_be_made_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    finding = machine.folder_room(CACHE_VARIABLE, partial(cache_folder, ""))
    assert finding.status is Status.WORKS
    assert finding.text.startswith(f"{folder}: writable, ")
    assert list(tmp_path.glob("**/.agentgym-*")) == []  # trying to write leaves nothing


def test_a_cache_that_cannot_be_written_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    finding = machine.folder_room(CACHE_VARIABLE, partial(cache_folder, ""))
    assert finding.status is Status.WARNING
    assert "must name a folder, got the file" in finding.text
    assert (finding.remedy or "").startswith(f"export {CACHE_VARIABLE}=")


def test_a_full_disk_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=5_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    finding = machine.folder_room(CACHE_VARIABLE, partial(cache_folder, ""))
    assert finding.status is Status.WARNING and "5 MB free" in finding.text
    assert temporary_files().status is Status.WARNING


def temporary_files() -> Finding:
    checks = {check.name: check for check in machine.machine_checks()}
    return checks["temporary files"].run()


def test_no_place_for_temporary_files_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert temporary_files().status is Status.WORKS

    def nowhere() -> str:
        raise FileNotFoundError("No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    finding = temporary_files()
    assert finding.status is Status.BROKEN and "No usable temporary" in finding.text
    assert (finding.remedy or "").startswith("export TMPDIR=")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_120, "1.12 kB"),
        (25 * 10**6, "25 MB"),
        (3 * 10**12, "3000.0 GB"),
    ],
)
def test_sizes_are_told_in_the_unit_that_suits(number: int, text: str) -> None:
    assert machine.size(number) == text
