"""Shares of several environments: the order of their tasks, and the number of each.

Pure functions of the weights, the seed and the index in the run, so that a resumed run draws on
where the uninterrupted one would have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from agentgym_envs.core.tasks import scenario_name, spread_over_kinds
from trainers.tokens.seeds import batch_seed

Key = TypeVar("Key")


def draw_order(weights: Mapping[Key, int]) -> Iterator[Key]:
    """Yield endlessly the environment that is furthest behind its share.

    After any number of draws each has had its share of them, rounded up or down (for three and
    more of unequal weights at most one draw further off). So batches cut from the order carry over
    the rest of a share, and after as many draws as the weights' sum the order repeats.
    """
    total = sum(weights.values())
    behind = dict.fromkeys(weights, 0)
    while True:
        for key, weight in weights.items():
            behind[key] += weight
        chosen = max(behind, key=behind.__getitem__)  # the first of equals
        behind[chosen] -= total
        yield chosen


def shares(count: int, weights: Mapping[Key, int]) -> dict[Key, int]:
    """Return how many of the first `count` draws each one has."""
    rounds, rest = divmod(count, sum(weights.values()))
    result = {key: rounds * weight for key, weight in weights.items()}
    for key in islice(draw_order(weights), rest):
        result[key] += 1
    return result


@dataclass(frozen=True)
class Mixture:
    """Rows of several environments, drawn by their weights.

    Each environment's rows come in an order of their own, and in another one when all have come.

    Attributes:
        rows: the rows of each environment.
        weights: of the environments.
        seed: of the orders; None keeps the rows as they stand.
    """

    rows: Mapping[str, Sequence[int]]
    weights: Mapping[str, int]
    seed: int | None = None
    _orders: dict[tuple[str, int], Sequence[int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def draw(self, start: int, count: int) -> list[int]:
        """Return the rows of the draws from `start` on, counted from the beginning of the run."""
        drawn = shares(start, self.weights)
        result: list[int] = []
        order = draw_order(self.weights)
        for name in islice(order, start % sum(self.weights.values()), None):
            if len(result) == count:
                break
            round_number, index = divmod(drawn[name], len(self.rows[name]))
            result.append(self._order(name, round_number)[index])
            drawn[name] += 1
        return result

    def _order(self, name: str, round_number: int) -> Sequence[int]:
        """Return the rows of an environment in the order of one round through them."""
        if self.seed is None:
            return self.rows[name]
        if (name, round_number) not in self._orders:
            for key in [key for key in self._orders if key[0] == name]:
                del self._orders[key]
            number = list(self.rows).index(name)
            draws = np.random.default_rng(batch_seed(self.seed, (number, round_number)))
            order = draws.permutation(len(self.rows[name]))
            self._orders[name, round_number] = [self.rows[name][index] for index in order]
        return self._orders[name, round_number]


def _one_kind(_: str) -> str:
    return ""


def spread(
    ids: Sequence[str],
    count: int,
    weights: Mapping[str, int] | None = None,
    task_kind: Callable[[str], Any] = _one_kind,
    *,
    start: float = 0.0,
) -> list[str]:
    """Return `count` task ids, spread evenly over those of each environment, in their order.

    Args:
        ids: the task ids, those of an environment one after the other.
        count: 0, or a larger number than there are, takes all.
        weights: of the environments, by the name in front of the ids; by default all alike. Where
            one has fewer tasks than its share, the others have more.
        task_kind: see `agentgym_envs.core.tasks.spread_over_kinds`; by default all are of one kind.
        start: see there.
    """
    if count == 0 or count >= len(ids):
        return list(ids)
    groups: dict[str, list[str]] = {}
    for task_id in ids:
        groups.setdefault(scenario_name(task_id), []).append(task_id)
    numbers = dict.fromkeys(groups, 0)
    for name in draw_order({name: (weights or {}).get(name, 1) for name in groups}):
        if sum(numbers.values()) == count:
            break
        numbers[name] += numbers[name] < len(groups[name])
    return [
        task_id
        for name, group in groups.items()
        for task_id in spread_over_kinds(group, numbers[name], task_kind, start=start)
    ]


def repeated(
    ids: Sequence[str],
    count: int,
    weights: Mapping[str, int] | None = None,
    task_kind: Callable[[str], Any] = _one_kind,
) -> list[str]:
    """Return `count` task ids that go round those of each environment, which has its share.

    The remainder is spread evenly over each environment's tasks. The arguments are those of
    `spread`.
    """
    groups: dict[str, list[str]] = {}
    for task_id in ids:
        groups.setdefault(scenario_name(task_id), []).append(task_id)
    numbers = shares(count, {name: (weights or {}).get(name, 1) for name in groups})
    chosen: list[str] = []
    for name, group in groups.items():
        rounds, rest = divmod(numbers[name], len(group))
        chosen += group * rounds + (spread(group, rest, task_kind=task_kind) if rest else [])
    return chosen
