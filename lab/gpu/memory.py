"""The peak memory of this process: the GPU's, or its own without a GPU."""

from __future__ import annotations

import gc
import resource
import sys

import torch

COLUMN = "peak GB"


def reset_peak() -> None:
    """Free unused memory, and reset the GPU's peak. A process's own peak cannot be reset."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def peak_gigabytes() -> float:
    """Return the peak in 10**9 bytes, since `reset_peak` on a GPU, else since the start."""
    if torch.cuda.is_available():
        peak = sum(map(torch.cuda.max_memory_allocated, range(torch.cuda.device_count())))
        return round(peak / 1e9, 2)
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9, 2)


def finish_kernels() -> None:
    """Wait for the GPU's queued work, so that a clock can be read."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
