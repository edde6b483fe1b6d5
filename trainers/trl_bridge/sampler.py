"""Orders of the data that a resumed run finds again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
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
    in a run that is resumed in a later one. The epoch is read from the state, since `set_epoch`
    does not reach a sampler that is cut for several processes and, in a resumed run, skips batches.

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


class DrawnOrder(Sampler[int]):
    """A sampler that draws its rows again in each epoch.

    Args:
        draws: yields the numbers of an epoch's draws, in order, perhaps repeated.
        rows: given the epoch, returns a function from a draw's number to its row.
        state: of the trainer; its `epoch` counts the epochs that are behind it.
    """

    def __init__(
        self,
        draws: Any,
        rows: Callable[[int], Callable[[int], int]],
        *,
        state: Callable[[], TrainerState],
    ) -> None:
        self._draws, self._rows, self._state = draws, rows, state

    def __iter__(self) -> Iterator[int]:
        return map(self._rows(int(self._state().epoch or 0)), self._draws)

    def __len__(self) -> int:
        return len(self._draws)


def mixture_order(
    draws: Any, mixture: Mixture, *, num_draws: int, state: Callable[[], TrainerState]
) -> DrawnOrder:
    """Return an order in which each environment has its share, carried from epoch to epoch."""

    def rows(epoch: int) -> Callable[[int], int]:
        return mixture.draw(epoch * num_draws, num_draws).__getitem__

    return DrawnOrder(draws, rows, state=state)


def learnable_order(
    draws: Any, tasks: LearnableTasks, *, num_draws: int, state: Callable[[], TrainerState]
) -> DrawnOrder:
    """Return an order whose rows depend on earlier success, so each is drawn when it is needed."""

    def rows(epoch: int) -> Callable[[int], int]:
        tasks.begin(epoch)
        return partial(tasks.row, num_draws=num_draws)

    return DrawnOrder(draws, rows, state=state)
