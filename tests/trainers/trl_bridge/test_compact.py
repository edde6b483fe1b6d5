from __future__ import annotations

import torch

from trainers.trl_bridge.compact import Compact

MASK = torch.tensor([[0, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 1, 0, 0]])
IDS = torch.tensor([[0, 5, 6, 7, 0], [0, 0, 1, 2, 3], [0, 0, 9, 0, 0]])


def test_tokens_move_to_the_left_in_their_order() -> None:
    assert Compact.of(MASK).pack(IDS).tolist() == [[5, 6, 7], [1, 2, 3], [9, 0, 0]]


def test_what_was_packed_comes_back_to_its_columns() -> None:
    layout = Compact.of(MASK)
    assert (layout.unpack(layout.pack(IDS), 5) == IDS).all()
    vectors = torch.stack([IDS, -IDS], dim=-1)
    packed = torch.stack([layout.pack(IDS), layout.pack(-IDS)], dim=-1)
    assert (layout.unpack(packed, 5) == vectors).all()


def test_the_last_columns_need_only_the_packed_columns_that_hold_their_tokens() -> None:
    layout = Compact.of(MASK)
    assert layout.num_kept(2) == 2  # the first row's two tokens before are the fewest but one
    assert layout.num_kept(3) == 3
    kept = layout.pack(IDS)[:, -2:]
    assert layout.unpack(kept, 2).tolist() == [[7, 0], [2, 3], [0, 0]]


def test_a_row_without_tokens_comes_back_as_zeros() -> None:
    layout = Compact.of(torch.zeros(1, 3, dtype=torch.long))
    assert layout.unpack(layout.pack(torch.ones(1, 3)), 3).tolist() == [[0.0, 0.0, 0.0]]
