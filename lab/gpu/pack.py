"""Packs wheels and the model smollm2 for a machine without network.

The versions are those that are installed here. Files are cut into parts, for a machine that is
handed so many bytes at a time; `lab.gpu.unpack` joins them there.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from agentgym_envs.content.files import atomic_folder
from agentgym_envs.errors import install_command
from agentgym_envs.machinery.requirements import DISTRIBUTION
from lab.gpu.parts import PARTS
from lab.gpu.unpack import MANIFEST, PART
from trainers.models.fetched import PACKAGE
from trainers.options.errors import UsageError

PART_BYTES = 40_000_000
"""Bytes of a part. A lent machine takes 64 MiB a time, and the checkout is 25 MB of it."""

BASE = ("torch", "transformers", "accelerate", "peft")
"""Packages of the other machine by default, with their requirements."""

ROOTS = (f"{DISTRIBUTION}[train,envs]", "hypothesis", "pytest", "pytest-timeout", "setuptools>=77")
"""Requirements of the parts, all scenarios, the tests, and the checkout's installation."""

FURTHER = ("bitsandbytes",)
"""A part's packages that no other requires, in their newest versions."""

VERSION_MATTERS = ("setuptools",)
"""Packed unless the other machine's version is known to do. An old one cannot install us."""

_GLIBC = range(5, 40)
"""Versions of glibc that wheels may name. Ubuntu 24.04's is 2.39."""


def make_pack(
    folder: Path,
    *,
    there: str | None = None,
    also: Sequence[str] | None = None,
    python: str | None = None,
) -> None:
    """Write the pack.

    Args:
        folder: is made.
        there: a file of what is installed on the other machine, as `pip list --format freeze`
            prints it; None takes `BASE` and what it requires.
        also: further packages in their newest version, or files of wheels.
        python: the other machine's version, such as `"3.12"`; None takes this one's.

    Raises:
        UsageError: the folder is there, or pip cannot download something.
    """
    if folder.exists():
        raise UsageError(f"--pack must name a folder that is not there yet, got {folder}")
    python = python or ".".join(platform.python_version_tuple()[:2])
    installed_already = installed_there(there, python)
    names = missing(python, installed_already)
    names += [name for name in FURTHER if name not in installed_already]
    names += also or ()
    with TemporaryDirectory() as place:
        wheels = Path(place)
        for pinned in names:
            _download(pinned, wheels, python)
        installed = sorted(path.name for path in wheels.iterdir())
        _download(f"{PACKAGE.name}=={PACKAGE.version}", wheels, python)
        with atomic_folder(folder) as draft:
            num_parts = cut(sorted(wheels.iterdir()), draft, installed=installed, python=python)
    print(f"{num_parts} parts in {folder}: {PART}1 to {PART}{num_parts}, for Python {python}")
    for package, parts in unmet([*names, *installed_already]).items():
        print(f"without {package}, which is not packed, {', '.join(parts)} will be skipped")


def unmet(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the parts that will be skipped, by the package that they lack.

    Args:
        names: requirements, and files of wheels.
    """
    known = {canonicalize_name(re.split(r"[=-]", Path(name).name)[0]) for name in names}
    skipped: dict[str, list[str]] = {}
    for part in PARTS.values():
        for package, _ in part.needs:
            if canonicalize_name(package) not in known:
                skipped.setdefault(package, []).append(part.name)
    return skipped


def installed_there(file: str | None, python: str) -> dict[str, str | None]:
    """Return the packages of the other machine, with the versions that are known.

    Args:
        file: see `make_pack`.
        python: its version.
    """
    if file is None:
        return dict.fromkeys(closure(BASE, python))
    lines = [line.partition("==") for line in Path(file).read_text("utf-8").split()]
    return {canonicalize_name(name): version or None for name, _, version in lines}


def missing(python: str, there: Mapping[str, str | None]) -> list[str]:
    """List the packages to take along, as pip's requirements.

    Args:
        python: the other machine's version.
        there: what it has; another version than is required is taken along all the same.
    """
    named = []
    for name, allowed in sorted(closure(ROOTS, python).items()):
        version = there.get(name)
        fits = name in there and (
            name not in VERSION_MATTERS
            if version is None
            else allowed.contains(version, prereleases=True)
        )
        if not fits and name != DISTRIBUTION:
            named.append(f"{name}=={_version(name).partition('+')[0]}")
    return named


def closure(roots: Iterable[str], python: str) -> dict[str, SpecifierSet]:
    """Return the packages that some require, themselves included, with their allowed versions.

    Args:
        roots: requirements.
        python: the version that conditions are read for.

    Raises:
        UsageError: one is not installed here, so that nothing is known of what it requires.
    """
    specifiers: dict[str, SpecifierSet] = {}
    waiting = [Requirement(root) for root in roots]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        specifiers[name] = specifiers.get(name, SpecifierSet()) & requirement.specifier
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        _version(name)
        further = map(Requirement, metadata.requires(name) or ())
        waiting.extend(one for one in further if _is_required(one, extras, python))
    return specifiers


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError as error:
        raise UsageError(
            f"{name} is not installed here, whose version is to be packed; install it with: "
            f"{install_command('dev')}"
        ) from error


def _is_required(requirement: Requirement, extras: Iterable[str], python: str) -> bool:
    if requirement.marker is None:
        return True
    versions = {"python_version": python, "python_full_version": f"{python}.0"}
    return any(requirement.marker.evaluate({**versions, "extra": one}) for one in (*extras, ""))


def _download(pinned: str, folder: Path, python: str) -> None:
    """Let pip download one wheel for the other machine, or take the file of one."""
    if pinned.endswith(".whl"):
        (folder / Path(pinned).name).write_bytes(Path(pinned).read_bytes())
        return
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in _GLIBC]
    platforms += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
            *("--disable-pip-version-check", "--no-input", "--quiet", "--dest", str(folder)),
            *("--python-version", python, "--implementation", "cp"),
            *(word for one in platforms for word in ("--platform", one)),
            pinned,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise UsageError(f"{pinned} cannot be packed: pip says {last!r}")


def cut(
    files: Sequence[Path],
    folder: Path,
    *,
    installed: Sequence[str],
    python: str,
    part_bytes: int = PART_BYTES,
) -> int:
    """Cut files into the parts of a folder.

    Args:
        files: what is packed.
        folder: holds the parts.
        installed: names of the files that are to be installed; the others are kept.
        python: the version that they are for.
        part_bytes: the most of a part, its manifest aside.

    Returns:
        the number of parts.
    """
    part, room = 1, part_bytes
    entries: list[dict[str, Any]] = []
    (folder / f"{PART}1").mkdir()
    for file in files:
        content = file.read_bytes()
        pieces: list[dict[str, Any]] = []
        while content:
            if not room:
                part, room = part + 1, part_bytes
                (folder / f"{PART}{part}").mkdir()
            piece, content = content[:room], content[room:]
            room -= len(piece)
            name = f"{file.name}.{len(pieces):03}"
            (folder / f"{PART}{part}" / name).write_bytes(piece)
            pieces.append({"part": part, "name": name, "sha256": _sha256(piece)})
        entries.append(
            {
                "name": file.name,
                "sha256": _sha256(file.read_bytes()),
                "installed": file.name in installed,
                "pieces": pieces,
            }
        )
    manifest = json.dumps({"python": python, "parts": part, "files": entries}, indent=1)
    for number in range(1, part + 1):
        (folder / f"{PART}{number}" / MANIFEST).write_text(manifest + "\n", encoding="utf-8")
    return part


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
