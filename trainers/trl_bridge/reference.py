"""The reference of `sync_ref_model`, which moves towards the policy, across checkpoints.

TRL makes the reference from the model that the run began with, so one that has moved would be back
where it began after a resume.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers.integrations import is_deepspeed_zero3_enabled

from trainers.options.errors import UsageError

_FILE = "reference.pt"


class MovingReferenceMixin:
    """A mixin before `SavingMixin`: a checkpoint holds a reference that moves."""

    def _save_optimizer_and_scheduler(self: Any, output_dir: str) -> None:
        super()._save_optimizer_and_scheduler(output_dir)  # type: ignore[misc]
        # In pieces, no process has all of it.
        is_split = self.is_fsdp_enabled or is_deepspeed_zero3_enabled()
        if self._reference_moves and self.is_world_process_zero() and not is_split:
            torch.save(self._reference.state_dict(), Path(output_dir) / _FILE)

    def _load_optimizer_and_scheduler(self: Any, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)  # type: ignore[misc]
        if checkpoint is None or not self._reference_moves:
            return
        path = Path(checkpoint) / _FILE
        if not path.is_file():
            raise UsageError(
                f"sync_ref_model moves the reference, and {checkpoint} does not hold it; resume "
                "without sync_ref_model, or name the checkpoint as the model of a new run"
            )
        device = self.accelerator.device
        self._reference.load_state_dict(torch.load(path, map_location=device, weights_only=True))

    @property
    def _reference_moves(self: Any) -> bool:
        return bool(self.args.sync_ref_model)

    @property
    def _reference(self: Any) -> torch.nn.Module:
        reference: torch.nn.Module = self.accelerator.unwrap_model(self.ref_model)
        return reference
