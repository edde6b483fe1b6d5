"""Our defaults for TRL's options of training and of the model; the one place where they differ.

Mixins before TRL's configs, which import none of them: what `--help` shows is declared here and in
`algorithms`, TRL's most used options included. `configs` and the trainers add TRL's classes, whose
other options stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agentgym_envs.secrets import keep_out, masked
from trainers.options.checks import (
    CORRECTIONS,
    LOSSES,
    ONLINE,
    OUR_CORRECTIONS,
    SUMMED,
    Refusals,
    check_batch,
    check_checkpoints,
    check_correction,
    check_length,
    check_scaling,
    check_staleness,
    check_trackers,
    refuse_ignored,
)
from trainers.options.errors import check_bounds
from trainers.options.models import (
    MODEL_NAMES,
    SMOLLM2,
    SMOLLM2_TEXTCRAFT,
    TINY,
    TemplateArguments,
    derive_device,
    gains_by_bfloat16,
    own_name,
)
from trainers.tokens.generation import Sampling

SUCCESS_METRIC = "eval_success"
TASK_SAMPLINGS = ("uniform", "learnable")
PER_ENVIRONMENT = "environment"
"""The `scale_rewards` that divides by the deviation of the environment's rewards; ours."""
BY_MEAN = "mean"
"""The `scale_rewards` that divides by the mean of the group's rewards (MaxRL); ours."""
OTHERS = "another model"
"""Stands in `adapter_defaults` for every model without a name in `MODEL_NAMES`. Its adapter learns
at ten times the rate of all its weights: Schulman et al., "LoRA Without Regret" (2025)."""


_OPTIMIZERS_OF_A_MODEL = ("adalomo", "apollo", "galore", "lomo")
"""Those that transformers can only look for when there is a model."""


def rates_by_model(
    default: float, own: Mapping[str, dict[str, Any]], adapters: Mapping[str, dict[str, Any]]
) -> str:
    """Return the help of `learning_rate`, which goes by the model.

    Args:
        default: the config's own.
        own: its `own_defaults`.
        adapters: its `adapter_defaults`.
    """
    texts = []
    for name in (TINY, SMOLLM2, OTHERS):
        rate = own.get(name, {}).get("learning_rate", default)
        adapter = adapters.get(name, {}).get("learning_rate", rate)
        texts.append(f"{name} {rate:g}" + f" ({adapter:g} with --use_peft)" * (adapter != rate))
    return f"Learning rate at the start. By default it goes by the model: {', '.join(texts)}."


@dataclass
class AgentDefaults(TemplateArguments):
    """The defaults that all our training configs share; a mixin before TRL's config.

    On a machine without an accelerator a run computes on the CPU, in float32 unless `bf16` is set,
    and checkpoints gradients only where a pass is large. Evaluation, checkpoints and the best model
    go by `eval_success`.
    """

    _argument_group_name: ClassVar[str] = "training"
    common_options: ClassVar[tuple[str, ...]] = (
        *("output_dir", "max_steps", "learning_rate", "per_device_train_batch_size"),
        *("gradient_accumulation_steps", "eval_steps", "seed"),
    )

    own_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {}
    """By a name of `MODEL_NAMES`: what that model needs instead."""
    adapter_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {}
    """Further defaults of its adapters. `OTHERS` has those of all other models."""

    refused: ClassVar[Refusals] = {}
    """Options of TRL's that would be ignored."""

    max_steps: int = field(
        default=-1,
        metadata={"help": "Optimizer steps; -1 leaves it to --num_train_epochs."},
    )
    seed: int = field(
        default=42,
        metadata={"help": "Seed of everything that is drawn.", "min": 0, "max": 2**32 - 1},
    )
    gradient_checkpointing: bool | None = field(
        default=None,
        metadata={
            "help": "Save memory; by default on an accelerator, and on a CPU for passes that would "
            "keep more than 2 GB."
        },
    )
    eval_strategy: str = field(
        default="steps", metadata={"help": "When to evaluate: no, steps or epoch."}
    )
    save_strategy: str | None = field(
        default=None, metadata={"help": "When to checkpoint; by default at every evaluation."}
    )
    save_steps: float | None = field(
        default=None, metadata={"help": "Checkpoint every N steps; by default as --eval_steps."}
    )
    save_total_limit: int | None = field(
        default=2, metadata={"help": "Checkpoints kept, the best one always among them."}
    )
    load_best_model_at_end: bool | None = field(
        default=True, metadata={"help": "End with the checkpoint of the best eval_success."}
    )
    metric_for_best_model: str | None = field(
        default=SUCCESS_METRIC, metadata={"help": "Metric that chooses the best checkpoint."}
    )
    log_weight_changes: bool = field(
        default=False,
        metadata={"help": "Log which share of the weights differs from the start's."},
    )
    ddp_timeout: int = field(
        default=86_400,
        metadata={
            "help": "Seconds that processes wait for each other; torch's half hour is less than "
            "one may play while the others wait."
        },
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        refuse_ignored(self, self.refused)
        self.check_template()
        derive_device(self)
        derive_evaluation(self)
        check_checkpoints(self)
        check_length(self)
        super().__post_init__()  # type: ignore[misc]
        args: Any = self  # with TRL's fields
        if not args.optim.startswith(_OPTIMIZERS_OF_A_MODEL):
            from transformers import Trainer

            Trainer.get_optimizer_cls_and_kwargs(args)  # raises where its package is missing
        check_trackers(getattr(self, "report_to", []))
        keep_out(getattr(self, "hub_token", None))

    @property
    def device(self) -> Any:
        """Where the model is.

        Of several processes on a CPU each has a numbered one, such as `cpu:0`, which torch cannot
        load a checkpoint's optimizer to.
        """
        device = super().device  # type: ignore[misc]
        return type(device)("cpu") if device.type == "cpu" else device

    def __getstate__(self) -> dict[str, Any]:
        """Return what a checkpoint's `training_args.bin` keeps: everything but secrets."""
        values = {name: value for name, value in vars(self).items() if name != "to_dict"}
        return {**masked(values), "hub_token": None}


@dataclass
class OnlineDefaults(AgentDefaults):
    """Of every algorithm that plays; a mixin before `trl.GRPOConfig`."""

    common_options: ClassVar[tuple[str, ...]] = ("temperature", "beta")
    own_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        TINY: {"learning_rate": 3e-4},
        **dict.fromkeys(
            (SMOLLM2, SMOLLM2_TEXTCRAFT),
            {
                "learning_rate": 4e-5,
                "per_device_train_batch_size": 1,
                "gradient_accumulation_steps": 64,
            },
        ),
    }
    adapter_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        **dict.fromkeys((SMOLLM2, SMOLLM2_TEXTCRAFT), {"learning_rate": 4e-4}),
        OTHERS: {"learning_rate": 1e-5},
    }
    refused: ClassVar[Refusals] = ONLINE

    output_dir: str | None = field(
        default="runs/online", metadata={"help": "Where checkpoints, logs and the model go."}
    )
    learning_rate: float = field(
        default=1e-6,
        metadata={"min": 0, "help": rates_by_model(1e-6, own_defaults, adapter_defaults)},
    )
    per_device_train_batch_size: int = field(
        default=8,
        metadata={"help": "Episodes per forward and backward pass and device.", "min": 1},
    )
    gradient_accumulation_steps: int = field(
        default=8,
        metadata={
            "help": "Passes per optimizer step; episodes per step are the product.",
            "min": 1,
        },
    )
    num_generations: int | None = field(
        default=8,
        metadata={"help": "Episodes per task: the group that shares a baseline."},
    )
    num_generations_eval: int | None = field(
        default=None, metadata={"help": "Refused: evaluations play --eval_samples episodes."}
    )
    temperature: float = field(
        default=1.0, metadata={"help": "Temperature of the episodes, and of the loss."}
    )
    beta: float = field(
        default=0.0,
        metadata={"help": "Weight of the KL to the start; 0 loads no reference model."},
    )
    top_k: int = field(
        default=0,
        metadata={"help": "Sample among the so many likeliest tokens, in evaluations too; 0: all."},
    )
    top_p: float = field(
        default=1.0,
        metadata={
            "help": "Sample among the likeliest tokens that have this share of the probability. "
            "With this, --top_k or --min_p the loss is over all tokens still: "
            "sampling/sampling_logp_difference/mean then holds the probability that was cut off."
        },
    )
    min_p: float | None = field(
        default=None,
        metadata={"help": "Sample among tokens at least so likely as this share of the likeliest."},
    )
    max_completion_length: int | None = field(
        default=512,
        metadata={
            "help": "What --loss_type dr_grpo divides an episode's summed loss by; refused with "
            "other losses. It bounds no episode: --max_tokens_per_turn and "
            "--max_tokens_per_episode do."
        },
    )
    loss_type: str = field(
        default="grpo",
        metadata={
            "help": "How token losses are averaged (TRL's loss_type).",
            "choices": list(LOSSES),
        },
    )
    lr_scheduler_type: str = field(  # type: ignore[assignment]
        default="constant", metadata={"help": "Learning rate schedule, such as linear or cosine."}
    )
    scale_rewards: str = field(
        default="group",
        metadata={
            "help": "What an advantage is divided by: the deviation of the returns of its group "
            "(group), of the batch (batch), of its environment's episodes in the batch "
            "(environment, which every algorithm takes), or nothing (none); grpo "
            "also by the mean of the group's returns (mean, which is MaxRL).",
            "choices": ["group", "batch", PER_ENVIRONMENT, BY_MEAN, "none"],
        },
    )
    multi_objective_aggregation: str = field(
        default=SUMMED,
        metadata={
            "help": "Whether several reward functions are summed before they are scaled, or after.",
            "choices": [SUMMED, "normalize_then_sum"],
        },
    )
    importance_sampling_level: str = field(
        default="token",
        metadata={
            "help": "What has one ratio of probabilities: a token, or a sequence.",
            "choices": ["token", "sequence"],
        },
    )
    disable_dropout: bool = field(
        default=True, metadata={"help": "Train without dropout, as episodes are sampled."}
    )
    vllm_importance_sampling_correction: bool = field(
        default=True,
        metadata={
            "help": "Weigh the loss by the ratio of trained to sampled probabilities, whatever the "
            "--backend."
        },
    )
    # TRL's own default, sequence_mask: nearly always out of bounds over an episode of many turns.
    vllm_importance_sampling_mode: str = field(
        default="token_truncate",
        metadata={
            "help": "What has one ratio, a token, a turn or a sequence (an episode, or one of its "
            "token windows), and what is done with one out of bounds: token_truncate, token_mask, "
            "turn_truncate, turn_mask, sequence_truncate, sequence_mask. geometric_mask leaves out "
            "sequences whose ratio per token, as a geometric mean, is out of bounds, and weighs no "
            "other.",
            "choices": [*CORRECTIONS, *OUR_CORRECTIONS],
        },
    )
    vllm_importance_sampling_clip_max: float | None = field(
        default=3.0,
        metadata={"help": "Upper bound of the ratio, above 1; 1e9 is none."},
    )
    vllm_importance_sampling_clip_min: float | None = field(
        default=None,
        metadata={"help": "Lower bound of the ratio, below 1; by default none."},
    )
    max_staleness: int = field(
        default=0,
        metadata={
            "help": "Play the next episodes while the policy is trained on earlier ones, with "
            "weights at most so many optimizer steps behind; needs --backend vllm_server, or "
            "--carry_over. 0 plays with the newest.",
            "min": 0,
        },
    )
    carry_over: bool = field(
        default=False,
        metadata={
            "help": "With --max_staleness, on any --backend: play twice the batch and begin each "
            "optimizer step when half of the groups are complete; the others go on in the next."
        },
    )
    logging_steps: float = field(default=1, metadata={"help": "Log every N optimizer steps."})
    invalid_action_penalty: float = field(
        default=0.0, metadata={"help": "Taken from the reward of every invalid action."}
    )
    task_sampling: str = field(
        default="uniform",
        metadata={
            "help": "Which tasks are played next: all in turn (uniform), or rather those that the "
            "policy solves now and then (learnable).",
            "choices": list(TASK_SAMPLINGS),
        },
    )
    observation_loss_weight: float = field(
        default=0.0,
        metadata={
            "help": "Weight of the cross-entropy on what the environment said, a small world "
            "model beside the policy, such as 0.1; 0 trains on the policy's own tokens alone.",
            "min": 0,
        },
    )
    eval_steps: float | None = field(
        default=50, metadata={"help": "Evaluate every N optimizer steps."}
    )

    @property
    def compares_groups(self) -> bool:
        """Episodes are compared with their group's, so those of one paid alike teach nothing."""
        return True

    def __post_init__(self) -> None:
        check_bounds(self)  # here too, for what follows compares numbers
        Sampling.of(self)  # checks its own
        if not self.temperature > 0:
            raise ValueError(
                f"temperature must be > 0, since the loss divides by it, got {self.temperature}; "
                "evaluations may be greedy: `EvaluationArguments.eval_temperature=0`"
            )
        check_correction(self)
        check_batch(self, least=2)
        check_staleness(self)
        # Episodes of an evaluation are played by the rollout engine, in groups of one.
        if self.num_generations_eval is None:
            self.num_generations_eval = 1
        super().__post_init__()
        check_scaling(self)


def defaults_for(
    config: type[AgentDefaults], model: str, *, adapter: bool = False
) -> dict[str, Any]:
    """Return what a command that trains a model has in place of a config's own defaults.

    Args:
        config: the algorithm's.
        model: the model's name, as given; a folder of a model of ours has that model's.
        adapter: an adapter alone is trained.
    """
    name = own_name(model)
    chosen = dict(config.own_defaults.get(name, {}))
    if adapter:
        others = OTHERS if name not in MODEL_NAMES else name
        chosen |= config.adapter_defaults.get(others, {})
    if gains_by_bfloat16(model):
        chosen["bf16"] = True
    return chosen


def derive_evaluation(args: Any) -> None:
    """Checkpoint where there is an evaluation, and look for the best only where both are there."""
    if args.save_strategy is None:
        args.save_strategy = "steps" if args.eval_strategy == "no" else args.eval_strategy
    if args.save_steps is None:
        args.save_steps = args.eval_steps or 50
    if "no" in (args.eval_strategy, args.save_strategy):
        args.load_best_model_at_end = False
    if args.eval_strategy == "no" and args.metric_for_best_model == SUCCESS_METRIC:
        args.metric_for_best_model = None
