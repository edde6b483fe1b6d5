"""Defines a space of every string, and how Gymnasium's vector environments batch it.

`gymnasium.spaces.Text` holds a fixed alphabet and length; an observation has neither.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from copy import deepcopy
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium.spaces import Space, Tuple
from gymnasium.vector.utils import (
    batch_differing_spaces,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from numpy.typing import NDArray

SHARED_BYTES = 1 << 18
"""UTF-8 bytes of the longest string that goes through an `AsyncVectorEnv`'s shared memory."""

_HEADER = 4
_SAMPLE_CHARACTERS = "abcdefghijklmnopqrstuvwxyz 0123456789"


class FreeText(Space[str]):
    """Every Python string, the empty one included.

    Args:
        sample_length: the longest string that `sample` returns, in characters; `contains` has
            no limit.
        seed: seeds `sample`.

    Raises:
        ValueError: `sample_length` is below 1.
    """

    def __init__(self, sample_length: int = 64, *, seed: int | None = None) -> None:
        if sample_length < 1:
            raise ValueError(f"sample_length must be >= 1, got {sample_length}")
        self.sample_length = sample_length
        super().__init__(dtype=str, seed=seed)  # type: ignore[arg-type]

    @property
    def is_np_flattenable(self) -> bool:
        """Strings of any length are no array."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> str:
        """Return letters, digits and spaces.

        Raises:
            ValueError: a mask or probabilities are given; there are none for free text.
        """
        if mask is not None or probability is not None:
            raise ValueError("FreeText samples without mask= and probability=; leave them out")
        length = int(self.np_random.integers(self.sample_length + 1))
        places = self.np_random.integers(len(_SAMPLE_CHARACTERS), size=length)
        return "".join(_SAMPLE_CHARACTERS[place] for place in places)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a string."""
        return isinstance(x, str)

    def __repr__(self) -> str:
        return f"FreeText({self.sample_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeText)

    __hash__ = None  # type: ignore[assignment]


@batch_differing_spaces.register(FreeText)
def _batch(spaces: Sequence[FreeText]) -> Tuple[Any]:  # type: ignore[misc]
    return Tuple([deepcopy(space) for space in spaces], seed=deepcopy(spaces[0].np_random))


@create_shared_memory.register(FreeText)
def _create(space: FreeText, n: int = 1, ctx: ModuleType = multiprocessing) -> Any:
    return ctx.Array("B", n * (_HEADER + SHARED_BYTES))  # type: ignore[attr-defined]


@write_to_shared_memory.register(FreeText)
def _write(space: FreeText, index: int, value: str, shared_memory: Any) -> None:
    encoded = value.encode("utf-8", "surrogatepass")
    if len(encoded) > SHARED_BYTES:
        raise ValueError(
            f"a string of {len(encoded):,} bytes is longer than the {SHARED_BYTES:,} shared; "
            "make the environments with vector_kwargs={'shared_memory': False}"
        )
    row = _rows(shared_memory)[index]
    row[:_HEADER] = np.frombuffer(len(encoded).to_bytes(_HEADER, "little"), np.uint8)
    row[_HEADER : _HEADER + len(encoded)] = np.frombuffer(encoded, np.uint8)


@read_from_shared_memory.register(FreeText)
def _read(space: FreeText, shared_memory: Any, n: int = 1) -> SharedTexts:
    return SharedTexts(_rows(shared_memory))


class SharedTexts(Sequence[str]):
    """The strings that environments in other processes have written last.

    `AsyncVectorEnv` reads its memory once, and gives a deep copy of what it has read with every
    step; so this is a view, and its deep copy is the tuple of its strings.

    Args:
        rows: (N, 4 + `SHARED_BYTES`) uint8, each string after its length in bytes.
    """

    def __init__(self, rows: NDArray[np.uint8]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        """Return one string, or a tuple of some."""
        if isinstance(index, slice):
            return tuple(_text(row) for row in self._rows[index])
        return _text(self._rows[index])

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)


def _rows(shared_memory: Any) -> NDArray[np.uint8]:
    return np.frombuffer(shared_memory.get_obj(), np.uint8).reshape(-1, _HEADER + SHARED_BYTES)


def _text(row: NDArray[np.uint8]) -> str:
    length = int.from_bytes(row[:_HEADER].tobytes(), "little")
    return row[_HEADER : _HEADER + length].tobytes().decode("utf-8", "surrogatepass")
