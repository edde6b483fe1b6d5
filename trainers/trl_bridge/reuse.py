"""Batches of episodes that serve several optimizer steps, across checkpoints.

TRL keeps such a batch in memory, so a run that is resumed between two of its steps would play
again, and begin each later batch at another step than the uninterrupted run.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import torch

logger = logging.getLogger(__name__)


class BatchCheckpointMixin:
    """A mixin before `EpisodeTrainer`: a checkpoint holds the batch that is not used up."""

    def _batch_file(self: Any, folder: str) -> Path:
        return Path(folder) / f"batch_{self.args.process_index}.pt"

    def _batch_use(self: Any) -> list[int]:
        """Return what a saved batch fits: micro-batches it serves, its parts, and processes."""
        steps = self.args.steps_per_generation
        return [steps * self.num_iterations, steps, self.args.world_size]

    def _save_optimizer_and_scheduler(self: Any, output_dir: str) -> None:
        use = self._batch_use()
        if self._step % use[0]:
            path = self._batch_file(output_dir)
            path.parent.mkdir(parents=True, exist_ok=True)
            saved = {"step": self._step, "batches": self._buffered_inputs, "use": use}
            torch.save(saved, path)
        super()._save_optimizer_and_scheduler(output_dir)  # type: ignore[misc]

    def _load_optimizer_and_scheduler(self: Any, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)  # type: ignore[misc]
        if checkpoint is None or not self._batch_file(checkpoint).is_file():
            return
        device = self.accelerator.device
        saved = torch.load(self._batch_file(checkpoint), map_location=device, weights_only=True)
        if saved["use"] != self._batch_use():
            logger.warning(
                "the batch that %s was saved amid does not fit this run's batches or processes; "
                "episodes are played anew",
                checkpoint,
            )
            return
        self._step, self._buffered_inputs = saved["step"], saved["batches"]
