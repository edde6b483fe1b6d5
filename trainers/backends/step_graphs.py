"""Decoding steps captured as CUDA graphs: one launch in place of hundreds from Python.

A GPU waits for the kernels of a step of few rows to be launched. A graph replays them all at once,
over the same memory. So ids, columns and logits lie in fixed tensors, numbers of rows and columns
come in few sizes, and a graph holds as long as cache and weights stay where they are. Weights may
change in place, as an optimizer changes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from trainers.backends.row_cache import RowCache
from trainers.backends.weights import is_whole

RunStep = Callable[[RowCache, torch.Tensor, torch.Tensor], torch.Tensor]
"""Cache, (n, 1) int64 ids and their (n, 1) int64 positions -> (n, V) float32 logits."""

_FEWEST_ROWS, _FEWEST_COLUMNS = 8, 512
_DOUBLED_ROWS = 128
"""Numbers of rows double up to this one, and are its multiples beyond."""

_SAME = 0.01
"""Largest mean difference of logits between a step that is replayed and one run from Python."""

_KEPT_SHARE = 1 / 16
"""Largest cache that stays between batches, with its graphs, as a share of the GPU's memory."""


class StepGraphs:
    """Replays a model's decoding steps, and captures those of new sizes.

    The first step of every batch is run from Python as well. If the two differ, as with weights
    that were replaced unseen, or if a step cannot be captured, all steps are run from Python from
    then on, with a warning; then `works` is False.
    """

    def __init__(self, model: torch.nn.Module, run: RunStep, *, enabled: bool = True) -> None:
        self._model = model
        self._run = run
        self._steps: dict[int, _Step] = {}
        self._place: tuple[int, ...] = ()
        self._weights: tuple[int, ...] = ()
        self._is_checked = False
        self.works = enabled and can_capture(model)

    @contextmanager
    def over_weights(self) -> Iterator[None]:
        """Record the weights' addresses for the steps in this block, and check the first step."""
        self._weights = tuple(weight.data_ptr() for weight in self._model.parameters())
        self._is_checked = False
        yield

    def advance(
        self, cache: RowCache, ids: torch.Tensor, positions: torch.Tensor
    ) -> torch.Tensor | None:
        """Compute a step of the first N rows, with (N, 1) int64 ids and positions.

        `cache` has `num_rows` rows allocated. Returns (N, V) float32 logits, which hold until the
        next step, or None if it is to be run from Python.
        """
        if not self.works:
            return None
        place = (*cache.places(), *self._weights)
        if place != self._place:
            self._steps.clear()
            self._place = place
        rows = num_rows(len(ids))
        try:
            if rows not in self._steps:
                self._steps[rows] = _Step(self._run, cache, rows)
            step = self._steps[rows]
            logits = step.replay(ids, positions)
            if not self._is_checked:
                step.check()
                self._is_checked = True
            return logits
        except RuntimeError as error:
            self.works = False
            self._steps.clear()
            warnings.warn(
                "decoding steps are run from Python, which takes several times as long; a CUDA "
                f"graph of one does not work: {str(error).splitlines()[0]}",
                stacklevel=2,
            )
            return None

    def keeps(self, cache: RowCache) -> bool:
        """Return whether an emptied cache is small enough to stay, and its graphs with it."""
        if not (self.works and self._steps):
            return False
        total = torch.cuda.get_device_properties(cache.device).total_memory
        return cache.num_bytes() <= _KEPT_SHARE * total


class _Step:
    """The graph of a decoding step with a fixed number of rows."""

    def __init__(self, run: RunStep, cache: RowCache, rows: int) -> None:
        device = cache.device
        self._spare = cache.spare_column
        self._ids = torch.zeros(rows, 1, dtype=torch.long, device=device)
        self._positions = torch.full_like(self._ids, self._spare)
        self._compute = lambda: run(cache, self._ids, self._positions)
        self._replayed, self._logits = capture(self._compute, device)

    def replay(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Return the (N, V) logits of the first N rows, with (N, 1) ids at (N, 1) positions."""
        num = len(ids)
        self._ids[:num], self._positions[:num] = ids, positions
        self._positions[num:] = self._spare  # rows that take no part keep what they hold
        self._replayed.replay()
        return self._logits[:num]

    def check(self) -> None:
        """Raise RuntimeError if the last step, run from Python, has other logits."""
        distance = float((self._compute() - self._logits).abs().mean())
        if not distance <= _SAME:  # which nan is not
            raise RuntimeError(f"its logits are {distance:.3g} off those of the step itself")


def can_capture(model: torch.nn.Module) -> bool:
    """Return whether a model's steps can be captured: it lies whole on one CUDA device."""
    places = {weight.device for weight in model.parameters()}
    one = next(iter(places)).type == "cuda" if len(places) == 1 else False
    return one and all(is_whole(weight) for weight in model.parameters())


def capture(
    compute: Callable[[], torch.Tensor], device: torch.device
) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
    """Capture a computation on tensors that stay where they are, as a graph and its result.

    The result is a tensor of any shape (...), as `compute` returns it.
    """
    stream, current = torch.cuda.Stream(device), torch.cuda.current_stream(device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.device(device):
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            compute()  # libraries allocate what they need once
        current.wait_stream(stream)
        # Autocast's lowered copies are freed with the batch; the graph lowers them again.
        torch.clear_autocast_cache()
        # Another thread may train meanwhile.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            result = compute()
        torch.clear_autocast_cache()
    return graph, result


def num_rows(rows: int) -> int:
    """Return the captured size for a number of rows."""
    if rows <= _DOUBLED_ROWS:
        return max(_FEWEST_ROWS, 1 << (rows - 1).bit_length())
    return -(-rows // _DOUBLED_ROWS) * _DOUBLED_ROWS


def num_columns(columns: int, most: int | None) -> int:
    """Return the captured size for a number of columns, above `most` only if need be."""
    size = max(_FEWEST_COLUMNS, 1 << columns.bit_length()) - 1
    return size if most is None else max(columns, min(size, most))
