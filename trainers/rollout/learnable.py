"""Tasks drawn by their learnability: those that the policy sometimes solves.

A draw depends on earlier episodes, so a run that is resumed continues from both: the estimates, and
the draws of the epoch that it was stopped in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from trainers.rollout.mixtures import draw_order
from trainers.tokens.seeds import batch_seed

RATE = 0.5
"""The share by which an estimate moves to the success of a batch's episodes on its task."""
LEAST = 0.02
"""The least weight of a task, next to 0.25 at p = 1/2, so that none is lost for good."""


class LearnableTasks:
    """Draws rows by the learnability p (1 - p) of their tasks, each environment by its share.

    p is a running mean of success, p + RATE (s - p) after a batch whose episodes of the task had
    mean success s, and 1/2 before the first. No row comes twice within `batch` draws, unless its
    environment has fewer.

    Args:
        tasks: the task id of each row.
        rows: the rows of each environment.
        weights: of the environments.
        seed: the run's.
        batch: draws that are played together.
    """

    def __init__(
        self,
        tasks: Sequence[str],
        rows: Mapping[str, Sequence[int]],
        weights: Mapping[str, int],
        *,
        seed: int,
        batch: int,
    ) -> None:
        self._tasks, self._rows, self._weights = tasks, rows, weights
        self._seed, self._batch = seed, batch
        self.success: dict[str, float] = {}
        self._drawn: list[int] = []
        self._epoch = 0

    def record(self, episodes: Iterable[tuple[str, bool]]) -> None:
        """Record the success of a batch's episodes, as pairs of task id and success."""
        per_task: dict[str, list[bool]] = {}
        for task_id, success in episodes:
            per_task.setdefault(task_id, []).append(success)
        for task_id, successes in per_task.items():
            p = self.success.get(task_id, 0.5)
            self.success[task_id] = p + RATE * (sum(successes) / len(successes) - p)

    def begin(self, epoch: int) -> None:
        """Begin an epoch. The draws of a loaded state are kept in its own epoch."""
        if epoch != self._epoch:
            self._epoch, self._drawn = epoch, []

    def row(self, index: int, *, num_draws: int) -> int:
        """Return the row of a draw in an epoch of `num_draws`. Draws are made in order."""
        while len(self._drawn) <= index:
            self._drawn.append(self._draw(len(self._drawn), num_draws))
        return self._drawn[index]

    def _draw(self, index: int, num_draws: int) -> int:
        number = self._epoch * num_draws + index
        name = next(islice(draw_order(self._weights), number % sum(self._weights.values()), None))
        rows = self._rows[name]
        together = set(self._drawn[index - index % self._batch :])
        fresh = [row for row in rows if row not in together] or list(rows)
        p = np.array([self.success.get(self._tasks[row], 0.5) for row in fresh])
        weights = np.maximum(p * (1 - p), LEAST)
        draws = np.random.default_rng(batch_seed(self._seed, (number,)))
        return int(fresh[draws.choice(len(fresh), p=weights / weights.sum())])

    def state_dict(self) -> dict[str, Any]:
        """Return the estimates and the epoch's draws, as JSON values."""
        return {
            "success": dict(self.success),
            "epoch": self._epoch,
            "drawn": list(self._drawn),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state. An empty dict resets."""
        self.success = dict(state.get("success", {}))
        self._epoch, self._drawn = state.get("epoch", 0), list(state.get("drawn", []))
