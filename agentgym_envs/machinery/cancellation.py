"""Ends what a hung thread waits for, when somebody else has given the thread up.

A thread cannot be killed, and what it waits for may be shared: a simulator's process that hangs in
one environment's call keeps all the others waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Wait:
    """A wait of one thread; `end` is not called any more once the wait is over."""

    def __init__(self, end: Callable[[], None]) -> None:
        self.end: Callable[[], None] | None = end
        self.lock = threading.Lock()


_waits: dict[threading.Thread, _Wait] = {}


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Have `end_wait_of` call `end` while this thread is inside the block.

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


def end_wait_of(thread: threading.Thread) -> None:
    """End what the thread waits for inside `ended_by`; elsewhere nothing happens."""
    wait = _waits.get(thread)
    if wait is None:
        return
    with wait.lock:
        end, wait.end = wait.end, None
        if end is not None:
            end()
