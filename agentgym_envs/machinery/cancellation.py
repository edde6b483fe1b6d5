"""Cancels blocking waits of threads that timed out.

A thread cannot be killed, and what it waits for may be shared: a simulator's process that hangs in
one environment's call keeps all the others waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Wait:
    """A wait of one thread, whose `end` is never called after the wait is over."""

    def __init__(self, end: Callable[[], None]) -> None:
        self.end: Callable[[], None] | None = end
        self.lock = threading.Lock()


_waits: dict[threading.Thread, _Wait] = {}


@contextmanager
def on_cancel(end: Callable[[], None]) -> Iterator[None]:
    """Have `cancel_wait` call `end` while this thread is inside the block.

    Only what this thread alone holds belongs inside: a thread that queues for a simulator is not
    the one that the simulator hangs in.

    Args:
        end: called in another thread, at most once, if the block's machinery hangs there.
    """
    thread, wait = threading.current_thread(), _Wait(end)
    outer = _waits.get(thread)
    _waits[thread] = wait
    try:
        yield
    finally:
        with wait.lock:  # or `end` could fall on whoever comes next
            wait.end = None
        if outer is None:
            del _waits[thread]
        else:
            _waits[thread] = outer


def cancel_wait(thread: threading.Thread) -> None:
    """Cancel the thread's wait inside `on_cancel`, if there is one."""
    wait = _waits.get(thread)
    if wait is None:
        return
    with wait.lock:
        end, wait.end = wait.end, None
        if end is not None:
            end()


ended_by = on_cancel
"""The former name, for environments of your own."""
