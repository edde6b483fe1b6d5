"""Which rows of a batch still sample, while others have ended their turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trainers.backends.rows import Rows

_WORTH_MOVING = 0.9
"""Rows that ended leave the batch when at most this share of it still samples."""


class LiveRows:
    """Which rows still sample; rows that have ended are moved behind those that have not.

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
        """Move ended rows out of the batch, once they are many enough to pay for the move.

        Returns:
            (num_live,) for each row left, the row it had before; None where nothing changed.
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
        """Count one token more in each row that still samples.

        Returns:
            (width,) where each row's token lies. Those of a row that has ended all lie in the one
            column after its own: it may have no room for more.
        """
        lengths = self.rows.lengths[: self.width]
        positions = lengths.copy()
        lengths += ~self._ended[: self.width]
        return positions
