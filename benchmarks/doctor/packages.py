"""Checks Python, this package and the packages of each extra."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet

import agentgym_envs
from agentgym_envs.errors import install_command, pip_install
from agentgym_envs.machinery.requirements import (
    DISTRIBUTION,
    Package,
    all_packages,
    extras,
    own_packages,
)
from benchmarks.doctor.checks import Check, Finding, Status

FOR_DEVELOPERS = ("dev", "docs")
"""Extras for work on this package itself."""

PURPOSES = {
    "eval": "collect, eval, sweep, report, compare, view",
    "train": "language models and trainers",
    "vllm": "sampling with vLLM",
    "science": "SciWorld",
    "alfworld": "ALFWorld's own games",
    "search": "SearchQA, WebShop",
    "dense": "dense retrieval for SearchQA",
    "web": "WebArena",
    "browser": "WebArena in Chromium",
    "serve": "agentgym serve",
    "miniwob": "MiniWoB++",
    "remote": "environments of OpenEnv servers",
    "official": "WebArenaOfficial",
    "ray": "environments and sweeps on a Ray cluster",
}


def package_checks() -> Iterator[Check]:
    """Yield the checks of what pip has installed."""
    yield Check("Python", python)
    yield Check("agentgym-envs", suite)
    try:
        named = [name for name in extras() if name not in FOR_DEVELOPERS and own_packages(name)]
    except metadata.PackageNotFoundError:  # which the line above says
        named = []
    for extra in named:
        yield Check(f"[{extra}]", partial(of_extra, extra), install_command(extra))


def python() -> Finding:
    """Compare Python's version with those that are allowed."""
    version = platform.python_version()
    text = f"{version}, {sys.executable}"
    try:
        allowed = metadata.metadata(DISTRIBUTION)["Requires-Python"]
    except metadata.PackageNotFoundError:
        return Finding(Status.WORKS, text)
    if SpecifierSet(allowed).contains(version, True):
        return Finding(Status.WORKS, text)
    remedy = "python3.12 -m venv .venv  # and install into it"
    return Finding(Status.BROKEN, f"{text}; allowed: {allowed}", remedy)


def suite() -> Finding:
    """Look at this package's own installation and at what it always requires."""
    version = agentgym_envs.__version__
    place = Path(agentgym_envs.__file__).parents[1]
    try:
        installed = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        text = f"{version} in {place} is not installed: its versions and extras cannot be checked"
        return Finding(Status.BROKEN, text, pip_install(f"-e {shlex.quote(str(place))}"))
    if installed != version:
        text = f"{version} in {place}, but pip has installed {installed}"
        return Finding(Status.WARNING, text, pip_install(f"-e {shlex.quote(str(place))}"))
    packages = own_packages()
    missing = [package for package in packages if package.version is None]
    if missing:
        names = ", ".join(package.name for package in missing)
        text = f"{version} in {place}; always needed, and not installed: {names}"
        return Finding(Status.BROKEN, text, pip_install(quoted(missing)))
    return _judged("", packages, missing=[], purpose=f"{version} in {place}")


def of_extra(extra: str) -> Finding:
    """Look at what is installed of an extra, and whether its versions are allowed."""
    missing = lacking(extra)
    return _judged(extra, own_packages(extra), missing=missing, purpose=PURPOSES.get(extra, ""))


def lacking(extra: str) -> list[str]:
    """Return the packages of an extra, and of those that it includes, that are not installed."""
    return [package.name for package in all_packages(extra) if package.version is None]


def without(extra: str, what: str) -> Finding | None:
    """Return the finding that something is missing because its extra is; None where it is not."""
    names = lacking(extra)
    if not names:
        return None
    text = f"{what} needs the {extra} extra (not installed: {', '.join(names)})"
    return Finding(Status.MISSING, text, install_command(extra))


def _judged(
    extra: str, packages: Sequence[Package], *, missing: Sequence[str], purpose: str
) -> Finding:
    """Judge packages: some missing from an extra, gone from the disk, of another version, right."""
    there = [package for package in packages if package.version is not None]
    versions = ", ".join(f"{package.name} {package.version}" for package in there)
    if missing:
        but = f" (there: {versions})" if there else ""
        text = f"{purpose}; not installed: {', '.join(missing)}{but}"
        return Finding(Status.MISSING, text, install_command(extra))
    gone = [package for package in packages if not package.can_be_found]
    if gone:
        names = " ".join(package.name for package in gone)
        text = f"Python cannot find what is installed as {names}"
        remedy = pip_install(f"--force-reinstall {quoted(gone)}")
        return Finding(Status.BROKEN, f"{purpose}; {text}", remedy)
    wrong = [package for package in there if not package.is_allowed]
    if wrong:
        versions = ", ".join(f"{one.name} {one.version} (allowed: {one.allowed})" for one in wrong)
        text = f"{purpose}; not a version that this package is written for: {versions}"
        return Finding(Status.BROKEN, text, pip_install(quoted(wrong)))
    return Finding(Status.WORKS, f"{purpose}; {versions}")


def quoted(packages: Sequence[Package]) -> str:
    """Return packages and their allowed versions as words of a pip command."""
    return " ".join(f'"{package.requirement}"' for package in packages)
