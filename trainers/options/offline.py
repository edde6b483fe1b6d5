"""TRL's configs with our defaults for training on saved episodes: SFT, AgentEvol and DPO.

And the options of their data: episodes, pairs of them, and AgentEvol's rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from trl import DPOConfig, SFTConfig

from trainers.options.checks import refuse_ignored
from trainers.options.configs import OTHERS, AgentDefaults, rates_by_model
from trainers.options.models import SMOLLM2, TINY
from trainers.options.values import check_bounds, option

PREFERENCE_LOSSES = (
    *("sigmoid", "hinge", "ipo", "exo_pair", "nca_pair", "robust", "bco_pair", "sppo_hard"),
    *("aot", "aot_unpaired", "apo_zero", "apo_down", "discopop", "sft", "sigmoid_norm"),
)
NUM_ROUNDS = 4


@dataclass
class AgentSFTConfig(AgentDefaults, SFTConfig):
    """`trl.SFTConfig` with defaults for agents. Whole episodes are trained on, never cut."""

    common_options: ClassVar[tuple[str, ...]] = ("num_train_epochs",)
    own_defaults = {
        TINY: {"learning_rate": 1e-3},
        SMOLLM2: {
            "learning_rate": 1e-4,
            "per_device_train_batch_size": 1,
            "gradient_accumulation_steps": 8,
        },
    }
    adapter_defaults = {
        SMOLLM2: {"learning_rate": 5e-4},
        OTHERS: {"learning_rate": 2e-4},
    }
    refused = ("every_trainer", "loading", "encoding", "sft")

    output_dir: str | None = option("runs/sft", "Where checkpoints, logs and the model go.")
    num_train_epochs: float = option(3.0, "Passes over the episodes.")
    learning_rate: float = option(2e-5, rates_by_model(2e-5, own_defaults, adapter_defaults), min=0)
    per_device_train_batch_size: int = option(8, "Episodes per pass and device.", min=1)
    gradient_accumulation_steps: int = option(1, "Passes per optimizer step.", min=1)
    train_sampling_strategy: str = option(
        "group_by_length", "Order: random, sequential, or group_by_length."
    )
    max_length: int | None = option(None, "Cut episodes to this many tokens; default: never.")
    logging_steps: float = option(10, "Log every N optimizer steps.")
    eval_steps: float | None = option(100, "Evaluate every N optimizer steps.")


@dataclass
class AgentEvolConfig(AgentSFTConfig):
    """`AgentSFTConfig` for the fine-tuning of one round, which counts its own steps."""

    common_options = ()
    own_defaults = {
        **AgentSFTConfig.own_defaults,
        TINY: {"learning_rate": 2e-4},
    }
    learning_rate: float = option(
        2e-5, rates_by_model(2e-5, own_defaults, AgentSFTConfig.adapter_defaults), min=0
    )

    output_dir: str | None = option("runs/agentevol", "Where the rounds and the model go.")
    num_train_epochs: float = option(1.0, "Passes over a round's episodes.")
    eval_strategy: str = option("epoch", "When to evaluate within a round: no, steps or epoch.")


@dataclass
class AgentDPOConfig(AgentDefaults, DPOConfig):
    """`trl.DPOConfig` with defaults for agents. Whole episodes are trained on, never cut."""

    common_options = ("num_train_epochs", "beta")
    own_defaults = {
        TINY: {"learning_rate": 3e-5},
        SMOLLM2: {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16},
    }
    adapter_defaults = {OTHERS: {"learning_rate": 1e-5}}
    refused = ("every_trainer", "loading", "encoding", "dpo")

    output_dir: str | None = option("runs/dpo", "Where checkpoints, logs and the model go.")
    num_train_epochs: float = option(3.0, "Passes over the pairs.")
    learning_rate: float = option(1e-6, rates_by_model(1e-6, own_defaults, adapter_defaults), min=0)
    beta: float = option(0.1, "How much the policy is held to the reference.", min=0)
    loss_type: list[str] = option(
        ["sigmoid"], "Losses of a pair, summed.", choices=PREFERENCE_LOSSES
    )
    per_device_train_batch_size: int = option(4, "Pairs per pass and device.", min=1)
    gradient_accumulation_steps: int = option(4, "Passes per optimizer step.", min=1)
    max_length: int | None = option(None, "Omit pairs of longer episodes; default: the context.")
    precompute_ref_log_probs: bool = option(True, "Run the reference once, before training.")
    remove_unused_columns: bool = option(False, "Must stay off: the masks are such columns.")
    logging_steps: float = option(10, "Log every N optimizer steps.")
    eval_steps: float | None = option(50, "Evaluate every N optimizer steps.")

    def __post_init__(self) -> None:
        super().__post_init__()
        args: Any = self  # with TRL's fields
        if args.sync_ref_model and self.precompute_ref_log_probs:
            raise ValueError(
                "sync_ref_model moves the reference, whose log-probabilities are computed once by "
                "default; pass `precompute_ref_log_probs=false` with it"
            )


def _trajectory_files(use: str) -> Any:
    """Return the field of files of trajectories, with their use."""
    files = (
        "File of trajectories, ours (JSONL), AgentTraj's or ATIF's (JSON), or a folder of the "
        "last; repeat for several."
    )
    return option([], f"{files} {use}", action="extend")


@dataclass
class DataArguments:
    """The episodes that are imitated."""

    _argument_group_name: ClassVar[str] = "data"

    data: list[str] = _trajectory_files("By default the expert plays the training split of --env.")
    num_episodes: int | None = option(
        None, "Expert episodes without --data; default: one per task.", min=1
    )
    unsuccessful: bool = option(False, "Imitate unsuccessful episodes too.")

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.data:
            refuse_ignored(self, ["nothing_is_played"])


@dataclass
class PairArguments:
    """Source of the preference pairs."""

    _argument_group_name: ClassVar[str] = "pairs"
    common_options: ClassVar[tuple[str, ...]] = ("data", "num_tasks", "num_samples")

    data: list[str] = _trajectory_files(
        "By default the expert plays against the policy's own unsuccessful episodes."
    )
    max_pairs_per_task: int = option(4, "Pairs per task, drawn by --seed; 0 takes all.", min=0)
    min_return_gap: float = option(0.01, "Returns that differ by less are a tie.")
    compared_turns: int = option(0, "Turns compared from where the episodes part; 0 compares all.")
    num_tasks: int = option(0, "Tasks to play without --data; 0 plays the whole split.", min=0)
    num_samples: int = option(4, "Episodes of the policy per task, without --data.", min=1)
    sampling_temperature: float = option(1.0, "Temperature of the policy's episodes.")

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.data:
            refuse_ignored(self, ["nothing_is_played"])


@dataclass
class AgentEvolArguments:
    """The rounds of AgentEvol."""

    _argument_group_name: ClassVar[str] = "evolution"
    common_options: ClassVar[tuple[str, ...]] = (
        *("num_rounds", "num_samples", "data", "expert_episodes"),
    )

    num_rounds: int | None = option(
        None, f"Rounds; by default {NUM_ROUNDS}, or 1 where --max_steps is given.", min=1
    )
    num_samples: int = option(1, "Episodes per task and round.", min=1)
    num_explored_tasks: int = option(0, "Tasks that a round explores; 0 takes all.", min=0)
    exploration_temperature: float = option(1.0, "Temperature of the exploration.", min=0)
    start_from: str = option(
        "initial", "Model that each round fine-tunes.", choices=("initial", "current")
    )
    merge: str = option(
        "base",
        "Add a round's successes to the base set, or to all rounds' too.",
        choices=("base", "all"),
    )
    data: list[str] = _trajectory_files("They are the base set.")
    expert_episodes: int = option(0, "Expert episodes in the base set; -1: one per task.", min=-1)

    def __post_init__(self) -> None:
        check_bounds(self)

    def rounds(self, max_steps: int) -> int:
        """Return the number of rounds, given the bound on a round's steps (<= 0: none)."""
        if self.num_rounds is not None:
            return self.num_rounds
        return 1 if max_steps > 0 else NUM_ROUNDS
