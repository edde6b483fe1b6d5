"""Checks that options have an effect, are allowed and fit each other, before anything is played.

Episodes are played by our rollouts and evaluations play too, so what steers TRL's own generation,
its data preparation or transformers' evaluation loop has no effect. Such an option is refused where
its value is not the default. Whether options of TRL's fit each other is TRL's to say, unless it
would say it in the middle of the first step only.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from math import inf
from typing import Any

from agentgym_envs.errors import did_you_mean, pip_install
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.backends import BackendSpec
from trainers.options.errors import UsageError, check_kind

# -- Options that would be ignored ---------------------------------------------------------------


@dataclass(frozen=True)
class Refusal:
    """Why an option is refused.

    Attributes:
        remedy: what to use instead.
        unless: given the config, whether the option has its effect after all, or a value that
            asks for none.
    """

    remedy: str
    unless: Callable[[Any], bool] = lambda args: False


Refusals = Mapping[str, Refusal]


def refuse_ignored(args: Any, refusals: Refusals) -> None:
    """Refuse options that would be ignored.

    Args:
        args: a dataclass; before or after its `__post_init__`.
        refusals: by the option's name; those that `args` has not are passed over.

    Raises:
        UsageError: an option has a value other than its default.
    """
    for option in fields(args):
        refusal = refusals.get(option.name)
        if refusal is None:
            continue
        factory = option.default_factory
        default = option.default if factory is MISSING else factory()
        value = getattr(args, option.name)
        if value != default and not refusal.unless(args):
            raise UsageError(f"{option.name}={value!r} would be ignored here; {refusal.remedy}")


def _each(names: str, remedy: str, unless: Callable[[Any], bool] = Refusal.unless) -> Refusals:
    return dict.fromkeys(names.split(), Refusal(remedy, unless))


_EVALUATIONS_PLAY = (
    "evaluations play episodes: see `EvaluationArguments.num_eval_tasks`, "
    "`EvaluationArguments.eval_samples`, `EnvArguments.num_envs`"
)

_EVERY_TRAINER: Refusals = {
    **_each(
        "per_device_eval_batch_size prediction_loss_only eval_accumulation_steps "
        "include_for_metrics batch_eval_metrics",
        _EVALUATIONS_PLAY,
    ),
    **_each(
        "bf16_full_eval fp16_full_eval",
        "evaluations play with the policy as it is trained; its precision is "
        "`ModelArguments.dtype` and `bf16`",
    ),
    **_each(
        "do_train do_predict", "what a trainer does is said by its command; leave the option out"
    ),
    "do_eval": Refusal(
        "`eval_strategy` says when to evaluate", lambda args: args.eval_strategy != "no"
    ),
    "resume_from_checkpoint": Refusal(
        "resume with `resume`, or in Python with trainer.train(resume_from_checkpoint=...)"
    ),
    "warmup_steps": Refusal(
        "this schedule has no warm-up; `lr_scheduler_type=constant_with_warmup` has",
        lambda args: args.lr_scheduler_type not in ("constant", "greedy", "reduce_lr_on_plateau"),
    ),
    "hub_strategy": Refusal(
        "take every_save, checkpoint or all_checkpoints; after the end push the output folder "
        "with: hf upload",
        lambda args: args.hub_strategy != "end",
    ),
}

ONLINE: Refusals = {
    **_EVERY_TRAINER,
    "repetition_penalty": Refusal("narrow the sampling with `top_k`, `top_p` or `min_p`"),
    "generation_kwargs": Refusal(
        "sampling takes `temperature`, `top_k`, `top_p`, `min_p` and "
        "`RolloutArguments.max_tokens_per_turn`"
    ),
    **_each(
        "cache_implementation use_transformers_continuous_batching use_transformers_paged",
        "TRL's own generation is not used; `RolloutArguments.backend` says what samples",
    ),
    **_each(
        "use_vllm vllm_mode vllm_enable_sleep_mode vllm_tensor_parallel_size",
        "it is of an engine that plays nothing; use `RolloutArguments.backend=vllm` or vllm_server",
    ),
    **_each(
        "vllm_server_base_url vllm_server_host vllm_server_port vllm_group_port "
        "vllm_server_timeout",
        "use `RolloutArguments.backend=vllm_server` with "
        "`RolloutArguments.server_url=http://host:port`, and the timeout in "
        "`RolloutArguments.backend_kwargs='{\"timeout\": 240}'`",
    ),
    **_each(
        "vllm_model_impl vllm_gpu_memory_utilization vllm_max_model_length",
        "use `RolloutArguments.backend=vllm` with `RolloutArguments.backend_kwargs`, which takes "
        "vllm.LLM's own arguments: model_impl, gpu_memory_utilization; the length is "
        "`RolloutArguments.max_tokens_per_episode`",
    ),
    "vllm_structured_outputs_regex": Refusal(
        "sampling is not constrained; `EnvArguments.action_format` says how actions are written"
    ),
    "vllm_importance_sampling_cap": Refusal(
        "it is TRL's old name of `vllm_importance_sampling_clip_max`"
    ),
    "max_completion_length": Refusal(
        "episodes are bounded by `RolloutArguments.max_tokens_per_turn` and "
        "`RolloutArguments.max_tokens_per_episode`; the option has an effect only with "
        "`loss_type=dr_grpo`, which divides by it",
        lambda args: args.loss_type == "dr_grpo",
    ),
    "mask_truncated_completions": Refusal("use `RolloutArguments.mask_truncated_episodes`"),
    "max_tool_calling_iterations": Refusal("use `EnvArguments.max_turns`"),
    "num_generations_eval": Refusal(
        "use `EvaluationArguments.eval_samples`", lambda args: args.num_generations_eval == 1
    ),
    "train_sampling_strategy": Refusal(
        "a batch holds whole groups of episodes; `shuffle_dataset` says whether in random order"
    ),
    "data_seed": Refusal("`seed` orders the tasks too"),
    "shuffle_dataset": Refusal(
        "`task_sampling=learnable` orders the tasks itself",
        lambda args: getattr(args, "task_sampling", "uniform") == "uniform",
    ),
}
"""Of every algorithm that plays."""

BY_STATE = ("gigpo", "hgpo", "gagpo")
"""Each `turn_credit` that compares turns in the same state."""


def _only_with(option: str, values: str, names: str) -> Refusals:
    """Refuse options that have an effect with some values of another one alone."""
    remedy = f"it has an effect only with `{option}={' or '.join(values.split())}`"
    return _each(names, remedy, lambda args: getattr(args, option) in values.split())


GRPO: Refusals = {
    **ONLINE,
    **_only_with("turn_credit", "gigpo", "turn_advantage_weight"),
    **_only_with("turn_credit", " ".join(BY_STATE), "turn_anchor"),
    **_only_with(
        "turn_credit", " ".join([*BY_STATE, "returns", "information_gain"]), "turn_discount"
    ),
    **_only_with("turn_credit", "hgpo", "turn_context"),
    **_only_with("turn_credit", "gagpo", "turn_lam"),
    **_only_with("turn_anchor", "similar", "turn_similarity"),
}
"""Of GRPO and the methods that credit its turns."""

NOT_GROUP_RELATIVE: Refusals = {
    **ONLINE,
    "scale_rewards": Refusal(
        "this algorithm divides by no group's deviation; it takes environment alone, or train with "
        "grpo",
        lambda args: args.scale_rewards == "environment",
    ),
    "multi_objective_aggregation": Refusal(
        "this algorithm divides by no group's deviation; train with grpo, or weigh reward "
        "functions with `reward_weights`"
    ),
}
"""Of those that play and do not compare as GRPO does."""

LOADING: Refusals = _each(
    "model_init_kwargs trust_remote_code",
    "use `ModelArguments.dtype`, `ModelArguments.attn_implementation`, "
    "`ModelArguments.model_revision` or `ModelArguments.load_in_4bit`; in Python, load the model "
    "yourself and pass it to the trainer with its processing_class",
)
"""Of SFT, DPO and all commands, which load the model. An online trainer hands them on to TRL."""

_TOKENIZER = (
    "the episodes are encoded as the tokenizer is; save it with the change, or pass it as "
    "processing_class"
)

SFT: Refusals = {
    **_EVERY_TRAINER,
    **LOADING,
    "chat_template_path": Refusal("use `chat_template=FILE`"),
    **_each("eos_token pad_token", _TOKENIZER),
    **_each(
        "dataset_text_field dataset_kwargs completion_only_loss assistant_only_loss",
        "the labels are the policy's turns alone, from the tokens of the episodes",
    ),
    "eval_packing": Refusal(_EVALUATIONS_PLAY),
    "data_seed": Refusal("`seed` orders the episodes too"),
    "truncation_mode": Refusal(
        "nothing is cut; pass `max_length` with it", lambda args: args.max_length is not None
    ),
}

DPO: Refusals = {
    **_EVERY_TRAINER,
    **LOADING,
    "pad_token": Refusal(_TOKENIZER),
    "truncation_mode": Refusal(
        "a pair that is cut would lose what tells its sides apart; `max_length` leaves it out"
    ),
    "remove_unused_columns": Refusal(
        "the masks of the pairs are such columns", lambda args: not args.remove_unused_columns
    ),
    "train_sampling_strategy": Refusal(
        "pairs are drawn at random, or in order: sequential",
        lambda args: args.train_sampling_strategy == "sequential",
    ),
    "data_seed": Refusal("`seed` orders the pairs too"),
}

_EPISODES_TRAINED_ON = _each(
    "mask_truncated_episodes save_trajectories_every",
    "it is of the episodes that grpo, rloo, reinforce_pp and ppo train on as they play them",
)
_FROM_EPISODES: Refusals = {
    **_EPISODES_TRAINED_ON,
    "horizon": Refusal(
        "evaluations have all of `EnvArguments.max_turns`; train with another algorithm to begin "
        "with few turns"
    ),
}

ROLLOUT: Mapping[str, Refusals] = {
    "agentevol": _EPISODES_TRAINED_ON,
    "sft": _FROM_EPISODES,
    "dpo": _FROM_EPISODES,
}
"""Of how episodes are played, by the command of the algorithm."""

MODEL: Refusals = _each(
    "lora_r lora_alpha lora_dropout lora_target_modules use_rslora use_dora",
    "it has an effect only with `use_peft`",
    lambda args: args.use_peft,
)


# -- A trainer's arguments -----------------------------------------------------------------------

REPLACED = {
    *("data_collator", "environment_factory", "formatting_func", "rollout_func", "tools"),
    "train_dataset",
}
"""Arguments of TRL's trainers in whose place ours have environments, episodes or pairs."""


def check_given(
    trainer: Any, *, args: Any, rollout: Any, evaluation: Any, further: Mapping[str, Any]
) -> None:
    """Check a trainer's arguments, but for its policy and its data, before anything is loaded.

    Args:
        trainer: ours, with the classes `config` and `takes` of its `args`, and with `replaced`, a
            sentence on what it has in place of `REPLACED`.
        args: the training config.
        rollout: `RolloutArguments`.
        evaluation: `EvaluationArguments`.
        further: the arguments that it hands on to TRL's trainer.

    Raises:
        TypeError: a dataclass is something else; an argument is TRL's and would do nothing here,
            an option of a dataclass, or unknown.
        UsageError: an option of `args` would be ignored.
    """
    name, config = type(trainer).__name__, trainer.config
    check_kind("args", args, trainer.takes, remedy=f"make a trainers.{config.__name__}(...)")
    homes: dict[str, type] = {"rollout": RolloutArguments, "evaluation": EvaluationArguments}
    for (place, kind), given in zip(homes.items(), (rollout, evaluation), strict=True):
        check_kind(place, given, kind, remedy=f"make a trainers.{kind.__name__}(...)")
    homes |= {"env": EnvArguments, "args": type(args)}
    theirs = next(kind for kind in type(trainer).__mro__ if kind.__module__.startswith("trl."))
    known = set(inspect.signature(theirs).parameters) - REPLACED
    for argument in [name for name in further if name not in known]:
        hint = did_you_mean(argument, known, otherwise=f"trl.{theirs.__name__} has none either")
        if argument in REPLACED:
            hint = f": {trainer.replaced}"
        for place, kind in homes.items():
            if argument in {entry.name for entry in fields(kind)}:
                of = kind.__name__
                hint = f", which is an option of {of}: {place}={of}({argument}=...)"
        raise TypeError(f"{name} takes no {argument}{hint}")
    refuse_ignored(args, config.refused)


# -- Options that do not fit each other ----------------------------------------------------------

SUMMED = "sum_then_normalize"
"""The `multi_objective_aggregation` of which a group's rewards are the sums of the functions."""
LOSSES = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo", "vespo")
CORRECTIONS = ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask")
OUR_CORRECTIONS = ("turn_truncate", "turn_mask", "geometric_mask")
PREFERENCE_LOSSES = (
    *("sigmoid", "hinge", "ipo", "exo_pair", "nca_pair", "robust", "bco_pair", "sppo_hard"),
    *("aot", "aot_unpaired", "apo_zero", "apo_down", "discopop", "sft", "sigmoid_norm"),
)

EVALUATION_METRICS = (
    *("success", "success_low", "success_high", "score", "turns"),
    *("invalid_actions", "failed", "runtime"),
)
"""What an evaluation reports, after `eval_`."""


def check_correction(args: Any) -> None:
    """Check the options of the importance correction, of TRL's own `GRPOConfig` too.

    Raises:
        ValueError: there is no such mode, or its bounds or the loss do not fit it.
    """
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


def check_scaling(args: Any) -> None:
    """Check that `scale_rewards` fits the other options.

    Args:
        args: an `AgentOnlineConfig` that TRL has completed.

    Raises:
        ValueError: it does not.
    """
    how = args.scale_rewards
    aggregation = getattr(args, "multi_objective_aggregation", SUMMED)
    credit = getattr(args, "turn_credit", "none")
    problem = other = None
    if how in ("environment", "mean") and aggregation != SUMMED:
        problem = f"scale_rewards={how} scales the sum of the reward functions"
        other = f"multi_objective_aggregation={aggregation}"
    elif aggregation != SUMMED and credit not in ("none", "gigpo", "empg"):
        problem = f"turn_credit={credit} credits turns with their rewards, not the episode's"
        other = f"multi_objective_aggregation={aggregation}"
    elif how == "mean" and credit not in ("none", "empg"):
        problem, other = f"scale_rewards={how} is of whole episodes", f"turn_credit={credit}"
    elif how == "mean" and args.invalid_action_penalty:
        problem = (
            f"scale_rewards={how} divides by a group's mean reward, which is penalties alone where "
            "none succeeds"
        )
        other = f"invalid_action_penalty={args.invalid_action_penalty}"
    if problem is not None:
        raise ValueError(f"{problem}, got {other}; leave out one of the two")


def check_length(args: Any) -> None:
    """Check that training has a length, and options that torch refuses only in a run.

    Args:
        args: an `AgentDefaults` config.

    Raises:
        ValueError: it would train nothing, or without the end that was meant.
    """
    if args.max_steps == 0:
        raise ValueError("max_steps must be >= 1, or -1 for num_train_epochs to say, got 0")
    if args.max_steps < 0 and not args.num_train_epochs > 0:
        raise ValueError(f"num_train_epochs must be > 0, got {args.num_train_epochs}")
    for name in ("weight_decay", "dataloader_num_workers"):
        if not getattr(args, name) >= 0:
            raise ValueError(f"{name} must be >= 0, got {getattr(args, name)}")
    if args.eval_strategy == "steps" and args.eval_steps is not None and not args.eval_steps > 0:
        raise ValueError(
            f"eval_steps must be > 0, got {args.eval_steps}; eval_strategy=no evaluates never"
        )


def check_trackers(names: Sequence[str]) -> None:
    """Check that there are such experiment trackers, and that their packages are installed.

    Args:
        names: of `report_to`.

    Raises:
        UsageError: there is none of that name, or its package is missing.
    """
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
    processes = _num_processes()
    micro = args.per_device_train_batch_size * processes
    of_micro = f"per_device_train_batch_size={args.per_device_train_batch_size}"
    if processes > 1:
        of_micro += f" x {processes} processes"
    if args.generation_batch_size is not None:
        batch, made_of = args.generation_batch_size, "generation_batch_size"
        if batch % micro:
            below = batch - batch % micro
            near = f"{below} or {below + micro}" if below else str(micro)
            raise ValueError(
                f"generation_batch_size={batch} must be a multiple of {of_micro}; {near} would do"
            )
    else:
        name = "steps_per_generation"
        if args.steps_per_generation is None:
            name = "gradient_accumulation_steps"
        batch, made_of = micro * getattr(args, name), f"{of_micro} x {name}={getattr(args, name)}"
    if batch % group:
        fitting = [str(n) for n in range(max(least, 1), batch + 1) if batch % n == 0][:4]
        hint = "make it larger"
        if fitting:
            listed = " or ".join(filter(None, (", ".join(fitting[:-1]), fitting[-1])))
            hint = f"num_generations {listed} would fit"
        raise ValueError(
            f"a batch holds whole groups: {made_of} makes {batch} episodes, no multiple of "
            f"num_generations={group}; {hint}"
        )


def _num_processes() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def check_staleness(args: Any) -> None:
    """Check that episodes may be as old as `max_staleness` says, and are corrected for it.

    Args:
        args: an `AgentOnlineConfig`, after `check_batch`, before TRL has derived anything.

    Raises:
        ValueError: it is too little for a batch, or the loss is not corrected.
    """
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
    accumulated = args.gradient_accumulation_steps
    passes = args.steps_per_generation or accumulated
    if args.generation_batch_size is not None:
        micro = args.per_device_train_batch_size * _num_processes()
        passes = args.generation_batch_size // micro
    steps = -(-passes * args.num_iterations // accumulated)
    if staleness < steps:
        raise ValueError(
            f"a batch of episodes serves {steps} optimizer steps, so max_staleness={staleness} "
            f"lets nothing be played ahead; pass `max_staleness={steps}`, or 0"
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
    every, saved = args.eval_steps, args.save_steps
    got = ""
    if args.save_strategy not in (args.eval_strategy, "best"):
        got = f"save_strategy={args.save_strategy} with eval_strategy={args.eval_strategy}"
    # A number below 1 is a share of the run, which is TRL's.
    elif args.eval_strategy == args.save_strategy == "steps" and every and saved:
        if every >= 1 and saved >= 1 and saved % every:
            got = f"save_steps={saved:g}, no multiple of eval_steps={every:g}"
    if got:
        raise ValueError(
            f"the best checkpoint is loaded at the end, so it is saved where success is measured, "
            f"got {got}; make them fit, or pass `load_best_model_at_end=false` to end with the "
            "last weights"
        )


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
    problem = other = None
    if roots and args.turn_credit != "none":
        problem, other = "branch_roots credits shared turns itself", "turn_credit"
    elif args.dynamic_sampling > 1 and args.task_sampling != "uniform":
        problem, other = "dynamic_sampling draws further tasks alike", "task_sampling"
    elif args.max_staleness and (roots or args.dynamic_sampling > 1):
        name = "branch_roots" if roots else "dynamic_sampling"
        problem = f"{name} plays a batch in several parts, which cannot be played ahead"
        other = "max_staleness"
    if other is not None:
        got = f"{other}={getattr(args, other)}"
        raise ValueError(f"{problem}, got {got}; leave out one of the two")


def check_logprobs(backend: BackendSpec) -> None:
    """Check that a backend's samples can be trained on.

    Raises:
        UsageError: it gives no log-probabilities.
    """
    if not backend.gives_logprobs:
        raise UsageError(
            f"backend {backend.name!r} gives no log-probabilities of what it samples, by which "
            "the loss is corrected and measured; train with another `RolloutArguments.backend`, "
            "and let this one play for agentgym eval and collect"
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
            "for ever; use `RolloutArguments.backend=vllm` under FSDP2, ZeRO-2 in place of ZeRO-3, "
            "or `eval_strategy=no` where evaluations alone play"
        )
