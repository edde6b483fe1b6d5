"""Orders of the data that a resumed run finds again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import Sampler
from transformers import TrainerState

from trainers.rollout.learnable import LearnableTasks
from trainers.rollout.mixtures import Mixture
from trainers.tokens.seeds import batch_seed


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


class MixtureOrder(Sampler[int]):
    """A sampler whose rows are drawn from several environments, each by its share.

    A function of the mixture's seed and the epoch: shares are carried from epoch to epoch.

    Args:
        places: yields places in an epoch's draws, in order; it may repeat them.
        mixture: the rows.
        num_draws: places in an epoch.
        state: of the trainer; its `epoch` counts the epochs that are behind it.
    """

    def __init__(
        self,
        places: Any,
        mixture: Mixture,
        *,
        num_draws: int,
        state: Callable[[], TrainerState],
    ) -> None:
        self._places = places
        self._mixture = mixture
        self._num_draws = num_draws
        self._state = state

    def __iter__(self) -> Iterator[int]:
        epoch = int(self._state().epoch or 0)
        rows = self._mixture.draw(epoch * self._num_draws, self._num_draws)
        return (rows[place] for place in self._places)

    def __len__(self) -> int:
        return len(self._places)


class LearnableOrder(Sampler[int]):
    """A sampler whose rows are drawn as late as they are asked for, by what was played before.

    Args:
        places: yields places in an epoch's draws, in order; it may repeat them.
        tasks: draws the rows, and keeps an epoch's draws for a run that is resumed.
        num_draws: places in an epoch.
        state: of the trainer; its `epoch` counts the epochs that are behind it.
    """

    def __init__(
        self,
        places: Any,
        tasks: LearnableTasks,
        *,
        num_draws: int,
        state: Callable[[], TrainerState],
    ) -> None:
        self._places = places
        self._tasks = tasks
        self._num_draws = num_draws
        self._state = state

    def __iter__(self) -> Iterator[int]:
        self._tasks.begin(int(self._state().epoch or 0))
        return (self._tasks.row(place, num_draws=self._num_draws) for place in self._places)

    def __len__(self) -> int:
        return len(self._places)


def mixture_order(trainer: Any, dataset: Any = None) -> MixtureOrder:
    """Return the order of saved episodes of several environments.

    Args:
        trainer: one with a `mixture`.
        dataset: the rows; by default the trainer's.
    """
    count = len(trainer.train_dataset if dataset is None else dataset)
    return MixtureOrder(range(count), trainer.mixture, num_draws=count, state=lambda: trainer.state)
