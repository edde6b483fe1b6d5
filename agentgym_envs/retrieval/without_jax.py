"""Keeps a package that is imported from using jax, where jax is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_jax() -> Iterator[None]:
    """Let imports in the block find no jax, which is there again afterwards.

    bm25s computes with jax while it is imported, and the first thing that jax does on a GPU is to
    take three quarters of its memory, which a model in the same process then lacks.
    """
    found = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_jax(name)}
    sys.modules["jax"] = None  # type: ignore[assignment]  # Python's own way to say "not there"
    try:
        yield
    finally:
        del sys.modules["jax"]
        sys.modules.update(found)


def _is_jax(name: str) -> bool:
    return name == "jax" or name.startswith("jax.")
