"""Reads a GGUF file: its metadata, and its tensors as float32.

GGUF is llama.cpp's format of one file for metadata, vocabulary and quantized weights. Of its
quantizations those of `SmolLM2-135M-Instruct.Q4_1` are read: F32, Q4_1 and Q8_0. Knows no
architecture: names and shapes are the file's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_MAGIC, _VERSION = b"GGUF", 3
_STRING, _ARRAY = 8, 9
_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
"""GGUF's types of numbers -> the letters that `struct` has for them."""
_ALIGNMENT = 32

_F32, _Q4_1, _Q8_0 = 0, 3, 8
_BLOCK = 32
"""Weights that share a scale."""
_LAYOUTS = {
    _F32: np.dtype([("weights", "<f4", (_BLOCK,))]),
    _Q4_1: np.dtype([("scale", "<f2"), ("least", "<f2"), ("nibbles", "u1", (_BLOCK // 2,))]),
    _Q8_0: np.dtype([("scale", "<f2"), ("levels", "i1", (_BLOCK,))]),
}
"""The bytes of a block of weights, by ggml's number of the quantization."""


@dataclass(frozen=True)
class _Entry:
    """Where a tensor lies: `offset` bytes after the head, in blocks of the layout `kind`."""

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int


class GGUFFile:
    """A GGUF file in memory.

    Attributes:
        metadata: by key, as `"llama.block_count"`; a list of texts or numbers is a list.

    Args:
        content: the file's bytes.

    Raises:
        ValueError: it is no GGUF file of version 3, or holds a quantization that is not read here.
    """

    def __init__(self, content: bytes) -> None:
        head = _Head(content)
        if content[:4] != _MAGIC:
            raise ValueError(f"a GGUF file begins with {_MAGIC!r}, got {content[:4]!r}")
        head.place = len(_MAGIC)
        version, num_tensors, num_keys = head.number("I"), head.number("Q"), head.number("Q")
        if version != _VERSION:
            raise ValueError(f"GGUF of version {_VERSION} is read, got {version}")
        self.metadata: dict[str, Any] = {head.text(): head.value() for _ in range(num_keys)}
        self._entries = [head.entry() for _ in range(num_tensors)]
        alignment = self.metadata.get("general.alignment", _ALIGNMENT)
        self._start = -(-head.place // alignment) * alignment
        self._content = content

    def tensors(self) -> Iterator[tuple[str, Floats]]:
        """Yield each tensor with its name, as float32 in the order of axes that torch has."""
        for entry in self._entries:
            layout, size = _LAYOUTS[entry.kind], prod(entry.shape)
            blocks = np.frombuffer(
                self._content, layout, count=size // _BLOCK, offset=self._start + entry.offset
            )
            yield entry.name, _weights(entry.kind, blocks).reshape(entry.shape)


class _Head:
    """Reads the values at the beginning of a file, one after the other."""

    def __init__(self, content: bytes) -> None:
        self.place = 0
        self._content = content

    def number(self, letter: str) -> Any:
        (value,) = struct.unpack_from(f"<{letter}", self._content, self.place)
        self.place += struct.calcsize(f"<{letter}")
        return value

    def text(self) -> str:
        length = self.number("Q")
        self.place += length
        return self._content[self.place - length : self.place].decode()

    def value(self, kind: int | None = None) -> Any:
        kind = self.number("I") if kind is None else kind
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            of, length = self.number("I"), self.number("Q")
            return [self.value(of) for _ in range(length)]
        return self.number(_NUMBERS[kind])

    def entry(self) -> _Entry:
        name = self.text()
        axes = [self.number("Q") for _ in range(self.number("I"))]
        kind, offset = self.number("I"), self.number("Q")
        if kind not in _LAYOUTS or prod(axes) % _BLOCK:
            raise ValueError(f"{name} has shape {axes} and quantization {kind}, not read here")
        return _Entry(name, tuple(reversed(axes)), kind, offset)  # ggml names the last axis first


def _weights(kind: int, blocks: NDArray[Any]) -> Floats:
    """Return the weights of blocks. (N,) blocks -> (N, 32) float32."""
    if kind == _F32:
        return np.asarray(blocks["weights"])
    scale = blocks["scale"].astype(np.float32)[:, None]
    if kind == _Q8_0:
        return np.asarray(scale * blocks["levels"])
    # A byte holds a weight of the block's first half in its lower four bits, of the second above.
    levels = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1)
    return np.asarray(scale * levels + blocks["least"].astype(np.float32)[:, None])
