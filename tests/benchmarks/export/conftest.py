"""Packages that `agentgym export openenv` has written, and their servers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_HAS_EXTRA = all(find_spec(name) for name in ("starlette", "uvicorn", "wsproto"))

collect_ignore_glob = [] if _HAS_EXTRA else ["*.py"]


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a process that finds this suite and the package in `folder`."""
    paths = [str(ROOT), str(folder.parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@contextmanager
def package_server(folder: Path) -> Iterator[str]:
    """Start the package's server as its Dockerfile does, on a free port; its address."""
    server = subprocess.Popen(
        [sys.executable, "-B", "-m", "server.app", "--port", "0"],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        words = server.stdout.readline().split()
        assert words[:1] == ["serving"], words
        yield words[1].rstrip(";").rpartition("/")[0]
    finally:
        server.terminate()
        server.communicate(timeout=30)


@pytest.fixture(scope="session")
def text_craft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of TextCraft's package, under the name of its module."""
    from benchmarks.export import command

    folder = tmp_path_factory.mktemp("exported") / "text_craft_env"
    assert command.main(["openenv", "--env", "TextCraft", "--out", str(folder)]) == 0
    return folder
