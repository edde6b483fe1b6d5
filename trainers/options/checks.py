"""Checks that options have an effect, are allowed and fit each other, before play begins.

Episodes are played by our rollouts and evaluations play too, so options of TRL's own generation,
its data preparation or transformers' evaluation loop have no effect. Such an option is refused
if its value is not the default. Whether options of TRL's fit each other is TRL's to say, unless it
would say it in the middle of the first step only.
"""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from math import inf, prod
from pathlib import Path
from typing import Any

from agentgym_envs.errors import did_you_mean, pip_install
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.backends import BackendSpec
from trainers.options.errors import UsageError, check_kind

SUMMED = "sum_then_normalize"
"""The `multi_objective_aggregation` that sums the reward functions before it normalizes."""
PER_ENVIRONMENT = "environment"
"""Our `scale_rewards` that divides by the deviation of the environment's rewards."""
BY_MEAN = "mean"
"""Our `scale_rewards` that divides by the mean of the group's rewards (MaxRL)."""
BY_STATE = ("gigpo", "hgpo", "gagpo")
"""Each `turn_credit` that compares turns in the same state."""
CORRECTIONS = ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask")
OUR_CORRECTIONS = ("turn_truncate", "turn_mask", "geometric_mask")
MUON = "muon"
"""The `optim` that transformers does not have (`trainers.models.muon`)."""
EVALUATION_METRICS = (
    *("success", "success_low", "success_high", "score", "turns"),
    *("invalid_actions", "failed", "runtime"),
)
"""The metrics of an evaluation, after `eval_`."""

# -- Options that would be ignored ---------------------------------------------------------------


_TABLES = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))
ROLLOUT = {
    "agentevol": ("saved_episodes",),
    "sft": ("saved_episodes", "no_horizon"),
    "dpo": ("saved_episodes", "no_horizon"),
}
"""By algorithm: the tables of `refused.toml` for its `RolloutArguments`."""


def ignored_options(tables: Iterable[str]) -> dict[str, Any]:
    """Return the rows of tables of `refused.toml`, by option."""
    rows = (row for table in tables for row in _TABLES[table].items())
    return {name: row for names, row in rows for name in names.split()}


def refuse_ignored(args: Any, tables: Iterable[str]) -> None:
    """Raise `UsageError` if an option that would be ignored is not at its default."""
    rows = ignored_options(tables)
    for option in fields(args):
        row, value = rows.get(option.name), getattr(args, option.name)
        factory = option.default_factory
        default = option.default if factory is MISSING else factory()
        if row is not None and value != default and not has_effect(args, row):
            raise UsageError(
                f"{option.name}={value!r} would be ignored here; {refused_remedy(row)}"
            )


def has_effect(args: Any, row: Any) -> bool:
    """Return whether the config makes an option of `refused.toml` effective after all."""
    if isinstance(row, str):
        return False
    option, values = _condition(row)
    return (getattr(args, option, MISSING) in values) is ("unless" in row)


def refused_remedy(row: Any) -> str:
    """Return the alternative to an option of `refused.toml`."""
    if isinstance(row, str):
        return row
    option, values = _condition(row)
    only = f"{option}={' or '.join(map(str, values))}" if values != [True] else option
    return str(row.get("use", f"it has an effect only with `{only}`"))


def _condition(row: Any) -> tuple[str, list[Any]]:
    ((option, values),) = (row.get("unless") or row["where"]).items()
    return option, [None if value == "None" else value for value in values]


# -- A trainer's arguments -----------------------------------------------------------------------

REPLACED = {
    *("data_collator", "environment_factory", "formatting_func", "rollout_func", "tools"),
    "train_dataset",
}
"""Arguments of TRL's trainers that environments, episodes or pairs replace."""


def check_given(
    trainer: Any, *, args: Any, rollout: Any, evaluation: Any, further: Mapping[str, Any]
) -> None:
    """Check a trainer's arguments, but for its policy and its data, before anything is loaded.

    `trainer` has the classes `config` and `takes` of its `args`, and `replaced`, a sentence on its
    own form of `REPLACED`. `further` are the arguments of TRL's trainer. Raises `TypeError` for
    another class, and for an argument that is replaced, an option or unknown; `UsageError` for an
    option of `args` that would be ignored.
    """
    name, config = type(trainer).__name__, trainer.config
    check_kind("args", args, trainer.takes, remedy=f"make a trainers.{config.__name__}(...)")
    homes: dict[str, type] = {"rollout": RolloutArguments, "evaluation": EvaluationArguments}
    for (place, kind), value in zip(homes.items(), (rollout, evaluation), strict=True):
        check_kind(place, value, kind, remedy=f"make a trainers.{kind.__name__}(...)")
    homes |= {"env": EnvArguments, "args": type(args)}
    theirs = next(kind for kind in type(trainer).__mro__ if kind.__module__.startswith("trl."))
    known = set(inspect.signature(theirs).parameters) - REPLACED
    for argument in [name for name in further if name not in known]:
        hint = did_you_mean(argument, known, otherwise=f"trl.{theirs.__name__} has none either")
        if argument in REPLACED:
            hint = f": {trainer.replaced}"
        for place, kind in homes.items():
            if argument in {entry.name for entry in fields(kind)}:
                option_of = kind.__name__
                hint = f", which is an option of {option_of}: {place}={option_of}({argument}=...)"
        raise TypeError(f"{name} takes no {argument}{hint}")
    refuse_ignored(args, config.refused)


# -- Options that do not fit each other ----------------------------------------------------------


def refuse_conflicts(args: Any, conflicts: Iterable[str]) -> None:
    """Raise `ValueError` if options of a completed config exclude each other (`conflicts`)."""
    defaults = {option.name: option.default for option in fields(args)}
    for row in (row for name in conflicts for row in _TABLES["conflicts"][name]):
        values = {name: getattr(args, name) for name in row["where"]}
        if all(
            value != defaults[name] if row["where"][name] == "set" else value in row["where"][name]
            for name, value in values.items()
        ):
            problem, (_, (other, got)) = row["problem"].format_map(values), values.items()
            raise ValueError(f"{problem}, got {other}={got}; leave out one of the two")


def check_correction(args: Any) -> None:
    """Raise `ValueError` unless the mode, the bounds and the loss of a correction fit."""
    if not args.vllm_importance_sampling_correction:
        return
    mode, allowed = args.vllm_importance_sampling_mode, (*CORRECTIONS, *OUR_CORRECTIONS)
    if mode not in allowed:
        raise ValueError(
            f"vllm_importance_sampling_mode must be one of {', '.join(allowed)}, got {mode!r}"
        )
    low, high = args.vllm_importance_sampling_clip_min, args.vllm_importance_sampling_clip_max
    if not (low is None or 0 <= low < 1) or not (high is None or 1 < high < inf):
        raise ValueError(
            f"vllm_importance_sampling_clip_min must be in 0..1 and vllm_importance_sampling_"
            f"clip_max above 1, the ratio of equal probabilities, got {low} and {high}"
        )
    if mode == "geometric_mask" and low is None:
        raise ValueError(
            f"vllm_importance_sampling_mode={mode} keeps episodes whose ratio per token is close "
            "to 1, so it needs both bounds: `vllm_importance_sampling_clip_min=0.99` and "
            "`vllm_importance_sampling_clip_max=1.01`"
        )
    if args.loss_type == "vespo" and mode not in ("token_truncate", "token_mask"):
        raise ValueError(
            f"loss_type=vespo multiplies the ratios of tokens itself, so "
            f"vllm_importance_sampling_mode must be token_truncate or token_mask, got {mode}"
        )


def check_training(args: Any) -> None:
    """Raise `ValueError` unless training has a length and the best checkpoint is measured.

    `args` is an `AgentDefaults` config after `derive_evaluation`.
    """
    metric = args.metric_for_best_model
    if args.save_strategy == "best" and args.eval_strategy == "no":
        raise ValueError("save_strategy=best goes by evaluations, got eval_strategy=no")
    is_measured = str(metric).removeprefix("eval_").partition("/")[0] in EVALUATION_METRICS
    if args.eval_strategy != "no" and metric is not None and not is_measured:
        raise ValueError(
            f"metric_for_best_model must be one that evaluations report, "
            f"{', '.join(EVALUATION_METRICS)}, got {metric!r}"
        )
    if args.max_steps == 0:
        raise ValueError("max_steps must be >= 1, or -1 for num_train_epochs, got 0")
    if args.max_steps < 0 and not args.num_train_epochs > 0:
        raise ValueError(f"num_train_epochs must be > 0, got {args.num_train_epochs}")
    for name in ("weight_decay", "dataloader_num_workers"):  # torch refuses them only in a run
        if not getattr(args, name) >= 0:
            raise ValueError(f"{name} must be >= 0, got {getattr(args, name)}")
    if args.eval_strategy == "steps" and args.eval_steps is not None and not args.eval_steps > 0:
        raise ValueError(
            f"eval_steps must be > 0, got {args.eval_steps}; eval_strategy=no evaluates never"
        )


def check_optimizer(args: Any) -> None:
    """Raise `ValueError` if there is no such optimizer, or if it ignores its arguments."""
    from torch import optim
    from transformers.training_args import OptimizerNames

    known = [MUON, *(name.value for name in OptimizerNames)]
    if args.optim not in known:
        hint = did_you_mean(str(args.optim), known, otherwise=f"allowed: {', '.join(known)}")
        raise ValueError(f"optim: there is no optimizer {str(args.optim)!r}{hint}")
    if args.optim != MUON:
        return
    if not hasattr(optim, "Muon"):
        raise ValueError(f"optim={MUON} needs a newer torch: {pip_install('torch>=2.9')}")
    if args.optim_args:
        raise ValueError(
            f"optim_args={args.optim_args} would be ignored with optim={MUON}; leave out one of "
            "the two"
        )


def check_trackers(names: Sequence[str]) -> None:
    """Raise `UsageError` unless the trackers of `report_to` exist and are installed."""
    if not names:
        return
    from transformers.integrations import integration_utils as trackers

    known = trackers.INTEGRATION_TO_CALLBACK
    installed = trackers.get_available_reporting_integrations()
    for name in names:
        if name not in known:
            allowed = f"allowed: none, all, {', '.join(known)}"
            hint = did_you_mean(name, known, otherwise=allowed)
            raise UsageError(f"report_to: there is no tracker {name!r}{hint}")
        if name not in installed and name != "flyte":  # which is no part of that list
            # The package is called as the tracker, but for these.
            package = {"azure_ml": "azureml-core", "comet_ml": "comet-ml"}.get(name, name)
            raise UsageError(f"report_to {name} needs a package: {pip_install(package)}")


def check_groups(args: Any) -> None:
    """Raise `ValueError` unless a batch holds whole groups, with the sizes that would fit."""
    group = args.num_generations
    if group < 2:
        raise ValueError(
            f"num_generations must be >= 2, since episodes of one task are compared, got {group}; "
            "ppo and distill compare none"
        )
    if args.generation_batch_size is not None:
        return  # TRL's own message names it
    names, processes = _batch_names(args), int(os.environ.get("WORLD_SIZE", "1"))
    batch = prod(getattr(args, name) for name in names) * processes
    if batch % group:
        made_of = " x ".join(f"{name}={getattr(args, name)}" for name in names)
        made_of += f" x {processes} processes" * (processes > 1)
        fitting = [str(size) for size in range(2, batch + 1) if batch % size == 0][:4]
        sizes = " or ".join(filter(None, (", ".join(fitting[:-1]), *fitting[-1:])))
        hint = f"num_generations {sizes} would fit" if fitting else "make it larger"
        raise ValueError(
            f"a batch holds whole groups: {made_of} makes {batch} episodes, no multiple of "
            f"num_generations={group}; {hint}"
        )


def batch_size(args: Any) -> int:
    """Return the episodes of a process's batch, before TRL completes the config.

    Raises `ValueError` if there are fewer than the two that TRL wants.
    """
    batch: int = args.generation_batch_size or prod(
        getattr(args, name) for name in _batch_names(args)
    )
    if batch == 1:
        raise ValueError(
            "a batch must hold 2 episodes at least, got 1; raise per_device_train_batch_size or "
            "gradient_accumulation_steps"
        )
    return batch


def _batch_names(args: Any) -> tuple[str, str]:
    """Return the options whose product is a process's batch."""
    is_default = args.steps_per_generation is None
    passes = "gradient_accumulation_steps" if is_default else "steps_per_generation"
    return "per_device_train_batch_size", passes


def check_batch(args: Any) -> None:
    """Raise `ValueError` unless a completed config's batch may be as old as `max_staleness`."""
    if args.generation_batch_size < 1 or args.num_iterations < 1:
        raise ValueError(
            "generation_batch_size, steps_per_generation and num_iterations must be >= 1, got "
            f"{args.generation_batch_size}, {args.steps_per_generation} and {args.num_iterations}"
        )
    staleness = args.max_staleness
    if staleness == 0:
        if args.carry_over:
            raise ValueError(
                "carry_over lets episodes go on with later weights, which max_staleness=0 forbids; "
                "pass `max_staleness=1` or more, or `carry_over=false`"
            )
        return
    if not args.vllm_importance_sampling_correction:
        raise ValueError(
            f"max_staleness={staleness} trains on episodes of earlier weights, and "
            "vllm_importance_sampling_correction=False leaves the loss as if they were of the "
            "present ones; leave the correction on, or pass `max_staleness=0`"
        )
    steps = -(-args.steps_per_generation * args.num_iterations // args.gradient_accumulation_steps)
    if staleness < steps:
        raise ValueError(
            f"a batch of episodes serves {steps} optimizer steps, so max_staleness={staleness} "
            f"lets nothing be played ahead; pass `max_staleness={steps}`, or 0"
        )


def check_experts(args: Any) -> None:
    """Raise `ValueError` unless a group has two episodes of the policy's beside the expert's."""
    count, size = args.expert_episodes, args.num_generations
    if count and count > size - 2:
        raise ValueError(
            f"expert_episodes must be at most num_generations - 2 = {size - 2}, got {count}: the "
            "policy's own episodes of a group are compared with each other, which takes two"
        )


def check_logprobs(backend: BackendSpec) -> None:
    """Raise `UsageError` if a backend gives no log-probabilities, which training needs."""
    if not backend.gives_logprobs:
        raise UsageError(
            f"backend {backend.name!r} gives no log-probabilities of its samples, by which "
            "the loss is corrected and measured; train with another `RolloutArguments.backend`, "
            "and let this one play for agentgym eval and collect"
        )


def refuse_split_weights(backend: BackendSpec, *, is_split: bool) -> None:
    """Raise `UsageError` if a backend's passes would need all processes together.

    `is_split`: FSDP2 or ZeRO-3 splits the weights. The processes would wait for each other for
    ever.
    """
    if is_split and backend.samples_from_model:
        raise UsageError(
            f"backend {backend.name!r} cannot play with weights that are split over processes: "
            "each makes as many passes as its own episodes need, so they would wait for each other "
            "for ever; use `RolloutArguments.backend=vllm` under FSDP2, ZeRO-2 in place of ZeRO-3, "
            "or `eval_strategy=no` where evaluations alone play"
        )
