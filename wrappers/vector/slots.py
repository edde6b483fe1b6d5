"""Slots of a vector environment: the protocol, and those that run in a thread.

A slot takes one call at a time: `send` hands it over, `receive` waits for the answer, and
`wait_for_any` waits for whichever of several slots answers first. What breaks on the way is an
`EnvFailure`; what the environment raises is raised by `receive`. The other kinds are in
`wrappers.vector.host` (in this thread), `wrappers.vector.process` and `wrappers.vector.ray_slot`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe, wait
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.cancellation import cancel_wait
from wrappers.vector.host import EnvFn, EnvHost

_log = logging.getLogger(__name__)


class WorkerDied(EnvFailure):
    """The slot's worker process has ended, whatever its environment did."""


class Wakeup(Protocol):
    """Wakes a waiting thread, from the thread that has the answer."""

    def wake(self) -> None:
        """Wake the waiting thread, now or later."""


class WakeupPipe:
    """Wakes, from another thread, a thread that waits on `handle` and on connections."""

    def __init__(self) -> None:
        self.handle: Connection
        self.handle, self._writer = Pipe(duplex=False)  # type: ignore[assignment]
        self._lock = threading.Lock()
        self._is_awake = False

    def wake(self) -> None:
        """Wake the waiting thread, now or later."""
        with self._lock:
            if not self._is_awake:
                self._is_awake = True
                self._writer.send_bytes(b"")


class Waitable(Protocol):
    """A call that `wait_for_any` waits for."""

    @property
    def deadline(self) -> float | None:
        """The `time.monotonic` at which the call counts as hung, None for never."""

    def answered(self) -> bool:
        """Whether the answer, or a failure, is there."""

    def watch(self, wakeup: WakeupPipe | None) -> Connection | None:
        """Have the answer wake who waits, or return a connection that becomes readable with it."""


class Slot(Waitable, Protocol):
    """One environment that answers calls of `EnvHost`'s methods."""

    @property
    def running(self) -> bool:
        """There is an environment, or one is being made."""

    def start(self, timeout: float | None) -> None:
        """Begin to make a fresh environment. `receive` returns None when it is there."""

    def send(self, method: str, *args: Any, timeout: float | None) -> None:
        """Begin a call that counts as hung after `timeout` seconds, None for never."""

    def receive(self) -> Any:
        """Wait for the answer and return it.

        Raises:
            EnvFailure: the environment's machinery broke, or the time is over.
        """

    def discard(self) -> None:
        """Let go of the environment, whatever it is doing."""


class _Answers:
    """The answers of a slot's thread, each of which wakes the waiting thread."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        self.wakeup: Wakeup | None = None

    def put(self, answered: bool, value: Any) -> None:
        self._queue.put((answered, value))
        wakeup = self.wakeup
        if wakeup is not None:
            wakeup.wake()

    def get(self, timeout: float | None) -> tuple[bool, Any]:
        return self._queue.get(timeout=timeout)

    def empty(self) -> bool:
        return self._queue.empty()


_Calls = SimpleQueue[tuple[str, tuple[Any, ...]] | None]


class ThreadSlot:
    """Runs its environment in a daemon thread of its own.

    A thread cannot be killed: a hung one is abandoned, and closes its environment should it wake.
    Its blocking call is ended (`machinery.cancellation`), since other slots may share it.
    """

    def __init__(self, env_fn: EnvFn) -> None:
        self._env_fn = env_fn
        self._calls: _Calls | None = None
        self._answers = _Answers()
        self._timeout: float | None = None
        self.deadline: float | None = None
        self._starting = False
        self.thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """There is a thread that we have not left behind."""
        return self._calls is not None

    def answered(self) -> bool:
        """Whether the thread has answered, or the time is over."""
        return not self._answers.empty() or is_over(self.deadline)

    def watch(self, wakeup: Wakeup | None) -> Connection | None:
        """Have the thread wake who waits."""
        self._answers.wakeup = wakeup
        return None

    def start(self, timeout: float | None) -> None:
        """Start a thread and have it make the environment."""
        self.discard()
        self._calls, self._answers = SimpleQueue(), _Answers()
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
        """Wait for the thread's answer.

        Raises:
            EnvFailure: there was no answer in time, or the environment's machinery broke.
        """
        try:
            answered, value = self._answers.get(seconds_left(self.deadline))
        except Empty:
            assert self.thread is not None
            cancel_wait(self.thread)
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
        self.deadline = deadline_after(timeout)


def _serve_queue(env_fn: EnvFn, calls: _Calls, answers: _Answers) -> None:
    try:
        host = EnvHost(env_fn)
    except Exception as error:  # raised again by `receive`
        answers.put(False, error)
        return
    answers.put(True, None)
    while (call := calls.get()) is not None:
        method, args = call
        try:
            answers.put(True, getattr(host, method)(*args))
        except Exception as error:  # raised again by `receive`
            answers.put(False, error)
    try:
        host.close()
    except EnvFailure as failure:
        _log.warning("closing a broken environment: %s", failure)


def deadline_after(timeout: float | None) -> float | None:
    """Return the monotonic time `timeout` seconds from now, None for no limit."""
    return None if timeout is None else time.monotonic() + timeout


def seconds_left(deadline: float | None) -> float | None:
    """Return the seconds until a deadline, at least 0, None for no limit."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def is_over(deadline: float | None) -> bool:
    """Return whether a deadline has passed. None never does."""
    return deadline is not None and time.monotonic() >= deadline


def wait_for_any(slots: Sequence[Waitable], timeout: float | None) -> None:
    """Wait until one of the slots has answered, or for `timeout` seconds.

    Where there are no slots it returns at once.
    """
    if not slots:
        return
    wakeup = WakeupPipe()
    try:
        # Watched before asked, or an answer that comes in between would wake nobody.
        handles = [slot.watch(wakeup) for slot in slots]
        if any(slot.answered() for slot in slots):
            return
        moments = [slot.deadline for slot in slots] + [deadline_after(timeout)]
        first = min((moment for moment in moments if moment is not None), default=None)
        wait([wakeup.handle, *(h for h in handles if h is not None)], seconds_left(first))
    finally:
        for slot in slots:
            slot.watch(None)
