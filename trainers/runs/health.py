"""Warnings about a run: metrics out of range, and optimizer steps that are lost in rounding.

Each is logged when it is first seen, and again when it passes a threshold, not at every step.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Any

import torch
from transformers import TrainerCallback

from trainers.metrics import number

logger = logging.getLogger(__name__)

CHANGED = "weights_changed"
_SAMPLE = 1 << 20
"""Weights that are compared, spread evenly over all that are trained."""
_ENOUGH = 0.5
"""The share that one step must change for no warning."""
_FEW, _MANY = 5, 20
"""Earlier entries without which nothing is a jump, and those that are compared."""


@dataclass(frozen=True)
class Symptom:
    """A metric that should stay low.

    Attributes:
        metric: its name.
        above: rising bounds; each logs a warning when it is first passed.
        meaning: what it means; `{value}` is the metric's, `{usual}` the median before a jump.
        remedy: which option helps.
        smallest_jump: where it is set, `above` are multiples of the median of the entries before,
            and a smaller value is no jump.
    """

    metric: str
    above: tuple[float, ...]
    meaning: str
    remedy: str
    smallest_jump: float | None = None


ZERO_STD = "frac_reward_zero_std"
"""The metric that says something only where episodes are compared with their group's."""

BATCH_ZERO_STD = "frac_batch_zero_std"
"""The same where whole batches are: the share of episodes in one with equal rewards."""

SYMPTOMS = (
    Symptom(
        "episodes/failed_share",
        (0.0, 0.1),
        "{value:.1%} of the episodes failed because machinery broke, retries included; they are in "
        "no baseline, no loss and no success rate",
        "Their `error` is in trajectories/; --env_backend process --step_timeout 60 keeps a hung "
        "environment from holding the batch, --max_failed_share says when the run stops",
    ),
    Symptom(
        "episodes/without_reward",
        (0.0,),
        "{value:.0f} episodes have no finite reward; they are in no baseline, no loss and no "
        "success rate",
        "A reward function returned None or a number that is not finite for them, or an "
        "environment's own reward is not finite",
    ),
    Symptom(
        "truncated/token_budget",
        (0.0, 0.1),
        "{value:.1%} of the episodes ended because the next turn had no room in the context",
        "Raise --max_tokens_per_episode (up to the model's context), lower --max_tokens_per_turn, "
        "or let the policy see fewer turns with --keep_last_turns",
    ),
    Symptom(
        "episodes/cut_turns",
        (0.1, 0.5),
        "{value:.0%} of the turns were cut off, at --max_tokens_per_turn or at the end of the "
        "episode's tokens; a turn that is cut within its thought plays no action",
        "Raise --max_tokens_per_turn, or --max_tokens_per_episode where truncated/token_budget is "
        "above 0; or let a model that thinks answer at once with --chat_template_kwargs",
    ),
    Symptom(
        "episodes/invalid_actions",
        (0.95,),
        "{value:.0%} of the actions were invalid, so the policy does next to nothing",
        "Read some of trajectories/. Where it never wrote valid ones: imitate first, or another "
        "--action_format. Where training has led there: an earlier checkpoint, a lower "
        "--learning_rate",
    ),
    Symptom(
        ZERO_STD,
        (0.75, 0.95),  # half of them are usual with rewards of 0 and 1
        "in {value:.0%} of the groups all episodes had the same reward, so they taught nothing",
        "--tasks chooses tasks the policy solves sometimes, a longer --horizon lets it solve more, "
        "a larger --num_generations finds differences, SFT gives a better start. With this "
        "command's options, `agentgym headroom` chooses",
    ),
    Symptom(
        BATCH_ZERO_STD,
        (0.0, 0.5, 0.9),
        "{value:.0%} of the episodes were in batches whose rewards were all the same, which "
        "do not train the policy",
        "Some are normal where few are won, or nearly all. Where most are: --tasks chooses tasks "
        "the policy solves sometimes, larger batches find differences, SFT gives a better start",
    ),
    Symptom(
        "sampling/sampling_logp_difference/mean",
        (0.02, 0.1),
        "sampled and trained log-probabilities differ by {value:.3f} nats per token on average, so "
        "the policy is trained on tokens of another distribution",
        "Rounding is the usual cause, or with --max_staleness the steps between: compare with a "
        "run in --dtype float32 and without --bf16. With --disable_dropout false, dropout is "
        "another: tokens are sampled without it. An engine of its own (--backend) needs the "
        "trainer's dtype and its newest weights",
    ),
    Symptom(
        "sampling/importance_sampling_ratio/out_of_bounds",
        (0.1, 0.5),
        "{value:.0%} of the sampled tokens have a ratio of trained to sampled probabilities out of "
        "bounds, so their loss is cut or left out",
        "Ratios of whole episodes of many turns always stray: --vllm_importance_sampling_mode "
        "token_truncate or turn_truncate. Where those do too, see what "
        "sampling/sampling_logp_difference/mean says",
    ),
    Symptom(
        "kl",
        (10.0, 1000.0),
        "kl jumped to {value:.3g} nats per token, from a median of {usual:.2g} before",
        "A few tokens may be all of it: --kl_clip 10, the default, bounds each. Where many are "
        "beyond (kl_clip_ratio), the policy has left the initial model: lower --learning_rate or "
        "raise --beta",
        smallest_jump=0.5,
    ),
    Symptom(
        "entropy",
        (5.0,),
        "entropy rose to {value:.3g} nats per token, from a median of {usual:.2g} before, so "
        "sampled texts turn into noise",
        "Set --entropy_coef to 0 or far lower: where all returns of a batch are equal, the bonus "
        "is all that the optimizer follows. Without one, lower --learning_rate",
        smallest_jump=1.0,
    ),
    Symptom(
        "grad_norm",
        (10.0, 100.0),
        "grad_norm jumped to {value:.3g}, from a median of {usual:.2g} before",
        "--max_grad_norm bounds the step, and what has made the jump is its direction: with --beta "
        "see kl and --kl_clip; else lower --learning_rate",
        smallest_jump=5.0,  # else some reward among groups of equal ones would be a jump
    ),
)


class HealthWarnings(TrainerCallback):
    """Logs a warning where a metric is out of range."""

    def __init__(self) -> None:
        self._passed = [0] * len(SYMPTOMS)
        self._last: dict[str, str] = {}

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Check one log entry."""
        if not state.is_world_process_zero:
            return
        for index, symptom in enumerate(SYMPTOMS):
            value = (logs or {}).get(symptom.metric)
            if not isinstance(value, int | float):
                continue
            if symptom.metric == ZERO_STD and not getattr(args, "compares_groups", True):
                continue
            usual = 1.0
            if symptom.smallest_jump is not None:
                is_jump = symptom.smallest_jump <= value < inf
                usual = median_before(state.log_history, symptom.metric) if is_jump else inf
            passed = sum(value > bound * usual for bound in symptom.above)
            meaning = symptom.meaning.format(value=value, usual=usual)
            if passed > self._passed[index]:
                self._passed[index] = passed
                logger.warning("step %d: %s. %s.", state.global_step, meaning, symptom.remedy)
            self._last[symptom.metric] = meaning if passed else ""

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Repeat the warnings of metrics that are out of range in the last entry."""
        for meaning in filter(None, self._last.values()):
            logger.warning("step %d, the last: %s", state.global_step, meaning)


def median_before(history: Sequence[Mapping[str, Any]], metric: str) -> float:
    """Return the median of a metric before the last log entry, inf where it has few values yet.

    Steps without a gradient, and values that are not finite, do not count.
    """
    values = (number(entry.get(metric)) for entry in history[:-1])
    usable = [value for value in values if value is not None and 0.0 < value < inf][-_MANY:]
    return median(usable) if len(usable) >= _FEW else inf


class WeightChanges(TrainerCallback):  # type: ignore[misc]
    """Warns where steps are lost in rounding, and logs the share of weights that have changed.

    Adam's first steps change each weight by about the learning rate. In bfloat16 neighbouring
    numbers differ by 1/256 of their size, so a step of 1e-6 leaves a weight of 0.02 where it is.

    Args:
        log: add `weights_changed` to the log: of a sample of the trained weights, the share that
            differs from what training, or the resumed part of it, began with.
    """

    def __init__(self, *, log: bool = False) -> None:
        self._log = log
        self._start: torch.Tensor | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, **_kwargs: Any
    ) -> None:
        """Warn where a step of the learning rate changes few weights."""
        if not state.is_world_process_zero:
            return
        start = weight_sample(model)
        if self._log:
            self._start = start
        if start is None or start.dtype not in (torch.bfloat16, torch.float16):
            return
        share = share_changed(start, (start.float() + args.learning_rate).to(start.dtype))
        if share < _ENOUGH:
            kind = str(start.dtype).removeprefix("torch.")
            logger.warning(
                "the trained weights are %s, in which a step of --learning_rate %g changes %.1f%% "
                "of them: the others stay as they are. Train float32 weights (--dtype float32, "
                "with --bf16 for passes in bfloat16) or an adapter (--use_peft)",
                kind,
                args.learning_rate,
                100 * share,
            )

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Any = None, model: Any = None, **_: Any
    ) -> None:
        """Add the share to one entry, where `log` is set."""
        if logs is None or self._start is None or not state.is_world_process_zero:
            return
        now = weight_sample(model)
        if now is not None and now.shape == self._start.shape:
            logs[CHANGED] = share_changed(self._start, now)


def weight_sample(model: Any) -> torch.Tensor | None:
    """Return (N,) trained weights of the commonest precision, N <= 1M, or None.

    Of weights that are split among processes, this one's part is sampled.
    """
    trained = [p for p in model.parameters() if p.requires_grad and p.numel()]
    if not trained:
        return None
    sizes: dict[torch.dtype, int] = {}
    for weight in trained:
        sizes[weight.dtype] = sizes.get(weight.dtype, 0) + weight.numel()
    dtype = max(sizes, key=lambda kind: sizes[kind])
    every = -(-sizes[dtype] // _SAMPLE)
    parts = [
        getattr(weight, "_local_tensor", weight).detach().reshape(-1)[::every].cpu()
        for weight in trained
        if weight.dtype == dtype
    ]
    return torch.cat(parts)


def share_changed(before: torch.Tensor, after: torch.Tensor) -> float:
    """Return the share, in 0..1, of the elements of two (N,) tensors that differ."""
    return float((before != after).float().mean())
