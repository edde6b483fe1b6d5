"""Checks of Python, this package and the packages of each extra."""

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
    "eval": "collect, eval, headroom, sweep, report, compare, view",
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
    """Yield the checks of the packages that pip has installed."""
    yield Check("Python", python)
    yield Check("agentgym-envs", own_installation)
    try:
        names = [name for name in extras() if name not in FOR_DEVELOPERS and own_packages(name)]
    except metadata.PackageNotFoundError:  # which the line above reports
        names = []
    for extra in names:
        yield Check(f"[{extra}]", partial(check_extra, extra), install_command(extra))


def python() -> Finding:
    """Compare Python's version with the versions that are allowed."""
    version = platform.python_version()
    text = f"{version}, {sys.executable}"
    try:
        allowed = metadata.metadata(DISTRIBUTION)["Requires-Python"]
    except metadata.PackageNotFoundError:
        allowed = ""
    if SpecifierSet(allowed).contains(version, True):
        return Finding(Status.WORKS, text)
    remedy = "python3.12 -m venv .venv  # and install into it"
    return Finding(Status.BROKEN, f"{text}; allowed: {allowed}", remedy)


def own_installation() -> Finding:
    """Check this package's own installation and the packages that it always requires."""
    folder = Path(agentgym_envs.__file__).parents[1]
    text = f"{agentgym_envs.__version__} in {folder}"
    reinstall = pip_install(f"-e {shlex.quote(str(folder))}")
    try:
        installed = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        text += " is not installed: its versions and extras cannot be checked"
        return Finding(Status.BROKEN, text, reinstall)
    if installed != agentgym_envs.__version__:
        return Finding(Status.WARNING, f"{text}, but pip has installed {installed}", reinstall)
    packages = own_packages()
    missing = [package for package in packages if package.version is None]
    if missing:
        names = ", ".join(package.name for package in missing)
        text += f"; always needed, and not installed: {names}"
        return Finding(Status.BROKEN, text, pip_install(quoted(missing)))
    return _check_installed(packages, text)


def check_extra(extra: str) -> Finding:
    """Check that an extra is complete, and that its versions are allowed."""
    packages, missing = own_packages(extra), missing_packages(extra)
    purpose = PURPOSES.get(extra, "")
    if not missing:
        return _check_installed(packages, purpose)
    present = ", ".join(f"{one.name} {one.version}" for one in packages if one.version is not None)
    text = f"{purpose}; not installed: {', '.join(missing)}"
    if present:
        text += f" (there: {present})"
    return Finding(Status.MISSING, text, install_command(extra))


def missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra and of the extras it includes that are not installed."""
    return [package.name for package in all_packages(extra) if package.version is None]


def missing_extra(extra: str, dependent: str) -> Finding | None:
    """Return the finding that `dependent` lacks its extra, or None where the extra is complete."""
    names = missing_packages(extra)
    if not names:
        return None
    text = f"{dependent} needs the {extra} extra (not installed: {', '.join(names)})"
    return Finding(Status.MISSING, text, install_command(extra))


def _check_installed(packages: Sequence[Package], title: str) -> Finding:
    """Check that Python finds the packages and that their versions are allowed."""
    lost = [package for package in packages if not package.can_be_found]
    if lost:
        names = " ".join(package.name for package in lost)
        remedy = pip_install(f"--force-reinstall {quoted(lost)}")
        text = f"{title}; Python cannot find what is installed as {names}"
        return Finding(Status.BROKEN, text, remedy)
    wrong = [package for package in packages if not package.is_allowed]
    if wrong:
        versions = ", ".join(f"{one.name} {one.version} (allowed: {one.allowed})" for one in wrong)
        text = f"{title}; not a version that this package is written for: {versions}"
        return Finding(Status.BROKEN, text, pip_install(quoted(wrong)))
    versions = ", ".join(f"{package.name} {package.version}" for package in packages)
    return Finding(Status.WORKS, f"{title}; {versions}")


def quoted(packages: Sequence[Package]) -> str:
    """Return packages and their allowed versions as arguments of a pip command."""
    return " ".join(f'"{package.requirement}"' for package in packages)
