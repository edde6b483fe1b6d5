"""Rows with all padding on the right and none too much, and the way back to TRL's columns.

TRL pads prompts on the left, so a pass over its rows needs a mask, and attention with a mask
computes and stores both triangles. With padding on the right only, causality alone keeps it away
from every token, and attention takes its causal kernel: about half of the time on the CPU, and the
flash kernel on CUDA. Pure functions of tensors.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Compact:
    """Where the tokens of padded rows go, and where they came from.

    Attributes:
        mask: (B, L), 1 on the tokens of the padded rows.
        width: W, the tokens of the longest row.
    """

    mask: torch.Tensor
    width: int

    @classmethod
    def of(cls, mask: torch.Tensor) -> Compact:
        """Lay out rows with the given mask."""
        return cls(mask, max(int(mask.sum(dim=1).max()), 1))

    def pack(self, ids: torch.Tensor) -> torch.Tensor:
        """Return (B, W): the tokens of (B, L) ids moved to the left, padding behind them."""
        order = torch.argsort((self.mask == 0).to(torch.int8), dim=1, stable=True)
        return ids.gather(1, order[:, : self.width])

    def unpack(self, packed: torch.Tensor, num_columns: int) -> torch.Tensor:
        """Bring values of the last packed columns back.

        Args:
            packed: (B, K) or (B, K, D), of the last K of the W columns.
            num_columns: C; how many of the last columns of the padded rows to return.

        Returns:
            (B, C) or (B, C, D), 0 on padding and on tokens before the K columns.
        """
        places = self.mask.cumsum(dim=1)[:, -num_columns:] - 1
        places = places - (self.width - packed.size(1))
        held = (self.mask[:, -num_columns:] != 0) & (places >= 0)
        index = places.clamp(min=0)
        if packed.ndim == 2:
            return packed.gather(1, index) * held
        index = index[:, :, None].expand(-1, -1, packed.size(2))
        return packed.gather(1, index) * held[:, :, None]

    def num_kept(self, num_columns: int) -> int:
        """Return how many of the last packed columns hold all tokens of the last `num_columns`."""
        before = self.mask[:, :-num_columns].sum(dim=1)
        return max(self.width - int(before.min()), 1)
