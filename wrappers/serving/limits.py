"""The bounds of a server."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from agentgym_envs.arguments import positive_seconds, whole_number

CLOSE_SECONDS = 10.0
"""Seconds for an environment to close before its thread is left behind."""

FINAL_SEND_SECONDS = 5.0
"""Seconds for a client to read that its session has ended.

They are fewer than a server that stops waits for its connections.
"""
_SHORT_PATIENCE = 60.0
_SPARE_CONNECTIONS = 256


@dataclass(frozen=True)
class Limits:
    """The bounds of sessions, requests and messages.

    Attributes:
        max_sessions: environments at once, over all protocols.
        step_timeout: seconds that an environment may take to answer a reset or a step.
        idle_timeout: seconds without a request after which a session is closed.
        max_message: bytes of the longest body or frame that is read.
        arrival_timeout: seconds in which a whole request must arrive, and an answer be read.

    Raises:
        ValueError: a bound is no positive number.
    """

    max_sessions: int = 64
    step_timeout: float = 600.0
    idle_timeout: float = 3600.0
    max_message: int = 1 << 20
    arrival_timeout: float = 60.0

    def __post_init__(self) -> None:
        whole_number("max_sessions", self.max_sessions, least=1)
        whole_number("max_message", self.max_message, least=1000)
        positive_seconds("step_timeout", self.step_timeout)
        positive_seconds("idle_timeout", self.idle_timeout)
        positive_seconds("arrival_timeout", self.arrival_timeout)

    @property
    def max_connections(self) -> int:
        """Open connections: some for each session, and less than half of the file handles."""
        handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _SPARE_CONNECTIONS + 4 * self.max_sessions
        return most if handles == resource.RLIM_INFINITY else max(min(most, handles // 2 - 16), 1)

    @property
    def short_patience(self) -> float:
        """Seconds for which an unused session made over HTTP is kept."""
        return min(_SHORT_PATIENCE, self.idle_timeout)
