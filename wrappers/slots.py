"""Where the environment of a slot runs: here in this thread, or in a thread of its own.

A slot takes one call at a time: `send` hands it over, `receive` waits for the answer. What breaks
on the way is an `EnvFailure`; what the environment raises is raised by `receive`. Knows nothing of
episodes; `wrappers.process_slot` is the third kind.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import gymnasium as gym

from agentgym_envs.errors import EnvFailure
from wrappers.host import EnvHost

EnvFn = Callable[[], gym.Env[Any, Any]]

_log = logging.getLogger(__name__)


class Slot(Protocol):
    """One environment that answers calls of `EnvHost`'s methods."""

    @property
    def running(self) -> bool:
        """There is an environment, or one is being made."""

    def start(self, timeout: float | None) -> None:
        """Begin to make a fresh environment; `receive` gives None when it is there."""

    def send(self, method: str, *args: Any, timeout: float | None) -> None:
        """Begin a call; seconds until it counts as hung are taken from now, None waits for ever."""

    def receive(self) -> Any:
        """Wait for the answer and return it.

        Raises:
            EnvFailure: the environment's machinery broke, or the time is over.
        """

    def discard(self) -> None:
        """Let go of the environment, whatever it is doing."""


class InProcessSlot:
    """Runs its environment in the caller's thread. Calls run in `receive`; timeouts are not kept.

    Args:
        env_fn: makes the environment.
    """

    def __init__(self, env_fn: EnvFn) -> None:
        self._env_fn = env_fn
        self._host: EnvHost | None = None
        self._pending: tuple[str, tuple[Any, ...]] | None = None

    @property
    def running(self) -> bool:
        """There is an environment."""
        return self._host is not None

    def start(self, timeout: float | None) -> None:
        """Have the next `receive` make the environment."""
        self.discard()
        self._pending = None

    def send(self, method: str, *args: Any, timeout: float | None) -> None:
        """Have the next `receive` make this call."""
        self._pending = (method, args)

    def receive(self) -> Any:
        """Make the call."""
        if self._host is None:
            self._host = EnvHost(self._env_fn)
            return None
        assert self._pending is not None
        method, args = self._pending
        return getattr(self._host, method)(*args)

    def discard(self) -> None:
        """Close the environment."""
        host, self._host = self._host, None
        if host is not None:
            try:
                host.close()
            except EnvFailure as failure:
                _log.warning("closing a broken environment: %s", failure)


_Answers = SimpleQueue[tuple[bool, Any]]
_Calls = SimpleQueue[tuple[str, tuple[Any, ...]] | None]


class ThreadSlot:
    """Runs its environment in a daemon thread of its own.

    A thread cannot be killed: a hung one is left behind, and closes its environment should it wake.

    Args:
        env_fn: makes the environment, in the thread.
    """

    def __init__(self, env_fn: EnvFn) -> None:
        self._env_fn = env_fn
        self._calls: _Calls | None = None
        self._answers: _Answers = SimpleQueue()
        self._timeout: float | None = None
        self._deadline: float | None = None
        self._starting = False
        self.thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """There is a thread that we have not left behind."""
        return self._calls is not None

    def start(self, timeout: float | None) -> None:
        """Start a thread and have it make the environment."""
        self.discard()
        self._calls, self._answers = SimpleQueue(), SimpleQueue()
        self._clock(timeout)
        self._starting = True
        self.thread = threading.Thread(
            target=_serve_queue, args=(self._env_fn, self._calls, self._answers), daemon=True
        )
        self.thread.start()

    def send(self, method: str, *args: Any, timeout: float | None) -> None:
        """Hand the call to the thread."""
        assert self._calls is not None
        self._clock(timeout)
        self._calls.put((method, args))

    def receive(self) -> Any:
        """Wait for the thread's answer."""
        try:
            answered, value = self._answers.get(timeout=seconds_left(self._deadline))
        except Empty:
            self.discard()
            raise EnvFailure(
                f"the environment's thread gave no answer within {self._timeout:g} s"
            ) from None
        starting, self._starting = self._starting, False
        if not answered:
            if starting:
                self.discard()
            raise value
        return value

    def discard(self) -> None:
        """Have the thread close its environment and end, as soon as it can."""
        if self._calls is not None:
            self._calls.put(None)
            self._calls = None

    def _clock(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._deadline = deadline_after(timeout)


def _serve_queue(env_fn: EnvFn, calls: _Calls, answers: _Answers) -> None:
    try:
        host = EnvHost(env_fn)
    except Exception as error:  # raised again by `receive`
        answers.put((False, error))
        return
    answers.put((True, None))
    while (call := calls.get()) is not None:
        method, args = call
        try:
            answers.put((True, getattr(host, method)(*args)))
        except Exception as error:  # raised again by `receive`
            answers.put((False, error))
    try:
        host.close()
    except EnvFailure as failure:
        _log.warning("closing a broken environment: %s", failure)


def deadline_after(timeout: float | None) -> float | None:
    """Return the moment `timeout` seconds from now; None for ever."""
    return None if timeout is None else time.monotonic() + timeout


def seconds_left(deadline: float | None) -> float | None:
    """Return the seconds until a moment, at least 0; None for ever."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())
