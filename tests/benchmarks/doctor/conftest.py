from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.doctor.installing import link_required, link_sources, write_ours

Doctor = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of packages that Python looks in first."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return a folder with what an install without extras has, ours being in the checkout."""
    folder = tmp_path / "bare"
    folder.mkdir()
    link_required(folder)
    link_sources(folder)
    write_ours(folder)
    return folder


@pytest.fixture
def doctor(bare: Path, tmp_path: Path) -> Doctor:
    """Return a function that runs the command with the bare install alone, in an empty folder.

    Python's `-S` leaves the installed packages out.
    """
    cwd = tmp_path / "cwd"
    cwd.mkdir()

    def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-S", "-m", "agentgym_envs", "doctor", *words], cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(bare), **environ},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run
