"""Child processes of the instruments, each ended together with all that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from agentgym_envs.machinery.exits import describe_returncode

GRACE = 20.0
"""Seconds between SIGTERM, at which a trainer writes a checkpoint, and SIGKILL."""
ROOT = Path(__file__).parents[1]


class Child:
    """A process that leads a session, and as a context manager ends with its block.

    Its session's process group holds what it starts, even where the one between has ended: psutil
    finds children by their parents, and would lose those.

    Args:
        command: its words.
        log: the file to which its output is appended; None lets `first_line` read it.
        environ: variables beside those of this process.
        folder: where it runs; None is the present one.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path | None = None,
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._log = log
        output = None if log is None else log.open("ab")
        try:
            self.process = subprocess.Popen(
                list(command),
                stdout=subprocess.PIPE if output is None else output,
                stderr=subprocess.DEVNULL if output is None else output,
                env={**os.environ, **(environ or {})},
                cwd=folder,
                start_new_session=True,
            )
        finally:
            if output is not None:
                output.close()

    def first_line(self) -> str:
        """Return the first line of its output, empty if it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode()

    def log_end(self, length: int = 2000) -> str:
        """Return the last characters of its log."""
        assert self._log is not None
        return self._log.read_text("utf-8", errors="replace")[-length:]

    def wait(self, seconds: float | None = None) -> int | None:
        """Return its exit status, or None after `seconds`."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, whatever is left of its session."""
        return self.process.poll() is not None

    @property
    def ending(self) -> str:
        """Its state or its exit status, in words."""
        code = self.process.poll()
        return "still running" if code is None else describe_returncode(code)

    def signal(self, number: int) -> None:
        """Send a signal to all that is left of its session."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def end(self, *, grace: float | None = None) -> None:
        """End it and all that is left of its session.

        Args:
            grace: seconds between SIGTERM and SIGKILL; None is `GRACE`.
        """
        deadline = time.monotonic() + (GRACE if grace is None else grace)
        if not self.has_ended:
            self.signal(signal.SIGTERM)
        # The leader may end at once, and a trainer that it has started writes a checkpoint.
        while self._is_any_left() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.signal(signal.SIGKILL)
        self.process.wait()

    def _is_any_left(self) -> bool:
        self.process.poll()
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()
        if self.process.stdout is not None:
            self.process.stdout.close()


def with_checkout() -> dict[str, str]:
    """Return the variable by which a child imports this checkout first."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
