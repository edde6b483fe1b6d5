"""Places of padded rows' tokens in a pass through the model, and the way back.

TRL pads prompts on the left, so a pass over its rows needs a mask, and attention with a mask
computes and stores both triangles. With padding on the right only, causality alone keeps it away
from every token, and attention takes its causal kernel: about half of the time on the CPU, and the
flash kernel on CUDA.

The episodes of a group begin with one prompt. Where that saves enough, their rows are one row of
the pass: the prompt once, then a branch for each episode, whose tokens see the prompt and their own
branch (Prefix Grouper, arXiv 2506.05433). A branch begins with the prompt's last token again, whose
state predicts the branch's own first token. Log-probabilities and gradients are those of the rows
one by one. Pure functions of tensors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

LARGEST_MASK = 2**24
"""Most pairs of tokens of a pass with branches, which is the size of its mask."""
_WORTH_SHARING = 0.9
"""Largest cost of a pass with branches, as a share of that of the single rows."""
_PAD = -1
"""The branch of padding."""


@dataclass(frozen=True)
class Layout:
    """Places of the tokens of (B, L) padded rows in a pass, and their sources.

    Attributes:
        mask: (B, L), 1 on the tokens of the padded rows.
        place: (B, L) int64, the place of a token in the pass, whose (P, W) places are counted row
            by row; of a shared prompt's last token, the one in its branch.
        source: (P, W) int64, the token that lies there, counted in the same way; -1 for padding.
        positions: (P, W) int64, positions in the padded rows' texts; None where there is no branch.
        branches: (P, W) int64, 0 for the shared prompt, -1 for padding; None too without branches.
    """

    mask: torch.Tensor
    place: torch.Tensor
    source: torch.Tensor
    positions: torch.Tensor | None = None
    branches: torch.Tensor | None = None

    @classmethod
    def from_mask(cls, mask: torch.Tensor) -> Layout:
        """Lay out padded rows of a (B, L) mask, each in a row of its own."""
        width = max(int(mask.sum(dim=1).max()), 1)
        order = torch.argsort((mask == 0).to(torch.int8), dim=1, stable=True)[:, :width]
        first = torch.arange(len(mask), device=mask.device)[:, None]
        source = (order + first * mask.size(1)).masked_fill(mask.gather(1, order) == 0, _PAD)
        place = (mask.cumsum(dim=1) - 1).clamp(min=0) + first * width
        return cls(mask, place, source)

    @classmethod
    def sharing(
        cls, ids: torch.Tensor, mask: torch.Tensor, prompt_width: int, hidden_size: int
    ) -> Layout:
        """Lay out rows so that equal prompts are computed once, where that saves enough.

        Args:
            ids: (B, L).
            mask: (B, L), 1 on tokens.
            prompt_width: the first columns, which hold the prompts.
            hidden_size: of the model; the smaller, the more of a pass is attention.
        """
        sizes = Sizes.measure(ids, mask, prompt_width, hidden_size)
        groups = list(sizes.groups(range(len(ids))).values())
        if not sizes.is_worth_sharing(groups):
            return cls.from_mask(mask)
        width = sizes.shared_width(groups)
        source = torch.full((len(groups), width), _PAD)
        positions, branches = torch.zeros_like(source), source.clone()
        place = torch.zeros(mask.shape, dtype=torch.long)
        columns_of = [row.nonzero()[:, 0] for row in mask.cpu()]
        for index, rows in enumerate(groups):
            shared = sizes.shared(rows)
            at = shared
            for branch, row in enumerate(rows, 1):
                columns = columns_of[row]
                if branch == 1:
                    source[index, :shared] = columns[:shared] + row * mask.size(1)
                    positions[index, :shared] = torch.arange(shared)
                    branches[index, :shared] = 0
                end = at + len(columns) - shared
                source[index, at:end] = columns[shared:] + row * mask.size(1)
                positions[index, at:end] = torch.arange(shared, len(columns))
                branches[index, at:end] = branch if len(rows) > 1 else 0
                place[row, columns[:shared]] = torch.arange(shared) + index * width
                place[row, columns[shared:]] = torch.arange(at, end) + index * width
                at = end
        there = mask.device
        return cls(mask, place.to(there), source.to(there), positions.to(there), branches.to(there))

    def pack(self, ids: torch.Tensor) -> torch.Tensor:
        """Return (P, W): the tokens of (B, L) ids in their places, 0 on padding."""
        return ids.flatten()[self.source] * (self.source >= 0)

    def unpack(self, packed: torch.Tensor, num_columns: int) -> torch.Tensor:
        """Return values of the last packed columns in their padded rows.

        Args:
            packed: (P, K) or (P, K, D), of the last K of the W columns.
            num_columns: C, the number of last columns of the padded rows to return.

        Returns:
            (B, C) or (B, C, D), 0 on padding and on tokens before the K columns.
        """
        width, kept = self.source.size(1), packed.size(1)
        place = self.place[:, -num_columns:]
        column = place % width - (width - kept)
        held = (self.mask[:, -num_columns:] != 0) & (column >= 0)
        index = place // width * kept + column.clamp(min=0)
        values = packed.flatten(0, 1).index_select(0, index.flatten())
        values = values.view(*index.shape, *packed.shape[2:])
        return values * (held if packed.ndim == 2 else held[:, :, None])

    def num_kept(self, num_columns: int) -> int:
        """Return how many of the last packed columns hold all tokens of the last `num_columns`."""
        width = self.source.size(1)
        held = self.mask[:, -num_columns:] != 0
        columns = (self.place[:, -num_columns:] % width).masked_fill(~held, width - 1)
        return width - int(columns.min())

    def distances(self) -> torch.Tensor | None:
        """Return how far each token is behind the others of its row.

        Returns:
            (P, W, W) int64, below 0 for those that it may not see. None where no row has branches,
            and causality alone decides.
        """
        if self.positions is None or self.branches is None:
            return None
        own = self.branches[:, :, None] == self.branches[:, None, :]
        behind = self.positions[:, :, None] - self.positions[:, None, :]
        return behind.masked_fill(~(own | (self.branches == 0)[:, None, :]), -1)


@dataclass(frozen=True)
class Sizes:
    """The lengths of rows, and the costs of passes over them in tokens.

    Attributes:
        names: of the rows' prompts; equal ones are equal.
        prompts: tokens of the rows' prompts.
        lengths: tokens of the rows.
        hidden_size: of the model; the smaller, the more of a pass is attention.
    """

    names: list[bytes]
    prompts: list[int]
    lengths: list[int]
    hidden_size: int

    @classmethod
    def measure(
        cls, ids: torch.Tensor, mask: torch.Tensor, prompt_width: int, hidden_size: int
    ) -> Sizes:
        """Measure (B, L) padded rows, whose first columns hold the prompts."""
        held = mask[:, :prompt_width] != 0
        prompts = torch.where(held, ids[:, :prompt_width], _PAD).cpu().numpy()
        return cls(
            [prompt.tobytes() for prompt in prompts],
            held.sum(dim=1).tolist(),
            mask.sum(dim=1).tolist(),
            hidden_size,
        )

    def groups(self, rows: Iterable[int]) -> dict[bytes, list[int]]:
        """Return rows by the name of their prompt."""
        groups: dict[bytes, list[int]] = {}
        for row in rows:
            groups.setdefault(self.names[row], []).append(row)
        return groups

    def shared(self, rows: list[int]) -> int:
        """Return how many tokens a group's rows have computed once."""
        return max(self.prompts[rows[0]] - 1, 0) if len(rows) > 1 else 0

    def shared_width(self, groups: list[list[int]]) -> int:
        """Return the tokens of the longest row with branches."""
        return max(
            shared + sum(self.lengths[row] - shared for row in rows)
            for rows in groups
            for shared in [self.shared(rows)]
        )

    def cost_alone(self, rows: Sequence[int]) -> float:
        """Return the cost of a pass in which each row is alone."""
        longest = max(self.lengths[row] for row in rows)
        return len(rows) * longest * (1 + longest / (6 * self.hidden_size))

    def cost_shared(self, groups: list[list[int]]) -> float:
        """Return the cost of a pass in which groups share their prompts."""
        width = self.shared_width(groups)
        too_large = len(groups) * width**2 > LARGEST_MASK
        if too_large or all(len(rows) == 1 for rows in groups):
            return math.inf
        # A masked pair costs twice a causal one, since both triangles are computed.
        return len(groups) * width * (1 + 2 * width / (6 * self.hidden_size))

    def is_worth_sharing(self, groups: list[list[int]]) -> bool:
        """Return whether a pass over these groups should share their prompts."""
        rows = [row for group in groups for row in group]
        return self.cost_shared(groups) <= _WORTH_SHARING * self.cost_alone(rows)

    def cost(self, rows: Sequence[int]) -> float:
        """Return the cost of a pass over these rows."""
        groups = list(self.groups(rows).values())
        shares = self.is_worth_sharing(groups)
        return self.cost_shared(groups) if shares else self.cost_alone(rows)
