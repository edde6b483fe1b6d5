"""Counts sessions, steps and failures, and writes them as Prometheus reads them."""

from __future__ import annotations

import time
from collections import Counter, deque

WINDOW = 60.0
"""Seconds that the rate of steps is taken over."""


class Metrics:
    """A server's counts since it started."""

    def __init__(self) -> None:
        self._active = 0
        self._refusals = 0
        self._openings: Counter[str] = Counter()
        self._steps: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._seconds: deque[tuple[int, int]] = deque()
        self._started = time.monotonic()

    def count_opening(self, env: str) -> None:
        """Count an opened session."""
        self._openings[env] += 1

    def count_refusal(self) -> None:
        """Count a session that was refused at capacity."""
        self._refusals += 1

    def count_step(self, env: str) -> None:
        """Count a step."""
        self._steps[env] += 1
        second = int(time.monotonic())
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1] = (second, self._seconds[-1][1] + 1)
        else:
            self._seconds.append((second, 1))
            self._forget(second)

    def count_failure(self, env: str) -> None:
        """Count a failure of an environment."""
        self._failures[env] += 1

    def set_active(self, number: int) -> None:
        """Set the number of open sessions."""
        self._active = number

    def steps_per_second(self) -> float:
        """Steps of the last minute, or since the start, by second."""
        now = time.monotonic()
        self._forget(int(now))
        lasted = max(1.0, min(WINDOW, now - self._started))
        return sum(count for _, count in self._seconds) / lasted

    def text(self) -> str:
        """Return all of it in Prometheus' text format."""
        rate = round(self.steps_per_second(), 3)
        pace = f"Steps per second over the last {WINDOW:g} s."
        lines = [
            *_metric("sessions_active", "gauge", "Sessions open now.", self._active),
            *_metric("sessions_opened_total", "counter", "Sessions opened.", self._openings),
            *_metric("sessions_refused_total", "counter", "Sessions refused.", self._refusals),
            *_metric("steps_total", "counter", "Steps played.", self._steps),
            *_metric("steps_per_second", "gauge", pace, rate),
            *_metric("failures_total", "counter", "Failures of environments.", self._failures),
        ]
        return "\n".join(lines) + "\n"

    def _forget(self, second: int) -> None:
        while self._seconds and self._seconds[0][0] < second - WINDOW:
            self._seconds.popleft()


def _metric(name: str, kind: str, text: str, values: Counter[str] | float) -> list[str]:
    """Write a metric's lines, with a sample for each environment where they are counted apart."""
    name = f"agentgym_{name}"
    if isinstance(values, Counter):
        samples = [f'{name}{{env="{label}"}} {value}' for label, value in values.items()]
    else:
        samples = [f"{name} {values}"]
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}", *samples]
