"""What our training configs share, whichever of TRL's they extend, and defaults by the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agentgym_envs.machinery.secrets import keep_out, masked
from trainers.options.checks import (
    Refusals,
    check_checkpoints,
    check_length,
    check_trackers,
    refuse_ignored,
)
from trainers.options.errors import check_bounds
from trainers.options.models import (
    MODEL_NAMES,
    SMOLLM2,
    TINY,
    TemplateArguments,
    derive_device,
    gains_by_bfloat16,
    own_name,
)

SUCCESS_METRIC = "eval_success"
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
