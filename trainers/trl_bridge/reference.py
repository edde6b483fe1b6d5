"""The reference that the policy's KL is measured to: the start's weights, or those it moved to.

TRL loads it from the path that the model's configuration names, which may hold other weights: the
base of an adapter that was merged, or the model before it was changed in Python. A reference that
moves (`sync_ref_model`) would be back where it began after a resume.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers.integrations import is_deepspeed_zero3_enabled

from trainers.options.errors import UsageError

_FILE = "reference.pt"


class ReferenceMixin:
    """A mixin before `SavingMixin`: the reference is the start, or a checkpoint's."""

    def refer_to_start(self: Any) -> None:
        """Give the reference the weights that training starts from.

        Where it is split among processes it keeps those of the model's path.
        """
        if self.ref_model is not None and not self._reference_is_split:
            start = self.accelerator.unwrap_model(self.model)
            self._reference.load_state_dict(start.state_dict())

    def _save_optimizer_and_scheduler(self: Any, output_dir: str) -> None:
        super()._save_optimizer_and_scheduler(output_dir)  # type: ignore[misc]
        whole = not self._reference_is_split
        if self._reference_moves and self.is_world_process_zero() and whole:
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
    def _reference_is_split(self: Any) -> bool:
        """In pieces, of which no process has all."""
        return bool(self.is_fsdp_enabled or is_deepspeed_zero3_enabled())

    @property
    def _reference(self: Any) -> torch.nn.Module:
        reference: torch.nn.Module = self.accelerator.unwrap_model(self.ref_model)
        return reference
