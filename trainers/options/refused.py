"""Options of TRL's and transformers' configs that would do nothing here, and what to use instead.

Episodes are played by our rollouts and evaluations play too, so what steers TRL's own generation,
its data preparation or transformers' evaluation loop has no effect. Such an option is refused where
its value is not the default; all others are honoured. The tables are held against every field of
the configs by `tests/trainers/options/test_refused.py`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.errors import UsageError


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
    for option in dataclasses.fields(args):
        refusal = refusals.get(option.name)
        if refusal is None:
            continue
        factory = option.default_factory
        default = option.default if factory is dataclasses.MISSING else factory()
        value = getattr(args, option.name)
        if value != default and not refusal.unless(args):
            remedy = refusal.remedy + _in_python(refusal.remedy, args)
            raise UsageError(f"{option.name}={value!r} would be ignored here; {remedy}")


def _in_python(remedy: str, args: Any) -> str:
    """Return where a remedy's options are set in Python, or empty for `args`."""
    options = re.findall(r"--(\w+)", remedy)
    homes = []
    for kind in (EnvArguments, RolloutArguments, EvaluationArguments):
        names = {option.name for option in dataclasses.fields(kind)} - set(vars(args))
        if own := [f"{option}=..." for option in options if option in names]:
            homes.append(f"{kind.__name__}({', '.join(own)})")
    return f" (in Python: {', '.join(homes)})" if homes else ""


def _all(names: str, remedy: str, unless: Callable[[Any], bool] | None = None) -> Refusals:
    refusal = Refusal(remedy) if unless is None else Refusal(remedy, unless)
    return dict.fromkeys(names.split(), refusal)


def _only_with(option: str, values: Iterable[Any], names: str) -> Refusals:
    """Refuse options that have an effect with some values of another one alone."""
    allowed = tuple(values)
    remedy = f"it has an effect only with --{option} {' or '.join(str(v) for v in allowed)}"
    return _all(names, remedy, lambda args: any(v in allowed for v in _values(args, option)))


def _values(args: Any, option: str) -> list[Any]:
    """Return an option's values; DPO's `loss_type` may be several."""
    value = getattr(args, option)
    return value if isinstance(value, list) else [value]


_EVALUATIONS_PLAY = "evaluations play episodes: see --num_eval_tasks, --eval_samples, --num_envs"

_EVERY_TRAINER: Refusals = {
    **_all(
        "per_device_eval_batch_size prediction_loss_only eval_accumulation_steps "
        "eval_do_concat_batches eval_use_gather_object include_for_metrics batch_eval_metrics "
        "label_names",
        _EVALUATIONS_PLAY,
    ),
    **_all(
        "bf16_full_eval fp16_full_eval",
        "evaluations play with the policy as it is trained; its precision is --dtype and --bf16",
    ),
    **_all(
        "do_train do_predict", "what a trainer does is said by its command; leave the option out"
    ),
    "do_eval": Refusal(
        "--eval_strategy says when to evaluate", lambda args: args.eval_strategy != "no"
    ),
    "resume_from_checkpoint": Refusal(
        "resume with --resume, or in Python with trainer.train(resume_from_checkpoint=...)"
    ),
    "local_rank": Refusal("accelerate launch and torchrun set LOCAL_RANK"),
    "length_column_name": Refusal("episodes are measured by their tokens; leave it out"),
    **_only_with("use_liger_kernel", [True], "liger_kernel_config"),
    "warmup_steps": Refusal(
        "this schedule has no warm-up; --lr_scheduler_type constant_with_warmup has",
        lambda args: args.lr_scheduler_type not in ("constant", "greedy", "reduce_lr_on_plateau"),
    ),
    "lr_scheduler_kwargs": Refusal(
        "this --lr_scheduler_type takes none",
        lambda args: args.lr_scheduler_type not in ("constant", "constant_with_warmup"),
    ),
    "hub_strategy": Refusal(
        "take every_save, checkpoint or all_checkpoints; after the end push the output folder "
        "with: hf upload",
        lambda args: args.hub_strategy != "end",
    ),
}

_CLIPPED = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo")
"""TRL's losses that clip the ratio from both sides."""

_LABELS_ARE_TURNS = "the labels are the policy's turns alone, from the tokens of the episodes"
_LOADED_BY_US = "load the model yourself and pass it to the trainer with its processing_class"
_TOKENIZER = (
    "the episodes are encoded as the tokenizer is; save it with the change, or pass it as "
    "processing_class"
)

ONLINE: Refusals = {
    **_EVERY_TRAINER,
    "repetition_penalty": Refusal("narrow the sampling with --top_k, --top_p or --min_p"),
    "generation_kwargs": Refusal(
        "sampling takes --temperature, --top_k, --top_p, --min_p and --max_tokens_per_turn"
    ),
    "cache_implementation": Refusal("--backend says what samples, with a cache of its own"),
    **_all(
        "use_transformers_continuous_batching transformers_continuous_batching_config "
        "use_transformers_paged ds3_gather_for_generation",
        "TRL's own generation is not used; --backend says what samples",
    ),
    **_all(
        "use_vllm vllm_mode vllm_enable_sleep_mode vllm_tensor_parallel_size",
        "it is of an engine that plays nothing; use --backend vllm or vllm_server",
    ),
    **_all(
        "vllm_server_base_url vllm_server_host vllm_server_port vllm_group_port",
        "use --backend vllm_server --server_url http://host:port",
    ),
    "vllm_server_timeout": Refusal(
        "use --backend vllm_server --backend_kwargs '{\"timeout\": 240}'"
    ),
    **_all(
        "vllm_model_impl vllm_gpu_memory_utilization vllm_max_model_length",
        "use --backend vllm with --backend_kwargs, which takes vllm.LLM's own arguments: "
        "model_impl, gpu_memory_utilization; the length is --max_tokens_per_episode",
    ),
    "vllm_structured_outputs_regex": Refusal(
        "sampling is not constrained; --action_format says how actions are written"
    ),
    **_only_with(
        "vllm_importance_sampling_correction",
        [True],
        "vllm_importance_sampling_mode vllm_importance_sampling_clip_max "
        "vllm_importance_sampling_clip_min",
    ),
    "vllm_importance_sampling_cap": Refusal(
        "it is TRL's old name of --vllm_importance_sampling_clip_max"
    ),
    "max_completion_length": Refusal(
        "episodes are bounded by --max_tokens_per_turn and --max_tokens_per_episode; the option "
        "has an effect only with --loss_type dr_grpo, which divides by it",
        lambda args: args.loss_type == "dr_grpo",
    ),
    "mask_truncated_completions": Refusal("use --mask_truncated_episodes"),
    "max_tool_calling_iterations": Refusal("use --max_turns"),
    "log_multimodal": Refusal("episodes hold no images; leave it out"),
    "num_generations_eval": Refusal(
        "use --eval_samples", lambda args: args.num_generations_eval == 1
    ),
    "pad_to_multiple_of": Refusal(
        "passes are made over rows without padding; leave it out",
        lambda args: args.pad_to_multiple_of is None,
    ),
    "average_tokens_across_devices": Refusal("--loss_type says how token losses are averaged"),
    "label_smoothing_factor": Refusal("the loss has no labels; see --entropy_coef"),
    "include_num_input_tokens_seen": Refusal(
        "num_tokens is logged at every step",
        lambda args: args.include_num_input_tokens_seen in (False, "no"),
    ),
    "auto_find_batch_size": Refusal("lower --per_device_train_batch_size"),
    **_all(
        "train_sampling_strategy",
        "a batch holds whole groups of episodes; --shuffle_dataset says whether in random order",
    ),
    "data_seed": Refusal("--seed orders the tasks too"),
    "shuffle_dataset": Refusal(
        "--task_sampling learnable orders the tasks itself",
        lambda args: getattr(args, "task_sampling", "uniform") == "uniform",
    ),
    **_only_with("loss_type", _CLIPPED, "delta"),
    **_only_with("loss_type", [*_CLIPPED, "cispo"], "epsilon_high"),
    "epsilon": Refusal(
        f"--loss_type {' or '.join(_CLIPPED)} reads it, and cispo where --epsilon_high is left out",
        lambda args: (
            args.loss_type in _CLIPPED
            or (args.loss_type == "cispo" and args.epsilon_high in (None, args.epsilon))
        ),
    ),
    "importance_sampling_level": Refusal(
        "loss_type=vespo weighs whole episodes itself", lambda args: args.loss_type != "vespo"
    ),
    **_only_with("loss_type", ["sapo"], "sapo_temperature_neg sapo_temperature_pos"),
    **_only_with(
        "loss_type", ["vespo"], "vespo_k_pos vespo_lambda_pos vespo_k_neg vespo_lambda_neg"
    ),
    **_only_with("sync_ref_model", [True], "ref_model_mixup_alpha ref_model_sync_steps"),
    **_only_with(
        "use_adaptive_entropy",
        [True],
        "entropy_coef_min entropy_coef_max entropy_coef_delta entropy_target",
    ),
    **_only_with(
        "log_completions",
        [True],
        "num_completions_to_print log_unique_prompts log_completions_hub_repo",
    ),
}
"""Of every algorithm that plays."""

BY_STATE = ("gigpo", "hgpo", "gagpo")
"""Each `turn_credit` that compares turns in the same state."""

GRPO: Refusals = {
    **ONLINE,
    **_only_with("turn_credit", ["gigpo"], "turn_advantage_weight"),
    **_only_with("turn_credit", [*BY_STATE], "turn_anchor"),
    **_only_with(
        "turn_credit",
        ["gigpo", "hgpo", "gagpo", "returns", "information_gain"],
        "turn_discount",
    ),
    **_only_with("turn_credit", ["hgpo"], "turn_context"),
    **_only_with("turn_credit", ["gagpo"], "turn_lam"),
    **_only_with("turn_anchor", ["similar"], "turn_similarity"),
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
        "functions with --reward_weights"
    ),
}
"""Of those that play and do not compare as GRPO does."""

_FROM_EPISODES: Refusals = {
    **_EVERY_TRAINER,
    **_all(
        "model_init_kwargs trust_remote_code",
        f"use --dtype, --attn_implementation, --model_revision or --load_in_4bit; in Python, "
        f"{_LOADED_BY_US}",
    ),
}

SFT: Refusals = {
    **_FROM_EPISODES,
    "chat_template_path": Refusal("use --chat_template FILE"),
    **_all("eos_token pad_token", _TOKENIZER),
    **_all(
        "dataset_text_field dataset_kwargs completion_only_loss assistant_only_loss",
        _LABELS_ARE_TURNS,
    ),
    "eval_packing": Refusal(_EVALUATIONS_PLAY),
    **_only_with("packing", [True], "packing_strategy"),
    "data_seed": Refusal("--seed orders the episodes too"),
    "truncation_mode": Refusal(
        "nothing is cut; pass --max_length with it", lambda args: args.max_length is not None
    ),
    **_only_with("loss_type", ["nll"], "label_smoothing_factor"),
}

DPO: Refusals = {
    **_FROM_EPISODES,
    "pad_token": Refusal(_TOKENIZER),
    "dataset_num_proc": Refusal("pairs are encoded in this process; leave it out"),
    "truncation_mode": Refusal(
        "a pair that is cut would lose what tells its sides apart; --max_length leaves it out"
    ),
    "padding_free": Refusal("TRL 1.16 pads all the same; leave it out"),
    "remove_unused_columns": Refusal(
        "the masks of the pairs are such columns", lambda args: not args.remove_unused_columns
    ),
    "average_tokens_across_devices": Refusal("the loss is a mean over pairs; leave it out"),
    "label_smoothing_factor": Refusal("use --loss_type robust with --label_smoothing"),
    **_only_with("loss_type", ["robust", "exo_pair", "aot", "aot_unpaired"], "label_smoothing"),
    **_only_with("loss_type", ["discopop"], "discopop_tau"),
    "beta": Refusal(
        "loss_type=sft has no reference", lambda args: {*_values(args, "loss_type")} != {"sft"}
    ),
    **_only_with("precompute_ref_log_probs", [True], "precompute_ref_batch_size"),
    "train_sampling_strategy": Refusal(
        "pairs are drawn at random, or in order: sequential",
        lambda args: args.train_sampling_strategy == "sequential",
    ),
    "data_seed": Refusal("--seed orders the pairs too"),
    **_only_with("sync_ref_model", [True], "ref_model_mixup_alpha ref_model_sync_steps"),
    **_only_with("f_divergence_type", ["alpha_divergence"], "f_alpha_divergence_coef"),
}

_OF_EPISODES_TRAINED_ON = _all(
    "mask_truncated_episodes save_trajectories_every",
    "it is of the episodes that grpo, rloo, reinforce_pp and ppo train on as they play them",
)

ROLLOUT: Mapping[str, Refusals] = {
    "agentevol": _OF_EPISODES_TRAINED_ON,
    **dict.fromkeys(
        ("sft", "dpo"),
        {
            **_OF_EPISODES_TRAINED_ON,
            "horizon": Refusal(
                "evaluations have all of --max_turns; train with another algorithm to begin with "
                "few turns"
            ),
        },
    ),
}
"""Of how episodes are played, by the command of the algorithm."""

COMMAND_LINE: Refusals = {
    name: _FROM_EPISODES[name] for name in ("model_init_kwargs", "trust_remote_code")
}
"""Of the commands, which load the model; a trainer that is given a name hands them on."""

MODEL: Refusals = {
    **_only_with(
        "use_peft",
        [True],
        "lora_r lora_alpha lora_dropout lora_target_modules lora_target_parameters "
        "lora_modules_to_save lora_task_type use_rslora use_dora",
    ),
    **_only_with(
        "load_in_4bit", [True], "bnb_4bit_quant_type use_bnb_nested_quant bnb_4bit_quant_storage"
    ),
}
