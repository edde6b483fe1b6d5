"""Checks that training options are allowed and fit each other, before anything is played.

TRL and transformers check some of it, in words of fields that they derive and nobody has typed, and
the rest in the middle of the first step.
"""

from __future__ import annotations

import os
from math import inf
from typing import Any

from trainers.options.backends import BackendSpec
from trainers.options.errors import UsageError

SUMMED = "sum_then_normalize"
"""The `multi_objective_aggregation` of which a group's rewards are the sums of the functions."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "loss_type": (
        *("grpo", "bnpo", "dr_grpo", "dapo", "luspo"),
        *("cispo", "sapo", "vespo"),
    ),
    "importance_sampling_level": ("token", "sequence"),
    "scale_rewards": ("group", "batch", "none", True, False),
    "multi_objective_aggregation": (SUMMED, "normalize_then_sum"),
    "vllm_importance_sampling_mode": (
        *("token_truncate", "token_mask", "sequence_truncate", "sequence_mask"),
    ),
}
"""What TRL's `GRPOTrainer` knows; the config takes anything."""

OUR_CHOICES = {
    "scale_rewards": ("environment", "mean"),
    "vllm_importance_sampling_mode": ("turn_truncate", "turn_mask", "geometric_mask"),
}
"""What our trainers know besides."""

PREFERENCE_LOSSES = (
    *("sigmoid", "hinge", "ipo", "exo_pair", "nca_pair", "robust", "bco_pair", "sppo_hard"),
    *("aot", "aot_unpaired", "apo_zero", "apo_down", "discopop", "sft", "sigmoid_norm"),
)
"""What TRL's `DPOTrainer` knows; the config takes anything."""

EVALUATION_METRICS = (
    *("success", "success_low", "success_high", "score", "turns"),
    *("invalid_actions", "failed", "runtime"),
)
"""What an evaluation reports, after `eval_`."""


def check_choices(args: Any) -> None:
    """Check the options of an `AgentOnlineConfig` that name one of a few values.

    Raises:
        ValueError: a value is none of them.
    """
    for name in CHOICES:
        _check_choice(args, name)
    if not args.temperature > 0:
        raise ValueError(
            f"temperature must be > 0, since the loss divides by it, got {args.temperature}; "
            "evaluations may be greedy: eval_temperature=0"
        )


def _check_choice(args: Any, name: str) -> None:
    value = getattr(args, name)
    allowed = (*CHOICES[name], *OUR_CHOICES.get(name, ()))
    if value not in allowed:
        words = [choice for choice in allowed if isinstance(choice, str)]
        raise ValueError(f"{name} must be one of {', '.join(words)}, got {value!r}")


def check_correction(args: Any) -> None:
    """Check how the loss is corrected for what has sampled; of TRL's own `GRPOConfig` too.

    Raises:
        ValueError: there is no such mode, or its bounds or the loss do not fit it.
    """
    if not args.vllm_importance_sampling_correction:
        return
    _check_choice(args, "vllm_importance_sampling_mode")
    mode = args.vllm_importance_sampling_mode
    low, high = args.vllm_importance_sampling_clip_min, args.vllm_importance_sampling_clip_max
    if not (low is None or 0 <= low < 1) or not (high is None or 1 < high < inf):
        raise ValueError(
            f"vllm_importance_sampling_clip_min must be in 0..1 and vllm_importance_sampling_"
            f"clip_max above 1, the ratio of equal probabilities, got {low} and {high}"
        )
    if mode == "geometric_mask" and low is None:
        raise ValueError(
            f"vllm_importance_sampling_mode={mode} keeps episodes whose ratio per token is close "
            "to 1, so it needs both bounds: --vllm_importance_sampling_clip_min 0.99 "
            "--vllm_importance_sampling_clip_max 1.01"
        )
    if args.loss_type == "vespo" and mode not in ("token_truncate", "token_mask"):
        raise ValueError(
            f"loss_type=vespo multiplies the ratios of tokens itself, so "
            f"vllm_importance_sampling_mode must be token_truncate or token_mask, got {mode}"
        )


def check_scaling(args: Any) -> None:
    """Check that advantages may be scaled by what TRL does not know, beside the other options.

    Args:
        args: an `AgentOnlineConfig` that TRL has completed.

    Raises:
        ValueError: they may not.
    """
    how = args.scale_rewards
    aggregation = getattr(args, "multi_objective_aggregation", SUMMED)
    if how in OUR_CHOICES["scale_rewards"] and aggregation != SUMMED:
        raise ValueError(
            f"scale_rewards={how} scales the sum of the reward functions, got "
            f"multi_objective_aggregation={aggregation}; leave out one of the two"
        )
    credit = getattr(args, "turn_credit", "none")
    if aggregation != SUMMED and credit not in ("none", "gigpo", "empg"):
        raise ValueError(
            f"turn_credit={credit} credits turns with what they are paid and not with the "
            f"episode's advantage, got multi_objective_aggregation={aggregation}; leave out one of "
            "the two"
        )
    if how == "mean" and args.invalid_action_penalty:
        raise ValueError(
            f"scale_rewards={how} divides by a group's mean reward, which is penalties alone where "
            f"none succeeds, got invalid_action_penalty={args.invalid_action_penalty}; leave out "
            "one of the two"
        )


def check_preference(args: Any) -> None:
    """Check an `AgentDPOConfig`, whose pairs may take long to play.

    Raises:
        ValueError: a value is not allowed, or does not fit another one.
    """
    losses = [args.loss_type] if isinstance(args.loss_type, str) else args.loss_type
    for loss in losses:
        if loss not in PREFERENCE_LOSSES:
            raise ValueError(
                f"loss_type must be one of {', '.join(PREFERENCE_LOSSES)}, got {loss!r}"
            )
    if not args.beta >= 0:
        raise ValueError(f"beta must be >= 0, got {args.beta}")
    if not 0 <= args.label_smoothing < 1:
        raise ValueError(
            f"label_smoothing must be at least 0 and below 1, got {args.label_smoothing}"
        )
    if args.sync_ref_model and args.precompute_ref_log_probs:
        raise ValueError(
            "sync_ref_model moves the reference, whose log-probabilities are computed once by "
            "default; pass --precompute_ref_log_probs false with it"
        )


def check_length(args: Any) -> None:
    """Check the options of training's length and of the learning rate.

    Args:
        args: an `AgentDefaults` config.

    Raises:
        ValueError: it would train nothing, or without the end that was meant.
    """
    if args.max_steps == 0:
        raise ValueError("max_steps must be >= 1, or -1 for num_train_epochs to say, got 0")
    if args.max_steps < 0 and not args.num_train_epochs > 0:
        raise ValueError(f"num_train_epochs must be > 0, got {args.num_train_epochs}")
    for name in ("learning_rate", "weight_decay", "dataloader_num_workers"):
        if not getattr(args, name) >= 0:
            raise ValueError(f"{name} must be >= 0, got {getattr(args, name)}")
    if args.eval_strategy == "steps" and args.eval_steps is not None and not args.eval_steps > 0:
        raise ValueError(
            f"eval_steps must be > 0, got {args.eval_steps}; eval_strategy=no evaluates never"
        )


def check_optimizer(args: Any) -> None:
    """Check that an optimizer's package is installed, and its options known.

    Args:
        args: an `AgentDefaults` config that TRL has completed.

    Raises:
        ImportError: the package is not there.
        ValueError: the options do not fit the optimizer.
    """
    if not args.optim.startswith(_OPTIMIZERS_OF_A_MODEL):
        from transformers import Trainer

        Trainer.get_optimizer_cls_and_kwargs(args)


_OPTIMIZERS_OF_A_MODEL = ("adalomo", "apollo", "galore", "lomo")
"""Those that transformers can only look for when there is a model."""


def check_batch(args: Any, *, least: int) -> None:
    """Check that a batch holds whole groups of episodes.

    Args:
        args: an `AgentOnlineConfig`, before TRL has derived anything.
        least: the smallest `num_generations` that the algorithm takes.

    Raises:
        ValueError: it does not; the message names the options that were given and values that fit.
    """
    group = args.num_generations
    if group < least:
        raise ValueError(
            f"num_generations must be >= {least}, since episodes of one task are compared, got "
            f"{group}; ppo compares none"
        )
    for name in (
        *("per_device_train_batch_size", "gradient_accumulation_steps", "num_iterations"),
        *("steps_per_generation", "generation_batch_size"),
    ):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise ValueError(f"{name} must be >= 1, got {value}")
    if args.generation_batch_size is not None and args.steps_per_generation is not None:
        raise ValueError(
            f"generation_batch_size={args.generation_batch_size} and steps_per_generation="
            f"{args.steps_per_generation} name the same batch; leave one of them out"
        )
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    micro = args.per_device_train_batch_size * processes
    of_micro = f"per_device_train_batch_size={args.per_device_train_batch_size}"
    if processes > 1:
        of_micro += f" x {processes} processes"
    if args.generation_batch_size is not None:
        batch, made_of = args.generation_batch_size, "generation_batch_size"
        if batch % micro:
            raise ValueError(
                f"generation_batch_size={batch} must be a multiple of {of_micro}; "
                f"{_near(batch, micro)} would do"
            )
    else:
        name = "steps_per_generation"
        if args.steps_per_generation is None:
            name = "gradient_accumulation_steps"
        batch, made_of = micro * getattr(args, name), f"{of_micro} x {name}={getattr(args, name)}"
    if batch % group:
        fitting = [n for n in range(max(least, 1), batch + 1) if batch % n == 0]
        hint = f"num_generations {_listed(fitting)} would fit" if fitting else "make it larger"
        raise ValueError(
            f"a batch holds whole groups: {made_of} makes {batch} episodes, no multiple of "
            f"num_generations={group}; {hint}"
        )


def check_checkpoints(args: Any) -> None:
    """Check that the best checkpoint can be found, where one is looked for.

    Args:
        args: an `AgentDefaults` config, after `derive_evaluation`.

    Raises:
        ValueError: nothing measures what it goes by, or not where checkpoints are saved.
    """
    metric = args.metric_for_best_model
    if args.save_strategy == "best" and args.eval_strategy == "no":
        raise ValueError("save_strategy=best goes by evaluations, got eval_strategy=no")
    if args.eval_strategy == "no" or metric is None:
        return
    if metric.removeprefix("eval_").partition("/")[0] not in EVALUATION_METRICS:
        raise ValueError(
            f"metric_for_best_model must be one that evaluations report, "
            f"{', '.join(EVALUATION_METRICS)}, got {metric!r}"
        )
    if not args.load_best_model_at_end:
        return
    remedy = "make them fit, or pass --load_best_model_at_end false to end with the last weights"
    if args.save_strategy not in (args.eval_strategy, "best"):
        raise ValueError(
            f"the best checkpoint is loaded at the end, so it is saved where success is measured, "
            f"got save_strategy={args.save_strategy} with eval_strategy={args.eval_strategy}; "
            f"{remedy}"
        )
    if args.eval_strategy == args.save_strategy == "steps" and _is_between(args):
        raise ValueError(
            f"the best checkpoint is loaded at the end, so it is saved where success is measured, "
            f"got save_steps={args.save_steps:g}, no multiple of eval_steps={args.eval_steps:g}; "
            f"{remedy}"
        )


def _is_between(args: Any) -> bool:
    """Return whether some checkpoint comes between two evaluations; shares of a run are TRL's."""
    every, saved = args.eval_steps, args.save_steps
    return bool(every and saved and every >= 1 and saved >= 1 and saved % every)


def _near(value: int, of: int) -> str:
    below = value - value % of
    return f"{below} or {below + of}" if below else str(of)


def _listed(values: list[int]) -> str:
    """Return the first values in words: `2, 4 or 8`."""
    *most, last = map(str, values[:4])
    return f"{', '.join(most)} or {last}" if most else last


def check_sampling(args: Any) -> None:
    """Check that groups may branch, or be replaced, beside the other options.

    Raises:
        ValueError: they may not.
    """
    roots, group = args.branch_roots, args.num_generations
    if roots == 1:
        raise ValueError(
            "branch_roots must be >= 2, or 0 for no branches, got 1: all episodes of a group would "
            "share its first turn, which is then compared with no other and never trained"
        )
    if roots and roots >= group:
        raise ValueError(
            f"branch_roots must be below num_generations={group}, got {roots}; the other episodes "
            "of a group branch from these"
        )
    if roots and args.turn_credit != "none":
        raise ValueError(
            f"branch_roots credits shared turns itself, got turn_credit={args.turn_credit}; leave "
            "out one of the two"
        )
    if args.dynamic_sampling > 1 and args.task_sampling != "uniform":
        raise ValueError(
            f"dynamic_sampling draws further tasks alike, got task_sampling={args.task_sampling}; "
            "leave out one of the two"
        )
    if args.max_staleness and (roots or args.dynamic_sampling > 1):
        raise ValueError(
            f"{'branch_roots' if roots else 'dynamic_sampling'} plays a batch in several parts, "
            f"which max_staleness={args.max_staleness} cannot play ahead; leave out one of the two"
        )


def check_logprobs(backend: BackendSpec) -> None:
    """Check that what a backend samples can be trained on.

    Raises:
        UsageError: it gives no log-probabilities.
    """
    if not backend.gives_logprobs:
        raise UsageError(
            f"backend {backend.name!r} gives no log-probabilities of what it samples, by which "
            "the loss is corrected and measured; train with another --backend, and let this one "
            "play for agentgym eval and collect"
        )


def refuse_split_weights(backend: BackendSpec, *, is_split: bool) -> None:
    """Refuse to play in passes that all processes would have to make together.

    Args:
        backend: what samples.
        is_split: weights are split over processes, by FSDP2 or ZeRO-3.

    Raises:
        UsageError: the backend would wait for ever.
    """
    if is_split and backend.samples_from_model:
        raise UsageError(
            f"backend {backend.name!r} cannot play with weights that are split over processes: "
            "each makes as many passes as its own episodes need, so they would wait for each other "
            "for ever; use --backend vllm under FSDP2, ZeRO-2 in place of ZeRO-3, or "
            "--eval_strategy no where evaluations alone play"
        )
