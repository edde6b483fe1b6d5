"""The algorithms of `agentgym train`: options and defaults of those that play, and their parser.

No TRL here, for the reason that `defaults` gives.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trainers.options.arguments import (
    EnvArguments,
    EvaluationArguments,
    RolloutArguments,
    RunArguments,
)
from trainers.options.checks import GRPO, NOT_GROUP_RELATIVE, Refusals, check_sampling
from trainers.options.data import AgentEvolArguments, DataArguments, PairArguments
from trainers.options.defaults import (
    OTHERS,
    PER_ENVIRONMENT,
    AgentDefaults,
    OnlineDefaults,
)
from trainers.options.errors import check_bounds
from trainers.options.models import TINY, ModelDefaults
from trainers.options.offline import AgentEvolDefaults, DPODefaults, SFTDefaults
from trainers.options.parser import CommandParser

BASELINES = ("none", "group")
CRITICS = ("own", "shared", "head")
GAE_LEVELS = ("token", "turn")
TURN_CREDITS = ("none", "gigpo", "hgpo", "gagpo", "empg", "returns", "information_gain")
TURN_ANCHORS = ("observation", "valid", "history", "similar")


@dataclass
class GRPODefaults(OnlineDefaults):
    """Of GRPO and the methods that credit its turns."""

    common_options: ClassVar[tuple[str, ...]] = ("num_generations", "turn_credit")
    refused: ClassVar[Refusals] = GRPO

    output_dir: str | None = field(
        default="runs/grpo", metadata={"help": "Where checkpoints, logs and the model go."}
    )
    turn_credit: str = field(
        default="none",
        metadata={
            "help": "How turns are credited: all as their episode (none), beside it with those of "
            "the same state (gigpo) or, in place of it, of the same recent history (hgpo), by GAE "
            "over grouped values (gagpo), by the policy's entropy (empg), by the rewards to come "
            "(returns), or by how much likelier they made the right answer (information_gain).",
            "choices": list(TURN_CREDITS),
        },
    )
    turn_advantage_weight: float = field(
        default=0.0,
        metadata={
            "help": "Weight of the turns' own advantages (GiGPO's omega), 1 with --turn_credit "
            "gigpo; another weight than 0 asks for gigpo by itself."
        },
    )
    turn_discount: float = field(
        default=0.95,
        metadata={"help": "Discount per turn of the turns' own returns.", "min": 0, "max": 1},
    )
    turn_anchor: str = field(
        default="observation",
        metadata={
            "help": "What tells the state that turns are compared in: the observation, the one "
            "behind the last valid action (valid), all that was read (history), or observations of "
            "mostly the same words (similar).",
            "choices": list(TURN_ANCHORS),
        },
    )
    turn_similarity: float = field(
        default=0.9,
        metadata={
            "help": "Share of words that similar observations have in common.",
            "min": 0,
            "max": 1,
        },
    )
    turn_context: int = field(
        default=2, metadata={"help": "Earlier states that HGPO compares too.", "min": 0}
    )
    turn_lam: float = field(
        default=0.95, metadata={"help": "GAE's lambda per turn (GAGPO).", "min": 0, "max": 1}
    )
    kept_variance: float = field(
        default=1.0,
        metadata={
            "help": "Train on the fewest groups that hold this share of the sum of the groups' "
            "standard deviations of rewards (RAGEN-2's filter); 1 keeps all.",
            "min": 0,
            "max": 1,
        },
    )

    branch_roots: int = field(
        default=0,
        metadata={
            "help": "Play so many episodes of a group from the start, 2 or more, and let the "
            "others branch from these at turns of which the policy was least sure; 0 plays all "
            "from the start.",
            "min": 0,
        },
    )
    dynamic_sampling: float = field(
        default=1.0,
        metadata={
            "help": "Play further tasks for groups whose episodes were paid the same, up to so "
            "many times the batch in all (DAPO's dynamic sampling); 1 plays none.",
            "min": 1,
        },
    )

    def __post_init__(self) -> None:
        if self.turn_credit == "none" and self.turn_advantage_weight != 0:
            self.turn_credit = "gigpo"
        if self.turn_credit == "gigpo" and self.turn_advantage_weight == 0:
            self.turn_advantage_weight = 1.0
        super().__post_init__()
        check_sampling(self)


@dataclass
class RLOODefaults(OnlineDefaults):
    """Of RLOO, whose `scale_rewards` is nothing or the environment's."""

    refused: ClassVar[Refusals] = NOT_GROUP_RELATIVE

    common_options: ClassVar[tuple[str, ...]] = ("num_generations",)

    output_dir: str | None = field(
        default="runs/rloo", metadata={"help": "Where checkpoints, logs and the model go."}
    )


@dataclass
class ReinforcePPDefaults(OnlineDefaults):
    """Of REINFORCE++; `scale_rewards` takes only the environment's."""

    common_options: ClassVar[tuple[str, ...]] = ("num_generations", "baseline")

    refused: ClassVar[Refusals] = NOT_GROUP_RELATIVE

    output_dir: str | None = field(
        default="runs/reinforce_pp", metadata={"help": "Where checkpoints, logs and the model go."}
    )
    baseline: str = field(
        default="none",
        metadata={
            "help": "What a return is compared with: nothing, the plain algorithm with the KL in "
            "the reward, or its group's mean.",
            "choices": list(BASELINES),
        },
    )

    @property
    def compares_groups(self) -> bool:
        """See `OnlineDefaults`."""
        return self.baseline == "group"


@dataclass
class PPODefaults(OnlineDefaults):
    """Of PPO; `scale_rewards` takes only the environment's."""

    common_options: ClassVar[tuple[str, ...]] = ("critic", "critic_learning_rate", "lam")
    own_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        **OnlineDefaults.own_defaults,
        TINY: {"learning_rate": 3e-4, "critic_learning_rate": 1e-3},
    }
    adapter_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        name: own if name == OTHERS else {**own, "critic_learning_rate": 1e-3}
        for name, own in OnlineDefaults.adapter_defaults.items()
    }
    refused: ClassVar[Refusals] = NOT_GROUP_RELATIVE

    output_dir: str | None = field(
        default="runs/ppo", metadata={"help": "Where checkpoints, logs and the model go."}
    )
    num_generations: int | None = field(
        default=1,
        metadata={"help": "Episodes per task in a batch; PPO compares none, so 1."},
    )
    num_iterations: int = field(
        default=2, metadata={"help": "Times that each batch of episodes is trained on."}
    )
    loss_type: str = field(
        default="dapo", metadata={"help": "How token losses are averaged: over the batch's tokens."}
    )
    critic: str = field(
        default="own",
        metadata={
            "help": "own: a backbone of its own. shared: a head on the policy's, which the value "
            "loss trains too. head: the same head, with a value loss that stops there.",
            "choices": list(CRITICS),
        },
    )
    critic_model: str | None = field(
        default=None, metadata={"help": "Backbone of the critic; by default a copy of the policy."}
    )
    critic_learning_rate: float | None = field(
        default=None,
        metadata={
            "help": "By default ten times --learning_rate; 0.001 for tiny and for an adapter of "
            "smollm2."
        },
    )
    critic_warmup_steps: int = field(
        default=0, metadata={"help": "First steps that train the critic alone.", "min": 0}
    )
    vf_coef: float = field(default=0.5, metadata={"help": "Weight of the value loss.", "min": 0})
    cliprange_value: float = field(
        default=0.2,
        metadata={"help": "How far values move per batch before clipping; 0 = free.", "min": 0},
    )
    gae_level: str = field(
        default="token",
        metadata={
            "help": "Credit tokens, or turns as a whole, with one value each at their first token.",
            "choices": list(GAE_LEVELS),
        },
    )
    gamma: float = field(
        default=1.0, metadata={"help": "Discount per token, or per turn.", "min": 0, "max": 1}
    )
    lam: float = field(
        default=1.0, metadata={"help": "GAE's lambda, of the advantages.", "min": 0, "max": 1}
    )
    critic_lam: float = field(
        default=1.0, metadata={"help": "GAE's lambda, of value targets.", "min": 0, "max": 1}
    )
    whiten_advantages: bool = field(
        default=True, metadata={"help": "Mean 0 and variance 1 over the batch's sampled tokens."}
    )
    kl_in_reward: bool = field(
        default=False, metadata={"help": "With --beta: the KL in the reward, not in the loss."}
    )
    bootstrap_truncated: bool = field(
        default=False, metadata={"help": "End a truncated episode with its last state's value."}
    )

    @property
    def compares_groups(self) -> bool:
        """See `OnlineDefaults`."""
        return False

    def __post_init__(self) -> None:
        check_bounds(self)
        _check(self)
        if self.critic_learning_rate is None:
            self.critic_learning_rate = 10 * self.learning_rate
        # TRL wants groups, since GRPO compares; a group of the whole batch passes its check.
        alone = self.num_generations == 1
        if alone:
            args: Any = self  # with TRL's fields
            per_process = args.steps_per_generation or self.gradient_accumulation_steps
            batch = args.generation_batch_size or self.per_device_train_batch_size * per_process
            if batch == 1:
                raise ValueError(
                    "a batch must hold 2 episodes at least, got 1; raise "
                    "per_device_train_batch_size or gradient_accumulation_steps"
                )
            self.num_generations = max(batch, 2)
        super().__post_init__()
        if alone:
            self.num_generations = 1


def _check(args: PPODefaults) -> None:
    if args.kl_in_reward and not args.beta:
        raise ValueError("kl_in_reward moves the KL that beta weighs, got beta=0; pass `beta` too")
    if args.critic_model is not None and args.critic != "own":
        raise ValueError(
            f"critic_model {args.critic_model!r} is a backbone of its own, which "
            f"critic={args.critic!r} has not; leave out one of the two"
        )
    if args.scale_rewards == PER_ENVIRONMENT and not args.whiten_advantages:
        raise ValueError(
            f"scale_rewards={PER_ENVIRONMENT} says over what advantages are whitened, got "
            "whiten_advantages=False; leave out one of the two"
        )


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as `--help` and the list of commands need it, without importing it.

    Attributes:
        description: what its command does.
        defaults: its options, less those that `--help` does not show.
        trl_config: the config of TRL's whose options it takes too.
        further: dataclasses of the command's further options.
    """

    description: str
    defaults: type[AgentDefaults]
    trl_config: str
    further: tuple[type, ...] = ()


ALGORITHMS = {
    "agentevol": Algorithm(
        "Let a policy explore, keep what succeeds, and imitate it, in rounds.",
        AgentEvolDefaults,
        "SFTConfig",
        (AgentEvolArguments,),
    ),
    "dpo": Algorithm(
        "Train a policy by DPO to prefer the better of two episodes.",
        DPODefaults,
        "DPOConfig",
        (PairArguments,),
    ),
    "grpo": Algorithm(
        "Train a policy by GRPO on the episodes it plays.", GRPODefaults, "GRPOConfig"
    ),
    "ppo": Algorithm(
        "Train a policy and a critic by PPO on the episodes the policy plays.",
        PPODefaults,
        "GRPOConfig",
    ),
    "reinforce_pp": Algorithm(
        "Train a policy by REINFORCE++ on the episodes it plays.",
        ReinforcePPDefaults,
        "GRPOConfig",
    ),
    "rloo": Algorithm(
        "Train a policy by RLOO on the episodes it plays.", RLOODefaults, "GRPOConfig"
    ),
    "sft": Algorithm(
        "Train a policy to imitate episodes: the expert's, or collected ones.",
        SFTDefaults,
        "SFTConfig",
        (DataArguments,),
    ),
}
"""Ours, by name; `trainers.installed_trainers` lists other packages' too."""


def training_parser(
    algorithm: str,
    *,
    description: str,
    config: type,
    trl_config: str,
    model: type,
    further: tuple[type, ...] = (),
) -> CommandParser:
    """Return the parser of a training command; see `trainers.command.parse_training`."""
    return CommandParser(
        (
            *(EnvArguments, RolloutArguments, EvaluationArguments, RunArguments),
            *(*further, model, config),
        ),
        command=f"agentgym train {algorithm}",
        description=description,
        first=("env", "model_name_or_path", "output_dir", "max_steps", "learning_rate"),
        config_name=trl_config,
    )


def help_page(name: str) -> str:
    """Return what `agentgym train NAME --help` shows; of one of ours."""
    algorithm = ALGORITHMS[name]
    parser = training_parser(
        name,
        description=algorithm.description,
        config=algorithm.defaults,
        trl_config=algorithm.trl_config,
        model=ModelDefaults,
        further=algorithm.further,
    )
    parser.set_defaults(**algorithm.defaults.own_defaults.get(TINY, {}))
    return parser.format_help()


def answer_help(name: str) -> None:
    """Show an algorithm's help page and end, where the process's command line asks for it."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(help_page(name), end="")
        raise SystemExit(0)
