"""Limits the concurrent requests to a server, and slows down at its rate limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from threading import Condition

from agentgym_envs.content.files import append_whole

_LOOK_SECONDS = 0.2
"""Poll interval for cancellation, in seconds."""


class Pace:
    """Bounds the number of pending requests by additive increase, multiplicative decrease.

    As in TCP (RFC 5681): status 429 halves the bound, once for all requests that were pending
    together, and each round of answers without one raises it by 1. After a 429 nothing is sent
    until the time that the server named is over.

    Args:
        most: the initial bound, never exceeded.
        clock: the time in seconds.

    Attributes:
        bound: pending requests, at most; its integer part counts.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.bound = float(most)
        self._most = most
        self._clock = clock
        self._under_way = 0
        self._slowed_at = -inf
        self._resume_at = 0.0
        self._limits: LimitFile | None = None
        self._changed = Condition()

    def share(self, path: str | Path) -> None:
        """Share the rate limits with other processes, through a file that all of them name."""
        with self._changed:
            self._limits = LimitFile(path)
            self._slowed_at = self._clock()  # earlier limits say when to go on, and not how fast

    def resize(self, most: int) -> None:
        """Change the maximum, and scale the current bound proportionally."""
        with self._changed:
            if most != self._most:
                self.bound = max(1.0, self.bound * most / self._most)
                self._most = most
                self._changed.notify_all()

    def enter(self, is_cancelled: Callable[[], bool]) -> float | None:
        """Wait for a slot among the pending requests, and return the time for `slow_down`.

        None if the request was cancelled, or sending is paused (`pause`).
        """
        with self._changed:
            while self._under_way >= int(self.bound):
                if is_cancelled():
                    return None
                self._changed.wait(_LOOK_SECONDS)
            if self._seconds_left():
                return None
            self._under_way += 1
            return self._clock()

    def leave(self) -> None:
        """Release the slot."""
        with self._changed:
            self._under_way -= 1
            self._changed.notify()

    def slow_down(self, sent_at: float, seconds: float) -> None:
        """Record a 429 that pauses for `seconds`, before its request releases its slot."""
        with self._changed:
            now = self._clock()
            if self._limits is not None:
                self._limits.add(now - sent_at, seconds)
            self._take_in(sent_at, now + seconds)

    def speed_up(self) -> None:
        """Record an answer."""
        with self._changed:
            self.bound = min(float(self._most), self.bound + 1 / self.bound)
            self._changed.notify()

    @property
    def pause(self) -> float:
        """The seconds until sending may resume."""
        with self._changed:
            return self._seconds_left()

    def _seconds_left(self) -> float:
        limits = () if self._limits is None else self._limits.read()
        now = self._clock()  # ages are as of the end of reading, which may have taken a while
        for age, left in limits:
            self._take_in(now - age, now + left)
        return max(0.0, self._resume_at - now)

    def _take_in(self, sent_at: float, resume_at: float) -> None:
        self._resume_at = max(self._resume_at, resume_at)
        # Requests that were sent before the bound was halved say nothing about the present one.
        if sent_at > self._slowed_at:
            self.bound = max(1.0, self.bound / 2)
            self._slowed_at = self._clock()


class LimitFile:
    """The rate limits that several processes meet at one server, a line each.

    It is only appended to, so a killed process leaves nothing locked. Its times are wall-clock
    times, the only clock that several machines, and processes after a restart, have in common.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._read = 0

    def add(self, age: float, left: float) -> None:
        """Add a limit: seconds since its request was sent, and until sending may resume."""
        now = time.time()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        append_whole(self._path, f"{now - age:.6f} {now + left:.6f}\n".encode())

    def read(self) -> list[tuple[float, float]]:
        """Return the limits since the last call, own ones included, as `add` takes them."""
        if not self._path.exists() or self._path.stat().st_size == self._read:
            return []
        with self._path.open("rb") as file:
            file.seek(self._read)
            lines = file.read()
        whole = lines[: lines.rfind(b"\n") + 1]
        self._read += len(whole)
        now = time.time()
        moments = (map(float, line.split()) for line in whole.splitlines())
        return [(now - sent_at, resume_at - now) for sent_at, resume_at in moments]
