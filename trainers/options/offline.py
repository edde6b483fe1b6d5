"""TRL's configs with our defaults for SFT, AgentEvol and DPO, which learn from saved episodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trl import DPOConfig, SFTConfig

from trainers.options.checks import DPO, PREFERENCE_LOSSES, SFT, Refusals
from trainers.options.defaults import OTHERS, AgentDefaults, rates_by_model
from trainers.options.models import SMOLLM2, SMOLLM2_TEXTCRAFT, TINY


@dataclass
class AgentSFTConfig(AgentDefaults, SFTConfig):
    """`trl.SFTConfig` with defaults for agents. Whole episodes are trained on, never cut."""

    common_options: ClassVar[tuple[str, ...]] = ("num_train_epochs",)
    own_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        TINY: {"learning_rate": 1e-3},
        **dict.fromkeys(
            (SMOLLM2, SMOLLM2_TEXTCRAFT),
            {
                "learning_rate": 1e-4,
                "per_device_train_batch_size": 1,
                "gradient_accumulation_steps": 8,
            },
        ),
    }
    adapter_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        **dict.fromkeys((SMOLLM2, SMOLLM2_TEXTCRAFT), {"learning_rate": 5e-4}),
        OTHERS: {"learning_rate": 2e-4},
    }
    refused: ClassVar[Refusals] = SFT

    output_dir: str | None = field(
        default="runs/sft", metadata={"help": "Where checkpoints, logs and the model go."}
    )
    num_train_epochs: float = field(default=3.0, metadata={"help": "Passes over the episodes."})
    learning_rate: float = field(
        default=2e-5,
        metadata={"min": 0, "help": rates_by_model(2e-5, own_defaults, adapter_defaults)},
    )
    per_device_train_batch_size: int = field(
        default=8, metadata={"help": "Episodes per forward and backward pass and device.", "min": 1}
    )
    gradient_accumulation_steps: int = field(
        default=1, metadata={"help": "Passes per optimizer step.", "min": 1}
    )
    train_sampling_strategy: str = field(
        default="group_by_length",
        metadata={"help": "Order of episodes: random, sequential, or group_by_length (faster)."},
    )
    max_length: int | None = field(
        default=None, metadata={"help": "Cut episodes after so many tokens; by default never."}
    )
    logging_steps: float = field(default=10, metadata={"help": "Log every N optimizer steps."})
    eval_steps: float | None = field(
        default=100, metadata={"help": "Evaluate every N optimizer steps."}
    )


@dataclass
class AgentEvolConfig(AgentSFTConfig):
    """`AgentSFTConfig` for the fine-tuning of one round, which counts its steps anew."""

    common_options: ClassVar[tuple[str, ...]] = ()
    own_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        **AgentSFTConfig.own_defaults,
        TINY: {"learning_rate": 2e-4},
    }
    learning_rate: float = field(
        default=2e-5,
        metadata={
            "min": 0,
            "help": rates_by_model(2e-5, own_defaults, AgentSFTConfig.adapter_defaults),
        },
    )

    output_dir: str | None = field(
        default="runs/agentevol", metadata={"help": "Where the rounds and the model go."}
    )
    num_train_epochs: float = field(
        default=1.0, metadata={"help": "Passes over a round's episodes."}
    )
    eval_strategy: str = field(
        default="epoch", metadata={"help": "When to evaluate within a round: no, steps or epoch."}
    )


@dataclass
class AgentDPOConfig(AgentDefaults, DPOConfig):
    """`trl.DPOConfig` with defaults for agents. Whole episodes are trained on, never cut."""

    common_options: ClassVar[tuple[str, ...]] = ("num_train_epochs", "beta")
    own_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        TINY: {"learning_rate": 3e-5},
        **dict.fromkeys(
            (SMOLLM2, SMOLLM2_TEXTCRAFT),
            {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16},
        ),
    }
    adapter_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {OTHERS: {"learning_rate": 1e-5}}
    refused: ClassVar[Refusals] = DPO

    output_dir: str | None = field(
        default="runs/dpo", metadata={"help": "Where checkpoints, logs and the model go."}
    )
    num_train_epochs: float = field(default=3.0, metadata={"help": "Passes over the pairs."})
    learning_rate: float = field(
        default=1e-6,
        metadata={"min": 0, "help": rates_by_model(1e-6, own_defaults, adapter_defaults)},
    )
    beta: float = field(
        default=0.1,
        metadata={"help": "How much the policy is held to the reference.", "min": 0},
    )
    loss_type: list[str] = field(
        default_factory=lambda: ["sigmoid"],
        metadata={
            "help": "The loss of a pair, or several that are summed.",
            "choices": list(PREFERENCE_LOSSES),
        },
    )
    per_device_train_batch_size: int = field(
        default=4, metadata={"help": "Pairs per forward and backward pass and device.", "min": 1}
    )
    gradient_accumulation_steps: int = field(
        default=4, metadata={"help": "Passes per optimizer step.", "min": 1}
    )
    max_length: int | None = field(
        default=None,
        metadata={"help": "Leave out pairs of longer episodes, in tokens; by default the context."},
    )
    precompute_ref_log_probs: bool = field(
        default=True,
        metadata={"help": "Ask the reference once, before training; else keep a copy of it."},
    )
    remove_unused_columns: bool = field(
        default=False, metadata={"help": "Must stay off: the masks are such columns."}
    )
    logging_steps: float = field(default=10, metadata={"help": "Log every N optimizer steps."})
    eval_steps: float | None = field(
        default=50, metadata={"help": "Evaluate every N optimizer steps."}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        args: Any = self  # with TRL's fields
        if args.sync_ref_model and self.precompute_ref_log_probs:
            raise ValueError(
                "sync_ref_model moves the reference, whose log-probabilities are computed once by "
                "default; pass `precompute_ref_log_probs=false` with it"
            )
