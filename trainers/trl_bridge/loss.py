"""The loss of a pass: TRL's, adjusted to episodes and to the backend that has sampled them.

TRL multiplies the loss by the ratio of trained to sampled probabilities only where its own vLLM has
sampled, averages over rows where episodes have several, and knows no loss on observations. All that
is adjusted stands in `PolicyLoss._adjusting_trl`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from trainers.credit.importance import importance_weights
from trainers.options.checks import check_correction
from trainers.trl_bridge.batches import (
    has_signal,
    is_mean_over_rows,
    row_weights,
    two_columns,
)
from trainers.trl_bridge.episode_batch import EpisodeBatch
from trainers.trl_bridge.metrics import TokenMetrics, taken_from_trl
from trainers.trl_bridge.passes import Logprobs, compact_logprobs

OBSERVATION_WEIGHTS = "observation_weights"
"""(R, T) in the batch, what the negative log-probability of each given token is multiplied by."""
GAP = "sampling/sampling_logp_difference"
RATIO = "sampling/importance_sampling_ratio"
_OF_TOKENS = ("old_per_token_logps", "ref_per_token_logps")


class PolicyLoss:
    """The policy's loss, corrected for the sampling, beside a loss on observations.

    It logs how far sampled and trained log-probabilities are apart, in nats, whether it corrects or
    not. The trained ones are over all tokens: where top-k, top-p or min-p cut some off, the gap
    holds the logarithm of the probability that was left, and the ratio that probability. What TRL
    logs of the tokens of each pass, such as the entropy, becomes a mean over those of all passes.
    What the ratio needs is computed in the loss's own pass.

    `observation_loss_weight` adds the mean negative log-probability of the tokens that stand
    between a policy's turns, the template's own among them; prompts, and episodes without a reward,
    have none. It is at the policy's temperature.

    Args:
        trainer: a `trl.GRPOTrainer`.
    """

    def __init__(self, trainer: Any) -> None:
        check_correction(trainer.args)
        self._trainer = trainer
        self._metrics = TokenMetrics(trainer.accelerator)
        self._observation_metrics = TokenMetrics(trainer.accelerator)
        self._inputs: dict[str, Any] | None = None
        """Of the pass whose loss is being computed."""
        self._observation_loss: torch.Tensor | float = 0.0
        self._policy_loss_step = 0
        """The optimizer step of the last entry of `policy_loss`."""

    @property
    def observation_loss_weight(self) -> float:
        """The weight, 0 where the config has no such option."""
        return float(getattr(self._trainer.args, "observation_loss_weight", 0.0))

    # A batch ------------------------------------------------------------------------------------

    def weigh(
        self, batch: dict[str, Any], episodes: EpisodeBatch, advantages: torch.Tensor
    ) -> None:
        """Put advantages and the weights of rows into a batch.

        Args:
            batch: TRL's padded tensors.
            episodes: the batch's.
            advantages: (R, T).
        """
        trainer, mask = self._trainer, episodes.action_mask
        num_trained = episodes.trained.sum().float()
        weights = row_weights(
            trainer.loss_type,
            tokens=mask.sum(dim=1),
            episode_of_row=episodes.episode_of_row,
            num_episodes=trainer.accelerator.gather(num_trained.unsqueeze(0)).mean().item(),
        )
        batch["advantages"] = advantages * mask * weights[:, None]
        batch["row_weights"] = weights

    def weigh_observations(self, batch: dict[str, Any], episodes: EpisodeBatch) -> None:
        """Put the weights of observation tokens into a batch, together one per micro-batch.

        Args:
            batch: TRL's padded tensors.
            episodes: the batch's, of which those without a reward are left out.
        """
        if not self.observation_loss_weight:
            return
        row = episodes.episode_of_row
        counted = (row >= 0) & episodes.counted[row.clamp(min=0)]
        has_turns = (batch["tool_mask"] * batch["completion_mask"]).any(dim=1)  # else a filler
        given = batch["completion_mask"] * (1 - batch["tool_mask"])
        given = given.float() * (counted & has_turns)[:, None]
        total = episodes.reduce_sum(given.sum()).clamp(min=1.0)
        # Gradients are averaged over processes and micro-batches; this makes a mean over tokens.
        trainer = self._trainer
        share = trainer.accelerator.num_processes * trainer.args.steps_per_generation / total
        batch[OBSERVATION_WEIGHTS] = given * share * self.observation_loss_weight

    # A pass -------------------------------------------------------------------------------------

    @property
    def has_terms_of_micro_batches(self) -> bool:
        """Some term is over the tokens of a micro-batch, so other ones would change the loss."""
        return bool(self._trainer.top_entropy_quantile < 1.0 or self._trainer.aux_loss_enabled)

    @property
    def _trains_signals_alone(self) -> bool:
        """Rows without an advantage have no gradient."""
        trainer = self._trainer
        has_kl = trainer.beta != 0.0 and not trainer.kl_in_reward
        return trainer.model.training and not (
            has_kl
            or trainer._entropy_bonus_enabled
            or self.has_terms_of_micro_batches
            or self.observation_loss_weight != 0.0
        )

    def is_without_gradient(self, inputs: dict[str, Any]) -> bool:
        """Return whether a pass over these rows can be left out: its gradient is 0."""
        # Several processes must do the same passes together.
        alone = self._trainer.accelerator.num_processes == 1
        return alone and self._trains_signals_alone and not bool(has_signal(inputs).any())

    def __call__(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Return the loss of a pass."""
        if self.is_without_gradient(inputs):
            # The two passes through the model would cost half of a step, for a gradient of 0.
            return sum(p.sum() * 0.0 for p in model.parameters() if p.requires_grad)  # type: ignore[return-value]
        if self._trains_signals_alone:
            signal = has_signal(inputs)[:, None]
            inputs = {**inputs, "tool_mask": inputs["tool_mask"] * signal}
        with self._adjusting_trl(inputs) as adjusted:
            loss: torch.Tensor = self._trainer._compute_loss(model, adjusted)
        if self._trainer._entropy_bonus_enabled and self._trainer.model.training:
            self._add_up_policy_loss()
        return loss + self._observation_loss

    @contextmanager
    def _adjusting_trl(self, inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Adjust TRL while it computes the loss of a pass, and log the metrics of the tokens.

        - Its KL weighs each row, and is none of the loss where it is part of the reward.
        - Its entropy bonus is a share of the mean over the tokens of the batch.
        - Its engine seems to be in use, under which it reads the ratio from the batch.
        """
        trainer = self._trainer
        beta, entropy_coef, use_vllm = trainer.beta, trainer.entropy_coef, trainer.use_vllm
        adjusted = self._inputs = two_columns(dict(inputs))
        self._observation_loss = 0.0
        try:
            of_rows = inputs["row_weights"][:, None]
            trainer.beta = 0.0 if trainer.kl_in_reward else Weighted.of(beta, of_rows)
            trainer.entropy_coef = Weighted.of(entropy_coef, self._share_of_tokens(inputs))
            trainer.use_vllm = trainer.vllm_importance_sampling_correction
            with taken_from_trl(trainer.logged) as of_trl:
                yield adjusted
            mask = adjusted["completion_mask"] * adjusted["tool_mask"]
            # A loss of a user's own may have asked for no log-probabilities.
            of_tokens = adjusted.pop("token_metrics", {"mean": {}})
            self._metrics.add(trainer.logged, mask, **of_tokens, of_trl=of_trl)
        finally:
            # TRL may have changed the coefficient.
            trainer.entropy_coef = float(trainer.entropy_coef)
            trainer.beta, trainer.use_vllm, self._inputs = beta, use_vllm, None

    def logprobs(self, compute: Callable[..., Logprobs], *args: Any, **kwargs: Any) -> Logprobs:
        """Compute log-probabilities, and for the loss's own pass the ratio and its metrics.

        Args:
            compute: TRL's `_get_per_token_logps_and_entropies`.
            *args: its.
            **kwargs: its.
        """
        inputs = self._inputs
        if inputs is None:
            return compact_logprobs(compute, *args, **kwargs)
        scored = inputs["completion_mask"] * inputs["tool_mask"]
        if OBSERVATION_WEIGHTS in inputs:
            scored = scored + (inputs[OBSERVATION_WEIGHTS] > 0)
        # Others are 0 in what is computed; a ratio of the two could be infinite, and 0 times it is
        # no number.
        for name in {*_OF_TOKENS} & {*inputs}:
            inputs[name] = inputs[name].masked_fill(scored == 0, 0.0)
        outputs = compact_logprobs(compute, *args, **{**kwargs, "scored": scored})
        if OBSERVATION_WEIGHTS in inputs:
            self._observation_loss = self._loss_of_observations(inputs, outputs[0])
        self._weigh_tokens(inputs, outputs[0].detach())
        return outputs

    def _weigh_tokens(self, inputs: dict[str, Any], current: torch.Tensor) -> None:
        """Put the ratio and its metrics into a pass.

        Args:
            inputs: of the pass.
            current: (B, T) log-probabilities of the policy as it is. Where TRL keeps none of when
                the batch was played, it has not changed since.
        """
        trainer = self._trainer
        sampled, mask = inputs["sampling_per_token_logps"], inputs["completion_mask"]
        mask = mask * inputs["tool_mask"]
        trained = inputs.get("old_per_token_logps", current)
        gap = (trained - sampled).abs()
        mean, largest = {f"{GAP}/mean": gap}, {f"{GAP}/max": gap}
        smallest: dict[str, torch.Tensor] = {}
        if trainer.vllm_importance_sampling_correction:
            of = importance_weights(
                trained,
                sampled,
                mask,
                mode=trainer.vllm_importance_sampling_mode,
                low=trainer.vllm_importance_sampling_clip_min,
                high=trainer.vllm_importance_sampling_clip_max,
            )
            inputs["importance_sampling_ratio"] = of.weight
            mean |= {f"{RATIO}/mean": of.weight, f"{RATIO}/out_of_bounds": of.is_outside}
            smallest |= {f"{RATIO}/min": of.weight, f"{RATIO}/raw_min": of.ratio}
            largest |= {f"{RATIO}/max": of.weight, f"{RATIO}/raw_max": of.ratio}
        inputs["token_metrics"] = {"mean": mean, "smallest": smallest, "largest": largest}

    def _loss_of_observations(self, inputs: dict[str, Any], logps: torch.Tensor) -> torch.Tensor:
        """Return the term of a pass, scaled as TRL scales a micro-batch's loss, and log the mean.

        Args:
            inputs: of the pass.
            logps: (B, T) log-probabilities, with their gradients.
        """
        weights = inputs[OBSERVATION_WEIGHTS]
        surprise = {"observation_loss": -logps.detach()}
        self._observation_metrics.add(self._trainer.logged, weights, mean=surprise)
        return -(weights * logps).sum() / self._trainer.current_gradient_accumulation_steps

    def _share_of_tokens(self, inputs: dict[str, Any]) -> torch.Tensor:
        """Return the factor from a mean over a pass's tokens to its part of the batch's mean."""
        trainer = self._trainer
        own = (inputs["completion_mask"] * inputs["tool_mask"]).sum()
        parts = trainer.accelerator.num_processes
        parts *= trainer.args.steps_per_generation if trainer.model.training else 1
        return own * parts / inputs["num_items_in_batch"].clamp(min=1)

    def _add_up_policy_loss(self) -> None:
        """Add TRL's log of a pass to its optimizer step's, as the losses add up."""
        trainer = self._trainer
        logged, step = trainer.logged["policy_loss"], trainer.state.global_step
        of_pass = logged.pop()
        if is_mean_over_rows(trainer.loss_type):
            of_pass /= trainer.current_gradient_accumulation_steps
        if logged and self._policy_loss_step == step:
            of_pass += logged.pop()
        logged.append(of_pass)
        self._policy_loss_step = step


class Weighted(float):
    """A coefficient of TRL's whose term of the loss is weighed: `beta`, `entropy_coef`."""

    weights: torch.Tensor

    @classmethod
    def of(cls, coefficient: float, weights: torch.Tensor) -> Weighted:
        """Return a coefficient with weights that its term can be multiplied with."""
        made = cls(coefficient)
        made.weights = weights
        return made

    def __mul__(self, term: Any) -> Any:
        """Return the weighted term of the loss."""
        return float(self) * (self.weights * term)
