"""The loss of a pass: TRL's, adjusted to episodes and to the backend that has sampled them.

TRL multiplies the loss by the ratio of trained to sampled probabilities only where its own vLLM has
sampled, averages over rows where episodes have several, and knows no loss on observations. All that
is adjusted stands in `PolicyLoss._adjusting_trl`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from trainers.credit.importance import importance_weights, shaped_probabilities
from trainers.options.checks import check_correction
from trainers.tokens.generation import Sampling
from trainers.trl_bridge.batch import (
    SEQUENCES,
    EpisodeBatch,
    has_signal,
    is_mean_over_rows,
    padded,
    row_weights,
    token_weights,
    two_columns,
)
from trainers.trl_bridge.metrics import TokenMetrics, pop_trl_metrics
from trainers.trl_bridge.passes import Logprobs, compact_logprobs, sampling_mode

OBSERVATION_WEIGHTS = "observation_weights"
"""Key of the batch: (R, T), the factor of each given token's negative log-probability."""
EXPERT_WEIGHTS = "expert_weights"
"""Key of the batch: (R, T), the factor of each of an expert's tokens' shaped probability."""
GAP = "sampling/sampling_logp_difference"
RATIO = "sampling/importance_sampling_ratio"
REFERENCE = "ref_per_token_logps"
_TOKEN_COLUMNS = ("old_per_token_logps", REFERENCE)
_LARGEST_LOG_RATIO = 80.0
"""Nats. Their exponential fits into float32, that of 89 is infinite."""


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

    An expert's tokens are none of TRL's, so in no ratio, clip, KL, entropy or metric of it. Their
    term, -A f(pi), is added, of which each episode or token weighs as one of the policy's own.

    Args:
        trainer: a `trl.GRPOTrainer`.
    """

    def __init__(self, trainer: Any) -> None:
        check_correction(trainer.args)
        self._trainer = trainer
        self._metrics = TokenMetrics(trainer.accelerator)
        self._observation_metrics = TokenMetrics(trainer.accelerator)
        self._expert_metrics = TokenMetrics(trainer.accelerator)
        self._inputs: dict[str, Any] | None = None
        """Inputs of the pass whose loss is being computed."""
        self._further_terms: torch.Tensor | float = 0.0
        self._policy_loss_step = 0
        """The optimizer step of the last entry of `policy_loss`."""

    # A batch ------------------------------------------------------------------------------------

    def weigh(
        self, batch: dict[str, Any], episodes: EpisodeBatch, advantages: torch.Tensor
    ) -> None:
        """Put (R, T) advantages and the weights of rows into TRL's padded batch."""
        mask = episodes.action_mask
        weights = self._row_weights(episodes, mask)
        batch["advantages"] = advantages * mask * weights[:, None]
        batch["row_weights"] = weights

    def _row_weights(
        self, episodes: EpisodeBatch, mask: torch.Tensor, *, least: int = 0
    ) -> torch.Tensor:
        """Return (R,) `row_weights` of rows with tokens in a mask, of `least` episodes or more."""
        trainer = self._trainer
        num_trained = episodes.trained.sum().float().clamp(min=least)
        return row_weights(
            trainer.loss_type,
            tokens=mask.sum(dim=1),
            episode_of_row=episodes.episode_of_row,
            num_episodes=trainer.accelerator.gather(num_trained.unsqueeze(0)).mean().item(),
        )

    def weigh_experts(
        self, batch: dict[str, Any], episodes: EpisodeBatch, advantages: torch.Tensor
    ) -> None:
        """Add the (R, T) advantages of an expert's tokens, 0 elsewhere, to a batch of own ones."""
        mask = advantages != 0
        # The expert's may be more than the policy's that are left in the loss.
        num_experts = episodes.episode_of_row[mask.any(dim=1)].unique().numel()
        weights = token_weights(
            self._trainer,
            tokens=mask.sum(dim=1),
            weights=self._row_weights(episodes, mask, least=num_experts),
            num_items=torch.maximum(batch["num_items_in_batch"], episodes.reduce_sum(mask.sum())),
        )
        batch[EXPERT_WEIGHTS] = advantages * weights[:, None]
        batch["advantages"] = batch["advantages"] + advantages  # by which rows are passed over

    def weigh_observations(self, batch: dict[str, Any], episodes: EpisodeBatch) -> None:
        """Put the weights of observation tokens into a batch, which add up to one per micro-batch.

        Episodes without a reward have none.
        """
        trainer, weight = self._trainer, self._trainer.args.observation_loss_weight
        if not weight:
            return
        row = episodes.episode_of_row
        counted = (row >= 0) & episodes.counted[row.clamp(min=0)]
        has_turns = (batch["tool_mask"] * batch["completion_mask"]).any(dim=1)  # else a filler
        observed = batch["completion_mask"] * (1 - batch["tool_mask"])
        observed = observed.float() * (counted & has_turns)[:, None]
        total = episodes.reduce_sum(observed.sum()).clamp(min=1.0)
        # Gradients are averaged over processes and micro-batches; this makes a mean over tokens.
        share = trainer.accelerator.num_processes * trainer.args.steps_per_generation / total
        batch[OBSERVATION_WEIGHTS] = observed * share * weight

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
            or trainer.args.observation_loss_weight != 0.0
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
        return loss + self._further_terms

    @contextmanager
    def _adjusting_trl(self, inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Adjust TRL while it computes the loss of a pass, and log the metrics of the tokens.

        - Its KL is clipped and weighs each row. It is none of the loss where the reward has it.
        - Its entropy bonus is a share of the mean over the tokens of the batch.
        - Its engine seems to be in use, under which it reads the ratio from the batch.
        """
        trainer = self._trainer
        beta, entropy_coef, use_vllm = trainer.beta, trainer.entropy_coef, trainer.use_vllm
        adjusted = self._inputs = two_columns(dict(inputs))
        adjusted["token_metrics"] = {"mean": {}}
        self._further_terms = 0.0
        try:
            row_factors = inputs["row_weights"][:, None]
            kl_weight = Weighted.of(beta, row_factors, change=self._clip_kl)
            trainer.beta = 0.0 if trainer.kl_in_reward else kl_weight
            trainer.entropy_coef = Weighted.of(entropy_coef, self._share_of_tokens(inputs))
            trainer.use_vllm = trainer.vllm_importance_sampling_correction
            with pop_trl_metrics(trainer.logged) as trl_metrics:
                yield adjusted
            mask = adjusted["completion_mask"] * adjusted["tool_mask"]
            token_metrics = adjusted.pop("token_metrics")
            self._metrics.add(trainer.logged, mask, **token_metrics, trl_metrics=trl_metrics)
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
        for name in (OBSERVATION_WEIGHTS, EXPERT_WEIGHTS):
            if name in inputs:
                scored = scored + (inputs[name] > 0)
        # Others are 0 in the result; a ratio of the two could be infinite, and 0 times it is
        # no number.
        for name in {*_TOKEN_COLUMNS} & {*inputs}:
            inputs[name] = inputs[name].masked_fill(scored == 0, 0.0)
        outputs = compact_logprobs(compute, *args, **{**kwargs, "scored": scored})
        if OBSERVATION_WEIGHTS in inputs:
            self._further_terms += self._loss_of_observations(inputs, outputs[0])
        if EXPERT_WEIGHTS in inputs:
            self._further_terms += self._loss_of_experts(inputs, outputs[0])
        current = outputs[0].detach()
        if REFERENCE in inputs:
            # Beyond, the gradient of a clipped KL would be 0 times infinity.
            inputs[REFERENCE] = torch.minimum(inputs[REFERENCE], current + _LARGEST_LOG_RATIO)
        self._weigh_tokens(inputs, current)
        return outputs

    def _clip_kl(self, kl: torch.Tensor) -> torch.Tensor:
        """Return a pass's (B, T) KL within its bound, and log it in place of TRL's."""
        assert self._inputs is not None
        clipped, metrics = clip_kl(kl, self._trainer.args.kl_clip)
        self._inputs["token_metrics"]["mean"] |= metrics
        return clipped

    def _weigh_tokens(self, inputs: dict[str, Any], current: torch.Tensor) -> None:
        """Put the ratio and its metrics into a pass.

        `current` are (B, T) log-probabilities of the policy as it is. Where TRL keeps none of when
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
        """Return a pass's term, scaled as TRL scales a micro-batch's loss, and log the mean."""
        weights = inputs[OBSERVATION_WEIGHTS]
        surprise = {"observation_loss": -logps.detach()}
        self._observation_metrics.add(self._trainer.logged, weights, mean=surprise)
        return -(weights * logps).sum() / self._trainer.current_gradient_accumulation_steps

    def _loss_of_experts(self, inputs: dict[str, Any], logps: torch.Tensor) -> torch.Tensor:
        """Return a pass's term of an expert's tokens, and log their mean probability."""
        weights = inputs[EXPERT_WEIGHTS]
        probabilities = {"expert/probability": logps.detach().exp()}
        self._expert_metrics.add(self._trainer.logged, weights, mean=probabilities)
        gains = (weights * shaped_probabilities(logps)).sum()
        return -gains / self._trainer.current_gradient_accumulation_steps

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
        pass_loss = logged.pop()
        if is_mean_over_rows(trainer.loss_type):
            pass_loss /= trainer.current_gradient_accumulation_steps
        if logged and self._policy_loss_step == step:
            pass_loss += logged.pop()
        logged.append(pass_loss)
        self._policy_loss_step = step


class Weighted(float):
    """A coefficient of TRL's with a weighted term in the loss: `beta`, `entropy_coef`."""

    weights: torch.Tensor
    change: Callable[[torch.Tensor], torch.Tensor] | None

    @classmethod
    def of(
        cls,
        coefficient: float,
        weights: torch.Tensor,
        *,
        change: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> Weighted:
        """Return a coefficient whose term is weighted, once `change` is applied to it.

        Args:
            coefficient: TRL's.
            weights: (B, 1) or a scalar.
            change: of the (B, T) term.
        """
        made = cls(coefficient)
        made.weights, made.change = weights, change
        return made

    def __mul__(self, term: Any) -> Any:
        """Return the weighted term of the loss."""
        term = term if self.change is None else self.change(term)
        return float(self) * (self.weights * term)


def clip_kl(kl: torch.Tensor, bound: float) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Return tokens' KL estimates within a bound of 0, and their metrics.

    One beyond has no gradient, as in verl's `kl_penalty`.

    Args:
        kl: (B, T) nats, k3 or k1 of each token.
        bound: nats, `kl_clip`; 0 sets none.
    """
    bound = bound or math.inf
    clipped, is_clipped = kl.clamp(-bound, bound), kl.detach().abs() > bound
    return clipped, {"kl": clipped.detach(), "kl_clip_ratio": is_clipped.float()}


class PolicyMeasures:
    """Measures of a batch by the policy as it is: entropies, probabilities of answers, the KL.

    They are computed in passes without gradients.
    """

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._kl_metrics = TokenMetrics(trainer.accelerator)

    def entropies_of(self, batch: dict[str, Any]) -> torch.Tensor:
        """Return (R, T) nats, the entropy of each completion token's distribution."""
        return self._pass_over(batch)[1]

    def logps_by(
        self,
        model: torch.nn.Module,
        batch: dict[str, Any],
        prompts: Sequence[list[int]] | None = None,
    ) -> torch.Tensor:
        """Return (R, T) nats, a model's log-probabilities of the completion tokens.

        Args:
            model: scores them at the policy's temperature.
            batch: TRL's padded tensors.
            prompts: the ids that the model reads in place of the R prompts.
        """
        if prompts is not None:
            tensors = [batch["prompt_ids"].new_tensor(prompt) for prompt in prompts]
            prompt_ids, prompt_mask = padded(tensors, "left")
            batch = {**batch, "prompt_ids": prompt_ids, "prompt_mask": prompt_mask}
        return self._pass_over(batch, model=model)[0]

    def answer_probabilities(
        self,
        batch: dict[str, Any],
        episodes: EpisodeBatch,
        turn: torch.Tensor,
        *,
        answer_ids: Callable[[str], tuple[list[int], int]],
    ) -> list[list[float]]:
        """Return the right answer's probability behind each turn's observation: IGPO's p_t.

        It is the geometric mean over the answer's tokens, so that long answers are not less likely.

        Args:
            batch: TRL's padded tensors.
            episodes: the episodes.
            turn: (R, T) int64, each sampled token's turn within its episode, -1 elsewhere.
            answer_ids: given a task id, returns the ids of an action that gives the answer, up to
                its end, and the index at which the answer begins in them.

        Returns:
            for each episode, a probability per turn; none for one without sampled tokens.
        """
        probabilities: list[list[float]] = [[] for _ in episodes.trajectories]
        prefixes, answers, starts, owners = [], [], [], []
        before = torch.nn.functional.pad(turn, (1, 0), value=-1)[:, :-1]
        for row, column in ((turn >= 0) & (turn != before)).nonzero().tolist():
            owner = int(episodes.episode_of_row[row])
            ids, start = answer_ids(episodes.trajectories[owner].task_id)
            prompt = batch["prompt_ids"][row][batch["prompt_mask"][row].bool()]
            prefixes.append(torch.cat([prompt, batch["completion_ids"][row, :column]]))
            answers.append(prompt.new_tensor(ids))
            starts.append(start)
            owners.append(owner)
        size = self._trainer.args.per_device_train_batch_size
        for first in range(0, len(owners), size):
            chunk = slice(first, first + size)
            tensors = *padded(prefixes[chunk], "left"), *padded(answers[chunk], "right")
            logps = self._pass_over(dict(zip(SEQUENCES, tensors, strict=True)))[0]
            for index, owner in enumerate(owners[chunk], first):
                answer_logps = logps[index - first, starts[index] : len(answers[index])]
                probabilities[owner].append(answer_logps.double().mean().exp().item())
        return probabilities

    def kl_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (R, T) clipped log-ratios of the policy to the reference (k1).

        All 0 where `beta` is 0, for then there is no reference.
        """
        mask = episodes.action_mask
        if REFERENCE not in batch:
            return torch.zeros(mask.shape, device=mask.device)
        return self.kl_to(batch[REFERENCE], batch, episodes)

    def kl_to(
        self,
        logps: torch.Tensor,
        batch: dict[str, Any],
        episodes: EpisodeBatch,
        *,
        whose: str = "",
    ) -> torch.Tensor:
        """Return (R, T) clipped log-ratios of the policy to another model (k1), and log their mean.

        Args:
            logps: (R, T) nats, the other model's.
            batch: TRL's padded tensors.
            episodes: the episodes.
            whose: put before the metrics' names.
        """
        mask = episodes.action_mask
        log_ratio = (self._policy_logps(batch) - logps) * mask
        kl, metrics = clip_kl(log_ratio, self._trainer.args.kl_clip)
        mean = {whose + name: values for name, values in metrics.items()}
        self._kl_metrics.add(self._trainer.logged, mask, mean=mean)
        return kl

    def _policy_logps(self, batch: dict[str, Any]) -> torch.Tensor:
        """Return (R, T) log-probabilities of the policy that is about to be trained.

        The sampled ones are of another distribution where tokens were left out, and of another
        policy where batches are prefetched.
        """
        logps: torch.Tensor = batch.get("old_per_token_logps", batch["sampling_per_token_logps"])
        is_other = Sampling.from_args(self._trainer.args).is_cut or self._trainer.max_staleness
        if is_other and "old_per_token_logps" not in batch:
            logps = self._pass_over(batch)[0]
        return logps

    @torch.no_grad()
    def _pass_over(
        self, batch: dict[str, Any], *, model: torch.nn.Module | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (R, T) log-probabilities and entropies of a batch's completion tokens.

        The policy's, or the log-probabilities of another model alone.
        """
        trainer = self._trainer
        prompt_ids, prompt_mask, ids, mask = (batch[name] for name in SEQUENCES)
        with sampling_mode(trainer.model):
            logps, entropies, _ = trainer._get_per_token_logps_and_entropies(
                trainer.model if model is None else model,
                torch.cat([prompt_ids, ids], dim=1),
                torch.cat([prompt_mask, mask], dim=1),
                ids.size(1),
                batch_size=trainer.args.per_device_train_batch_size,
                compute_entropy=model is None,
            )
        return logps, entropies
