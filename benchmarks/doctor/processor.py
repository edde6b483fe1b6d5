"""Checks how the processor multiplies: by how many threads, and in which precision.

It is measured, since both depend on the machine and on what else runs there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from benchmarks.doctor.checks import Check, Finding, Status, answer_of
from benchmarks.doctor.packages import without
from benchmarks.machine import num_cores

_SECONDS = 60.0
_MUCH = 1.1
"""The share of the best speed by which a number of threads must be slower to be spoken of."""
_MULTIPLY = """
import json, os, time
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
import torch

def products(dtype, threads):
    torch.set_num_threads(threads)
    one, other = (torch.ones(size, dtype=dtype) for size in ((128, 1024), (1024, 1024)))
    one @ other
    count, end = 0, time.perf_counter() + 0.3
    while time.perf_counter() < end:
        one @ other
        count += 1
    return count

default = torch.get_num_threads()
print(json.dumps({
    "default": default,
    "threads": {number: products(torch.float32, number) for number in {default, *%s}},
    "bfloat16": products(torch.bfloat16, 1),
}))
"""


def processor_checks() -> Iterator[Check]:
    """Yield the check of the processor."""
    yield Check("processor", processor)


def processor() -> Finding:
    """Multiply by one thread, by half of the cores and by all, in float32 and bfloat16."""
    missing = without("train", "models on the processor")
    if missing is not None:
        return missing
    cores = num_cores() or 1
    counts = sorted({1, max(1, cores // 2), cores})
    measured = answer_of(_MULTIPLY % counts, seconds=_SECONDS)
    return judged_processor(
        {int(number): count for number, count in measured["threads"].items()},
        bfloat16=measured["bfloat16"],
        default=measured["default"],
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    )


def judged_processor(
    products: Mapping[int, int], *, bfloat16: int, default: int, load: float | None
) -> Finding:
    """Judge what was measured.

    Args:
        products: by number of threads, products in float32 in a fixed time.
        bfloat16: those in bfloat16 by one thread.
        default: the threads that torch would take.
        load: the machine's, over the last minute.
    """
    best = max(products, key=lambda number: (products[number], -number))
    ratio = bfloat16 / max(products[1], 1)
    speeds = ", ".join(
        f"{number} threads {products[number] / max(products[1], 1):.1f} times as fast as 1"
        for number in sorted(products)
        if number > 1
    )
    text = f"bfloat16 is {ratio:.1f} times as fast as float32"
    text += f"; {speeds}" * bool(speeds) + (f" at a load of {load:.1f}" if load is not None else "")
    if products[best] > _MUCH * products[default]:
        return Finding(
            Status.WARNING,
            f"{text}; torch takes {default} by itself",
            f"export OMP_NUM_THREADS={best}",
        )
    return Finding(Status.WORKS, text)
