"""Bounds the memory of the kernels that a CPU keeps, one for each shape of a matrix product.

oneDNN compiles a kernel for each shape and keeps the last 1,024, and ideep, between it and torch,
as many again. Turns and episodes have hundreds of lengths, and with AMX a batched product's kernel
has 3 MB, so that both come to some GB. The layers of a pass have the same few dozen shapes.
"""

from __future__ import annotations

import os

_CAPACITY = 128
"""Kernels that are kept: those of a pass, forward and backward, with an adapter, and some more."""
VARIABLES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
"""oneDNN's, and ideep's."""


def bound_kernel_caches() -> None:
    """Let few kernels be kept, unless the environment says how many.

    Of use before the process's first matrix product in bfloat16, when both numbers are read.
    """
    for name in VARIABLES:
        os.environ.setdefault(name, str(_CAPACITY))
