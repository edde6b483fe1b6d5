"""A key/value cache whose rows have lengths of their own.

Row r's token at position p lies in column p, so a row can grow, be cut back to a prefix, be copied
or change places without the others. A pass reads all columns: a part of them would not be
contiguous, and torch's product of such matrices in bfloat16 on a CPU copies them first, in every
layer for every token. So there are few columns more than tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from transformers.cache_utils import Cache, CacheLayerMixin


@dataclass
class _Window:
    """The rows and columns of the next forward pass, the same in every layer.

    Attributes:
        rows, columns: numbers of rows and columns to allocate.
        first, last: the rows [first, last) that take part.
        at: (last - first, C) int64, the column of each new token.
    """

    rows: int = 0
    columns: int = 0
    first: int = 0
    last: int = 0
    at: torch.Tensor = field(default_factory=lambda: torch.zeros(0, 0, dtype=torch.long))


class _RowLayer(CacheLayerMixin):
    """One layer's keys and values: (rows, heads, columns, head size)."""

    def __init__(self, window: _Window) -> None:
        super().__init__()
        self.window = window

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        self.keys = self._allocate(key_states)
        self.values = self._allocate(value_states)
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new tokens of the window's N rows, and return these rows whole.

        `key_states` and `value_states` are (N, H, C, D), the result is twice (N, H, L, D): H heads
        of size D, C new tokens and all L columns.
        """
        # Under autocast rotary positions make keys float32, and attention lowers them again.
        key_states = key_states.to(value_states.dtype)
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        window = self.window
        rows = torch.arange(window.first, window.last, device=key_states.device)[:, None]
        views = []
        for store, new in ((self.keys, key_states), (self.values, value_states)):
            store[rows, :, window.at] = new.transpose(1, 2)
            views.append(store[window.first : window.last])
        return views[0], views[1]

    def resize(self) -> None:
        """Grow to the window's numbers of rows and columns."""
        self.keys, self.values = (self._grown(store) for store in (self.keys, self.values))

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.window.columns, 0

    def get_seq_length(self) -> int:
        return self.window.columns

    def get_max_length(self) -> int:
        return -1

    def _allocate(self, like: torch.Tensor) -> torch.Tensor:
        # Zeros, not empty: a masked column's weight is 0, and 0 * NaN would spread.
        return like.new_zeros(self.window.rows, like.shape[1], self.window.columns, like.shape[3])

    def _grown(self, store: torch.Tensor) -> torch.Tensor:
        grown = self._allocate(store)
        grown[: store.shape[0], :, : store.shape[2]] = store
        return grown


class RowCache(Cache):
    """Keys and values of all layers, for rows of different lengths."""

    def __init__(self) -> None:
        window = _Window()
        super().__init__(layer_class_to_replicate=lambda: _RowLayer(window))
        self.window = window

    @property
    def spare_column(self) -> int:
        """The column of padding, beyond every position."""
        return self.window.columns - 1

    @property
    def device(self) -> torch.device:
        """The device of the keys and values."""
        return self.layers[0].keys.device

    def places(self) -> tuple[int, ...]:
        """Return the number of columns and the addresses of all keys and values."""
        return (self.window.columns, *(store.data_ptr() for store in self._stores()))

    def num_bytes(self) -> int:
        """Return the bytes of all keys and values."""
        return sum(store.nbytes for store in self._stores())

    def reserve(self, rows: int, columns: int, most: int | None = None) -> None:
        """Allocate rows and columns. `most` bounds the positions."""
        window = self.window
        if rows <= window.rows and columns < window.columns:
            return
        window.rows = max(rows, window.rows)
        if columns >= window.columns:
            # Growing by a share keeps the number of copies logarithmic.
            grown = window.columns * 9 // 8
            grown = grown if most is None else min(grown, most + 1)
            window.columns = -(-max(columns + 1, grown) // 64) * 64
        for layer in self.layers:
            layer.resize()

    def open(self, first: int, last: int, at: torch.Tensor) -> None:
        """Set the next pass's N rows [first, last) and their (N, C) int64 columns."""
        window = self.window
        window.first, window.last, window.at = first, last, at

    def copy(self, source: int, targets: list[int], length: int) -> None:
        """Copy a row's first `length` tokens to other rows."""
        there = self._on_device(targets)
        for store in self._stores():
            for target in targets if there is None else [there]:
                store[target, :, :length] = store[source, :, :length]

    def swap(self, some: list[int], others: list[int], length: int) -> None:
        """Swap two equally long lists of different rows, `length` tokens of each."""
        both, crossed = self._on_device([*some, *others]), self._on_device([*others, *some])
        for store in self._stores():
            if both is not None:
                store[both, :, :length] = store[crossed, :, :length]
                continue
            for one, other in zip(some, others, strict=True):
                moved = store[one, :, :length].clone()
                store[one, :, :length] = store[other, :, :length]
                store[other, :, :length] = moved

    def _on_device(self, rows: list[int]) -> torch.Tensor | None:
        """Return rows to gather at once, or None on a CPU, which copies slices faster."""
        device = self.layers[0].keys.device
        return None if device.type == "cpu" else torch.tensor(rows, device=device)

    def _stores(self) -> list[torch.Tensor]:
        return [store for layer in self.layers for store in (layer.keys, layer.values)]
