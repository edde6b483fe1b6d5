"""An order of the data that a resumed run finds again, and TRL's `SFTTrainer` with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import Sampler
from transformers import TrainerState
from transformers.trainer_pt_utils import LengthGroupedSampler
from trl import SFTTrainer

from trainers.tokens.seeds import batch_seed
from trainers.trl_bridge.saving import SavingMixin


class EpochOrder(Sampler[int]):
    """A sampler whose order depends on the seed and the epoch only.

    Samplers that go on drawing from epoch to epoch would begin again with the first epoch's order
    in a run that is resumed in a later one. The epoch is asked for, since `set_epoch` does not
    reach a sampler that is cut for several processes and, in a resumed run, skips batches.

    Args:
        sampler: draws from `generator`.
        generator: the sampler's; None where it does not shuffle.
        seed: the run's seed.
        state: of the trainer; its `epoch` counts the epochs that are behind it.
    """

    def __init__(
        self,
        sampler: Any,
        *,
        generator: torch.Generator | None,
        seed: int,
        state: Callable[[], TrainerState],
    ) -> None:
        self._sampler = sampler
        self._generator = generator
        self._seed = seed
        self._state = state

    def __iter__(self) -> Iterator[int]:
        if self._generator is not None:
            epoch = int(self._state().epoch or 0)
            self._generator.manual_seed(batch_seed(self._seed, (epoch,)))
        return iter(self._sampler)

    def __len__(self) -> int:
        return len(self._sampler)


class ImitationTrainer(SavingMixin, SFTTrainer):  # type: ignore[misc]
    """`SFTTrainer` whose order by length is the same in a resumed run."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        sampler = super()._get_train_sampler(train_dataset)
        if not isinstance(sampler, LengthGroupedSampler):
            return sampler
        sampler.generator = torch.Generator()
        return EpochOrder(
            sampler, generator=sampler.generator, seed=self.args.seed, state=lambda: self.state
        )
