"""The ids of a `RowCache`'s rows, the prefixes they share, and the rows that still sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trainers.backends.row_cache import RowCache

_WORTH_COPYING = 16
"""Shared tokens from which on copying keys and values beats computing them."""
_WORTH_MOVING = 0.9
"""Rows that ended leave the batch when at most this share of it still samples."""


class Rows:
    """Rows by key, each with the ids whose keys and values it holds.

    Attributes:
        cache: the keys and values.
        lengths: (rows,) how many of a row's tokens are held.
    """

    def __init__(self) -> None:
        self.cache = RowCache()
        self.lengths = np.zeros(0, dtype=np.int64)
        self._ids = np.zeros((0, 0), dtype=np.int64)
        self._keys: list[int] = []
        self._row_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: int) -> bool:
        return key in self._row_of

    def row(self, key: int) -> int:
        """Return the row of a key."""
        return self._row_of[key]

    def reserve(self, rows: int, columns: int, most: int | None = None) -> None:
        """Allocate rows and columns, as `RowCache.reserve`."""
        self.cache.reserve(rows, columns, most)
        held = self._ids.shape
        size = (self.cache.window.rows, self.cache.window.columns)
        if held != size:
            ids = np.zeros(size, dtype=np.int64)
            ids[: held[0], : held[1]] = self._ids
            self._ids = ids
            self.lengths = np.concatenate(
                [self.lengths, np.zeros(size[0] - held[0], dtype=np.int64)]
            )

    def move_to_front(self, known: Sequence[int], fresh: Sequence[int]) -> None:
        """Put the rows of `known` keys first, then empty rows for `fresh` keys, then all others."""
        front = len(known)
        rows = {self._row_of[key] for key in known}
        outside = [row for row in rows if row >= front]
        inside = [row for row in range(front) if row not in rows]
        self.swap(inside, outside)
        total = len(self._keys)
        moving = list(range(front, min(front + len(fresh), total)))
        self._keys += [-1] * len(fresh)
        for source, target in zip(
            moving, range(len(self._keys) - len(moving), len(self._keys)), strict=True
        ):
            self._move(source, target)
        for row, key in enumerate(fresh, front):
            self._place(key, row)
            self.lengths[row] = 0

    def order_front(self, keys: Sequence[int]) -> None:
        """Put the rows of `keys`, which are the first ones, in this order."""
        for row, key in enumerate(keys):
            if self._row_of[key] != row:
                self.swap([row], [self._row_of[key]])

    def swap(self, some: list[int], others: list[int]) -> None:
        """Swap two equally long lists of different rows."""
        if not some:
            return
        length = int(self.lengths[[*some, *others]].max())
        self.cache.swap(some, others, length)
        both, crossed = [*some, *others], [*others, *some]
        self.lengths[both] = self.lengths[crossed]
        self._ids[both, :length] = self._ids[crossed, :length]
        for row, key in zip(both, [self._keys[row] for row in crossed], strict=True):
            self._place(key, row)

    def keep_prefix(self, row: int, ids: np.ndarray) -> None:
        """Cut a row to its common prefix with `ids`, without their last one.

        The last token is always computed again, for its logits.
        """
        held = int(min(self.lengths[row], len(ids) - 1))
        self.lengths[row] = _common(self._ids[row : row + 1, :held], ids[:held])[0]

    def copy_shared_prefix(self, row: int, ids: np.ndarray) -> None:
        """Copy the longest prefix of `ids` that another row holds."""
        end = len(ids) - 1
        shared = np.minimum(
            _common(self._ids[: len(self), :end], ids[:end]), self.lengths[: len(self)]
        )
        shared[row] = 0
        donor = int(shared.argmax())
        if shared[donor] - self.lengths[row] >= _WORTH_COPYING:
            self.cache.copy(donor, [row], int(shared[donor]))
            self.extend(row, ids[: shared[donor]])

    def repeat(self, row: int, targets: list[int]) -> None:
        """Copy a whole row to other rows."""
        length = int(self.lengths[row])
        self.cache.copy(row, targets, length)
        for target in targets:
            self.extend(target, self._ids[row, :length])

    def extend(self, row: int, ids: np.ndarray) -> None:
        """Record that a row now holds the keys and values of exactly `ids`."""
        self._ids[row, : len(ids)] = ids
        self.lengths[row] = len(ids)

    def drop(self, key: int) -> None:
        """Forget a row. The last one takes its place."""
        row = self._row_of.pop(key, None)
        if row is None:
            return
        last = len(self._keys) - 1
        if row != last:
            self._move(last, row)
        self._keys.pop()
        self.lengths[last] = 0

    def _move(self, source: int, target: int) -> None:
        length = int(self.lengths[source])
        self.cache.copy(source, [target], length)
        self.extend(target, self._ids[source, :length])
        self._place(self._keys[source], target)

    def _place(self, key: int, row: int) -> None:
        self._keys[row] = key
        self._row_of[key] = row


class LiveRows:
    """The rows that still sample, moved in front of those that have ended.

    Attributes:
        width: rows [0, width) take part in the next step.
        prompt_of: (B,) the prompt that a row continues.
        num_tokens: (B,) sampled tokens of each prompt's turn, once it has ended.
        stopped: (B,) the turn ended with a stop id.
        num_live: rows that have not ended.
    """

    def __init__(
        self, rows: Rows, prompts: Sequence[list[int]], keys: Sequence[int], limits: np.ndarray
    ) -> None:
        self.rows = rows
        self.width = self.num_live = len(prompts)
        self.prompt_of = np.empty(len(prompts), dtype=np.int64)
        for index, key in enumerate(keys):
            self.prompt_of[rows.row(key)] = index
        self.num_tokens = np.zeros(len(prompts), dtype=np.int64)
        self.stopped = np.zeros(len(prompts), dtype=bool)
        self._ended = np.zeros(len(prompts), dtype=bool)  # by row
        self._limits = limits

    def end(self, stopped: np.ndarray, step: int) -> None:
        """Record which of the rows [0, width) sampled a stop id at `step`, or met their limit."""
        prompt_of = self.prompt_of[: self.width]
        ends = ~self._ended[: self.width] & (stopped | (self._limits[prompt_of] <= step + 1))
        self.num_tokens[prompt_of[ends]] = step + 1
        self.stopped[prompt_of[ends]] = stopped[ends]
        self._ended[: self.width] |= ends
        self.num_live -= int(ends.sum())

    def compact(self) -> np.ndarray | None:
        """Move ended rows out of the batch, once they are many enough.

        Returns (num_live,) each remaining row's former row, or None if nothing changed.
        """
        if self.num_live > _WORTH_MOVING * self.width:
            return None
        before = np.arange(self.width)
        ended = self._ended[: self.width]
        front = np.flatnonzero(ended[: self.num_live])
        back = self.num_live + np.flatnonzero(~ended[self.num_live :])
        self.rows.swap(front.tolist(), back.tolist())
        both, crossed = np.r_[front, back], np.r_[back, front]
        self.prompt_of[both] = self.prompt_of[crossed]
        self._ended[both] = self._ended[crossed]
        before[both] = before[crossed]
        self.width = self.num_live
        return before[: self.width]

    def next_positions(self) -> np.ndarray:
        """Count one token more in each row that still samples, and return (width,) columns.

        Rows that have ended write to the column after their own: they may have no room for more.
        """
        lengths = self.rows.lengths[: self.width]
        positions = lengths.copy()
        lengths += ~self._ended[: self.width]
        return positions


def common_length(prompts: Sequence[np.ndarray]) -> int:
    """Return the length of the prefix that all of `prompts` share."""
    shortest = min(len(prompt) for prompt in prompts)
    stacked = np.stack([prompt[:shortest] for prompt in prompts])
    return int(_common(stacked, stacked[0]).min())


def _common(rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the length of each row's common prefix with `ids`, of the same width."""
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64)
    equal = rows == ids
    return np.where(equal.all(axis=1), rows.shape[1], equal.argmin(axis=1))
