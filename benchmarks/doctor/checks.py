"""What a check finds, and how checks are run: one that raises is a finding too."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agentgym_envs.errors import described
from agentgym_envs.machinery.exits import exit_in_words
from agentgym_envs.machinery.secrets import masked


class Status(StrEnum):
    """How it stands with one thing."""

    WORKS = "works"
    MISSING = "missing"
    """It is not installed, or the machine has none; nothing that is installed suffers."""
    WARNING = "warning"
    """It works, and something about it is worth knowing."""
    BROKEN = "broken"
    """It is installed and does not work."""


@dataclass(frozen=True)
class Finding:
    """What a check has found.

    Attributes:
        status: how it stands.
        text: what is there, or what is wrong.
        remedy: the command that mends it; None where there is nothing to mend, or no command.
    """

    status: Status
    text: str
    remedy: str | None = None


@dataclass(frozen=True)
class Check:
    """One thing to look at.

    Attributes:
        name: the thing's.
        look: looks at it.
        remedy: what mends it where `look` raises.
    """

    name: str
    look: Callable[[], Finding]
    remedy: str | None = None

    def run(self) -> Finding:
        """Look; whatever is raised means that the thing is broken."""
        try:
            return self.look()
        except Exception as error:  # of any kind: the checks after this one are needed all the more
            return Finding(Status.BROKEN, masked(described(error)), self.remedy)


class NoAnswer(RuntimeError):
    """The Python process of a check ended without an answer; the message is its last line."""


def answer_of(code: str, *, seconds: float) -> Any:
    """Run code in a Python process of its own, which finds the same packages as this one.

    What crashes, hangs or takes all the memory does so there.

    Args:
        code: prints its answer as JSON, in the last line.
        seconds: that it may take.

    Raises:
        NoAnswer: it failed.
    """
    places = f"import sys\nsys.path[:] = {sys.path!r}\n"
    try:
        ended = subprocess.run(
            [sys.executable, "-P", "-c", places + code],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NoAnswer(f"no answer within {seconds:g} s") from error
    if ended.returncode != 0:
        lines = ended.stderr.strip().splitlines() or [exit_in_words(ended.returncode)]
        raise NoAnswer(lines[-1])
    return json.loads(ended.stdout.splitlines()[-1])
