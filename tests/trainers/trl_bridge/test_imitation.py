from __future__ import annotations

from typing import Any

import pytest
import torch
from accelerate.data_loader import prepare_data_loader, skip_first_batches
from torch.utils.data import DataLoader, RandomSampler
from transformers import TrainerState

from trainers.trl_bridge import EpochOrder


@pytest.mark.parametrize("rank", [0, 1])
def test_one_of_two_processes_resumes_in_the_order_of_its_epoch(rank: int) -> None:
    state = TrainerState()

    def batches() -> Any:
        generator = torch.Generator()
        sampler = RandomSampler(range(8), generator=generator)
        order = EpochOrder(sampler, generator=generator, seed=0, state=lambda: state)
        loader = DataLoader(list(range(8)), batch_size=1, sampler=order)
        return prepare_data_loader(loader, num_processes=2, process_index=rank, put_on_device=False)

    state.epoch = 1.0
    whole = [int(batch) for batch in batches()]
    state.epoch = 1.25
    assert [int(batch) for batch in skip_first_batches(batches(), 1)] == whole[1:]
    state.epoch = 0.25
    assert [int(batch) for batch in skip_first_batches(batches(), 1)] != whole[1:]
