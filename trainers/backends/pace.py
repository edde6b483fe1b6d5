"""Limits how many requests a server gets at once, and slows down at its rate limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition

_LOOK_SECONDS = 0.2
"""How often one who waits looks whether it was given up meanwhile."""


class Pace:
    """Bounds the requests under way, by what the server bears.

    Additive increase and multiplicative decrease, as in TCP (RFC 5681): status 429 halves the
    bound, once for all requests that were under way together, and each round of answers without one
    raises it by 1. After a 429 nothing is sent until the time that the server named is over.

    Args:
        most: the bound to begin with, never exceeded.
        clock: the time in seconds.

    Attributes:
        bound: requests under way at once, at most; its whole part counts.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.bound = float(most)
        self._most = most
        self._clock = clock
        self._under_way = 0
        self._round = 0
        self._resume_at = 0.0
        self._changed = Condition()

    def enter(self, is_cancelled: Callable[[], bool]) -> int | None:
        """Wait for a place among the requests under way.

        Args:
            is_cancelled: whether nobody wants the answer any more.

        Returns:
            the round that the request belongs to, for `slow_down`; None where it was given up.
        """
        with self._changed:
            while self._under_way >= int(self.bound):
                if is_cancelled():
                    return None
                self._changed.wait(_LOOK_SECONDS)
            self._under_way += 1
            return self._round

    def leave(self) -> None:
        """Give the place back."""
        with self._changed:
            self._under_way -= 1
            self._changed.notify()

    def slow_down(self, sent_in: int, seconds: float) -> None:
        """Take in a 429.

        Args:
            sent_in: the round that its request belongs to.
            seconds: until which nothing is to be sent.
        """
        with self._changed:
            self._resume_at = max(self._resume_at, self._clock() + seconds)
            if sent_in == self._round:
                self.bound = max(1.0, self.bound / 2)
                self._round += 1

    def speed_up(self) -> None:
        """Take in an answer."""
        with self._changed:
            self.bound = min(float(self._most), self.bound + 1 / self.bound)
            self._changed.notify()

    @property
    def resume_at(self) -> float:
        """The time before which nothing is to be sent."""
        return self._resume_at

    @property
    def pause(self) -> float:
        """The seconds until then."""
        return max(0.0, self._resume_at - self._clock())
