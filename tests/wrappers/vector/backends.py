"""The backends that tests go through, Ray where it is installed, and how they see a worker end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

import pytest

from wrappers.vector.backends import LOCAL_BACKENDS

RAY = pytest.param("ray", marks=pytest.mark.ray)
EVERY_BACKEND = [*LOCAL_BACKENDS, RAY]


def is_gone(pid: int) -> bool:
    """Whether there is no such process."""
    try:
        os.kill(pid, 0)  # reaches a zombie, too
    except ProcessLookupError:
        return True
    return False


def all_end(pids: Iterable[int]) -> None:
    """Wait until processes are gone: our own are at once, Ray's a moment later."""
    until = time.monotonic() + 10
    while not all(map(is_gone, pids)):
        assert time.monotonic() < until, "a worker has not ended"
        time.sleep(0.01)
