"""Checks and findings. A check that raises is a finding too."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agentgym_envs.errors import described
from agentgym_envs.machinery.exits import describe_returncode
from agentgym_envs.machinery.secrets import masked


class Status(StrEnum):
    """The result of a check."""

    WORKS = "works"
    MISSING = "missing"
    """Not installed, or the machine has none. Nothing that is installed suffers."""
    WARNING = "warning"
    """Works, with a limit worth knowing."""
    BROKEN = "broken"
    """Installed, and does not work."""


@dataclass(frozen=True)
class Finding:
    """A check's status, its explanation and the command that mends it (None where none does)."""

    status: Status
    text: str
    remedy: str | None = None


@dataclass(frozen=True)
class Check:
    """A named check, with the remedy for the case that `probe` raises."""

    name: str
    probe: Callable[[], Finding]
    remedy: str | None = None

    def run(self) -> Finding:
        """Run the probe. An exception of any kind means that the thing is broken."""
        try:
            return self.probe()
        except Exception as error:  # of any kind: the checks after this one are needed all the more
            return Finding(Status.BROKEN, masked(described(error)), self.remedy)


class ProbeError(RuntimeError):
    """A probe's Python process failed. The message is the last line of its errors."""


def run_python(code: str, *, seconds: float) -> Any:
    """Run code in a Python process with this one's `sys.path`, where it may crash or hang.

    Args:
        code: prints its result as JSON, in the last line.
        seconds: the time limit.

    Raises:
        ProbeError: it failed.
    """
    command = [sys.executable, "-P", "-c", f"import sys\nsys.path[:] = {sys.path!r}\n{code}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise ProbeError(f"no answer within {seconds:g} s") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [describe_returncode(done.returncode)]
        raise ProbeError(lines[-1])
    return json.loads(done.stdout.splitlines()[-1])
