"""Cross-entropy on what the environment said, beside the policy's loss: a small world model."""

from __future__ import annotations

from typing import Any

import torch

from trainers.trl_bridge.episode_batch import EpisodeBatch
from trainers.trl_bridge.token_metrics import TokenMetrics

WEIGHTS = "observation_weights"
"""(R, T) in the batch, what the negative log-probability of each given token is multiplied by."""


class ObservationLossMixin:
    """A mixin before `GRPOTrainer`: adds `observation_loss_weight` times the mean over tokens.

    The tokens are those that stand between a policy's turns, so the template's own are among them;
    prompts, and episodes without a reward, have none. Their log-probabilities are those of the pass
    that the policy's loss makes anyway, at its temperature.
    """

    def __init__(self: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[misc]
        self._observation_metrics = TokenMetrics(self.accelerator)

    @property
    def observation_loss_weight(self: Any) -> float:
        """The weight; 0 where the config has no such option."""
        return float(getattr(self.args, "observation_loss_weight", 0.0))

    def weigh_observations(self: Any, batch: dict[str, Any], episodes: EpisodeBatch) -> None:
        """Put into a batch what each observation token weighs: together one, per micro-batch.

        Args:
            batch: TRL's padded tensors.
            episodes: the batch's, of which those without a reward are left out.
        """
        row = episodes.episode_of_row
        counted = (row >= 0) & episodes.counted[row.clamp(min=0)]
        has_turns = (batch["tool_mask"] * batch["completion_mask"]).any(dim=1)  # else a filler
        given = batch["completion_mask"] * (1 - batch["tool_mask"])
        given = given.float() * (counted & has_turns)[:, None]
        total = self._reduce_sum(given.sum()).clamp(min=1.0)
        # Gradients are averaged over processes and micro-batches; this makes a mean over tokens.
        share = self.accelerator.num_processes * self.args.steps_per_generation / total
        batch[WEIGHTS] = given * share * self.observation_loss_weight

    def observation_loss(self: Any, inputs: dict[str, Any], logps: torch.Tensor) -> torch.Tensor:
        """Return the term of a pass, scaled as TRL scales a micro-batch's loss; log the mean.

        Args:
            inputs: of the pass.
            logps: (B, T) log-probabilities, with their gradients.
        """
        weights = inputs[WEIGHTS]
        logged = self._metrics["train" if self.model.training else "eval"]
        surprise = {"observation_loss": -logps.detach()}
        self._observation_metrics.add(logged, weights, mean=surprise)
        return -(weights * logps).sum() / self.current_gradient_accumulation_steps
