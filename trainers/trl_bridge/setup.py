"""What is made before a trainer's first step; a refusal of what makes it is a usage error."""

from __future__ import annotations

from typing import Any

from trainers.options.errors import explain_refusals


class SetupMixin:
    """A mixin before a `transformers.Trainer`, whose options its libraries check only here."""

    def get_train_dataloader(self) -> Any:
        """Return the training batches; see `transformers.Trainer.get_train_dataloader`."""
        with explain_refusals():
            return super().get_train_dataloader()  # type: ignore[misc]

    def create_optimizer(self, model: Any = None) -> Any:
        """Return the optimizer; see `transformers.Trainer.create_optimizer`."""
        with explain_refusals():
            return super().create_optimizer(model)  # type: ignore[misc]

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        """Return the learning rate's schedule; see `transformers.Trainer.create_scheduler`."""
        with explain_refusals():
            return super().create_scheduler(num_training_steps, optimizer)  # type: ignore[misc]
