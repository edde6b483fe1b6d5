"""TRL's importance correction, for every backend.

TRL multiplies the loss by the ratio of trained to sampled probabilities only where its own vLLM has
sampled. The loss of a pass computes what the ratio needs, so it costs no pass of its own.
"""

from __future__ import annotations

from typing import Any

import torch

from trainers.credit.importance import importance_weights
from trainers.options.checks import check_correction
from trainers.trl_bridge.observations import WEIGHTS, ObservationLossMixin
from trainers.trl_bridge.passes import compact_logprobs
from trainers.trl_bridge.token_metrics import TokenMetrics, taken_from_trl

GAP = "sampling/sampling_logp_difference"
RATIO = "sampling/importance_sampling_ratio"
_OBSERVATION_LOSS = "observation_loss"
_METRICS = "token_metrics"
_OF_TOKENS = ("old_per_token_logps", "ref_per_token_logps")


class ImportanceMixin(ObservationLossMixin):
    """A mixin before `GRPOTrainer` that corrects the policy's loss for what has sampled.

    It logs how far sampled and trained log-probabilities are apart, in nats, whether it corrects or
    not. The trained ones are over all tokens: where top-k, top-p or min-p cut some off, the gap
    holds the logarithm of the probability that was left, and the ratio that probability. What TRL
    logs of the tokens of each pass, such as the entropy, becomes a mean over those of all passes.
    """

    _of_pass: dict[str, Any] | None = None
    """The batch whose loss is being computed."""

    def __init__(self: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[misc]
        check_correction(self.args)
        self._token_metrics = TokenMetrics(self.accelerator)

    def _compute_loss(self: Any, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        use_vllm = self.use_vllm
        logged = self._metrics["train" if self.model.training else "eval"]
        try:
            # Under which TRL reads the ratio from the batch; its engine is asked for nothing here.
            self.use_vllm = self.vllm_importance_sampling_correction
            batch = self._of_pass = dict(inputs)
            with taken_from_trl(logged) as of_trl:
                loss: torch.Tensor = super()._compute_loss(model, batch)  # type: ignore[misc]
            mask = batch["completion_mask"] * batch["tool_mask"]
            self._token_metrics.add(logged, mask, **batch[_METRICS], of_trl=of_trl)
        finally:
            self.use_vllm, self._of_pass = use_vllm, None
        return loss + batch.get(_OBSERVATION_LOSS, 0.0)

    def _get_per_token_logps_and_entropies(self: Any, *args: Any, **kwargs: Any) -> Any:
        compute = super()._get_per_token_logps_and_entropies  # type: ignore[misc]
        batch = self._of_pass
        if batch is not None:
            scored = batch["completion_mask"] * batch["tool_mask"]
            if WEIGHTS in batch:
                scored = scored + (batch[WEIGHTS] > 0)
            kwargs["scored"] = scored
            # Others are 0 in what is computed; a ratio of the two could be infinite, and 0 times it
            # is no number.
            for name in {*_OF_TOKENS} & {*batch}:
                batch[name] = batch[name].masked_fill(scored == 0, 0.0)
        outputs = compact_logprobs(compute, *args, **kwargs)
        if batch is not None:
            if WEIGHTS in batch:
                batch[_OBSERVATION_LOSS] = self.observation_loss(batch, outputs[0])
            self._weigh(batch, outputs[0].detach())
        return outputs

    def _weigh(self: Any, batch: dict[str, Any], current: torch.Tensor) -> None:
        """Put the ratio and its metrics into a batch.

        Args:
            batch: what the loss is computed of.
            current: (B, T) log-probabilities of the policy as it is. Where TRL keeps none of when
                the batch was played, it has not changed since.
        """
        sampled, mask = batch["sampling_per_token_logps"], batch["completion_mask"]
        mask = mask * batch["tool_mask"]
        trained = batch.get("old_per_token_logps", current)
        gap = (trained - sampled).abs()
        mean, largest = {f"{GAP}/mean": gap}, {f"{GAP}/max": gap}
        smallest: dict[str, torch.Tensor] = {}
        if self.vllm_importance_sampling_correction:
            of = importance_weights(
                trained,
                sampled,
                mask,
                mode=self.vllm_importance_sampling_mode,
                low=self.vllm_importance_sampling_clip_min,
                high=self.vllm_importance_sampling_clip_max,
            )
            batch["importance_sampling_ratio"] = of.weight
            mean |= {f"{RATIO}/mean": of.weight, f"{RATIO}/out_of_bounds": of.is_outside}
            smallest |= {f"{RATIO}/min": of.weight, f"{RATIO}/raw_min": of.ratio}
            largest |= {f"{RATIO}/max": of.weight, f"{RATIO}/raw_max": of.ratio}
        batch[_METRICS] = {"mean": mean, "smallest": smallest, "largest": largest}
