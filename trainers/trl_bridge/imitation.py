"""TRL's `SFTTrainer` with an order of the data that a resumed run finds again."""

from __future__ import annotations

from typing import Any

import torch
from transformers.trainer_pt_utils import LengthGroupedSampler
from trl import SFTTrainer

from trainers.trl_bridge.epoch_order import EpochOrder


class ImitationTrainer(SFTTrainer):  # type: ignore[misc]
    """`SFTTrainer` whose order by length is the same in a resumed run."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        sampler = super()._get_train_sampler(train_dataset)
        if not isinstance(sampler, LengthGroupedSampler):
            return sampler
        sampler.generator = torch.Generator()
        return EpochOrder(
            sampler, generator=sampler.generator, seed=self.args.seed, state=lambda: self.state
        )
