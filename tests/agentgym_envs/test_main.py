"""`python -m agentgym_envs` is the command, whatever folders lie around it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import agentgym_envs
from agentgym_envs.__main__ import SIBLINGS, hidden_by

ROOT = Path(__file__).parents[2]


def command(folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Ask for the version in a folder, with paths before ours."""
    path = os.pathsep.join(map(str, [*paths, ROOT]))
    return subprocess.run(
        [sys.executable, "-m", "agentgym_envs", "--version"], cwd=folder,
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_module_is_the_command(tmp_path: Path) -> None:
    ended = command(tmp_path)
    assert (ended.returncode, ended.stdout) == (0, f"{agentgym_envs.__version__}\n"), ended.stderr


@pytest.mark.parametrize("name", SIBLINGS)
@pytest.mark.parametrize("kind", ["package", "folder", "module"])
def test_what_lies_in_the_present_folder_hides_nothing(
    kind: str, name: str, tmp_path: Path
) -> None:
    make(kind, name, tmp_path)
    ended = command(tmp_path)
    assert (ended.returncode, ended.stdout) == (0, f"{agentgym_envs.__version__}\n"), ended.stderr


@pytest.mark.parametrize("name", SIBLINGS)
@pytest.mark.parametrize("kind", ["package", "module"])
def test_what_is_in_the_way_is_named(kind: str, name: str, tmp_path: Path) -> None:
    made = make(kind, name, tmp_path)
    ended = command(ROOT, tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    (told,) = ended.stderr.strip().splitlines()
    assert told.startswith(f"agentgym: {made} is in the way of the package {name!r}")
    assert f"without {tmp_path} on PYTHONPATH" in told


def make(kind: str, name: str, folder: Path) -> Path:
    """Make what has the name of one of our packages."""
    if kind == "module":
        made = folder / f"{name}.py"
        made.touch()
        return made
    made = folder / name
    made.mkdir()
    if kind == "package":
        (made / "__init__.py").touch()
    return made


def test_our_own_packages_hide_nothing() -> None:
    assert [hidden_by(name) for name in SIBLINGS] == [None, None, None]


def test_a_package_that_is_nowhere_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match="installed without 'no_such_package'"):
        hidden_by("no_such_package")
