"""Memory of a process that computes on a CPU: compiled kernels, and the C library's heap.

Both defaults are made for programs that compute the same shapes again and again. Turns and episodes
have hundreds of lengths.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from typing import Any

KERNEL_CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
"""The environment variables that bound oneDNN's cache of kernels, and ideep's."""
HEAP = ("GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
"""The environment variables by which a user sets glibc's heap."""
_MOST_KERNELS = 128
"""Kernels of a forward and a backward pass with an adapter, with a margin."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of glibc's `malloc.h`."""
_NEVER = -1
_LARGEST_IN_HEAP = 1 << 30
"""Bytes of a block up to which it comes from the heap."""


def bound_kernel_caches() -> None:
    """Bound the memory of the kernels that a CPU keeps, unless the environment does.

    oneDNN compiles a kernel for each shape of a matrix product and keeps the last 1,024, and ideep,
    between it and torch, as many again. With AMX a batched product's kernel takes 3 MB. Both
    numbers are read at the process's first product in bfloat16.
    """
    for name in KERNEL_CACHES:
        os.environ.setdefault(name, str(_MOST_KERNELS))


def keep_freed_memory() -> None:
    """Let glibc keep freed memory for later, unless the environment sets its heap.

    By default glibc maps a block above 32 MB anew each time, and gives the heap's free end back, so
    that passes touch new pages. In a virtual machine that had not yet touched its memory, passes of
    a 0.5B model took seven times as long; an hour later they took 1.09 times (1.02 to 1.16, `python
    -m lab.throughput --only heap`). `give_back_memory` returns what is kept. Does nothing where the
    C library is not glibc.
    """
    if any(name in os.environ for name in HEAP):
        return
    with suppress(OSError, AttributeError):
        libc = _c_library()
        libc.mallopt(_TRIM_THRESHOLD, _NEVER)
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST_IN_HEAP)


def give_back_memory() -> None:
    """Give free memory back to the system. Does nothing where the C library is not glibc."""
    with suppress(OSError, AttributeError):
        _c_library().malloc_trim(0)


def _c_library() -> Any:
    return ctypes.CDLL(None)
