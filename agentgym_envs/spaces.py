"""Defines a space of every string; `gymnasium.spaces.Text` refuses spaces and accents."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

_SAMPLE_CHARACTERS = "abcdefghijklmnopqrstuvwxyz 0123456789"


class FreeText(spaces.Text):
    """Every Python string, the empty one included.

    It derives from `spaces.Text` so that Gymnasium's vector utilities batch it as they batch text.

    Args:
        sample_length: the longest string that `sample` returns, in characters; `contains` has
            no limit.
        seed: seeds `sample`.
    """

    def __init__(self, sample_length: int = 64, *, seed: int | None = None) -> None:
        if sample_length < 1:
            raise ValueError(f"sample_length must be >= 1, got {sample_length}")
        super().__init__(sample_length, min_length=0, charset=_SAMPLE_CHARACTERS, seed=seed)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a string."""
        return isinstance(x, str)

    def __repr__(self) -> str:
        return f"FreeText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeText)

    __hash__ = None  # type: ignore[assignment]
