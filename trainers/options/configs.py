"""TRL's configs with our defaults: the model that is trained, and the algorithms that play.

The one place where defaults differ from TRL's, with `defaults` and `offline`. TRL's most used
options are declared again, for `--help`; its other options stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from trl import GRPOConfig, ModelConfig

from trainers.options.checks import (
    CORRECTIONS,
    GRPO,
    LOSSES,
    MODEL,
    NOT_GROUP_RELATIVE,
    ONLINE,
    OUR_CORRECTIONS,
    SUMMED,
    Refusals,
    check_batch,
    check_correction,
    check_sampling,
    check_scaling,
    check_staleness,
    refuse_ignored,
)
from trainers.options.defaults import (
    BY_MEAN,
    OTHERS,
    PER_ENVIRONMENT,
    AgentDefaults,
    rates_by_model,
)
from trainers.options.errors import check_bounds
from trainers.options.models import MODEL_NAMES, SMOLLM2, SMOLLM2_TEXTCRAFT, TINY
from trainers.tokens.generation import Sampling

TASK_SAMPLINGS = ("uniform", "learnable")
BASELINES = ("none", "group")
CRITICS = ("own", "shared", "head")
GAE_LEVELS = ("token", "turn")
TURN_CREDITS = ("none", "gigpo", "hgpo", "gagpo", "empg", "returns", "information_gain")
TURN_ANCHORS = ("observation", "valid", "history", "similar")


@dataclass
class ModelArguments(ModelConfig):
    """`trl.ModelConfig` with a default model."""

    _argument_group_name: ClassVar[str] = "model"
    common_options: ClassVar[tuple[str, ...]] = ("model_name_or_path", "dtype", "use_peft")

    model_name_or_path: str | None = field(
        default=TINY,
        metadata={
            "help": "Hugging Face id, local folder, GGUF file, tiny, the small policy that is "
            "shipped, smollm2, SmolLM2-135M-Instruct, which is fetched once (93 MB), or "
            "smollm2-textcraft, which has seen some of TextCraft's expert episodes.",
            "aliases": ["--model"],
        },
    )
    dtype: str | None = field(
        default=None,
        metadata={
            "help": "Precision of the weights; by default bfloat16 for those that --use_peft "
            "freezes while --bf16 is on, and float32 otherwise.",
            "choices": ["auto", "bfloat16", "float16", "float32"],
        },
    )
    use_peft: bool = field(default=False, metadata={"help": "Train a LoRA adapter (peft)."})
    lora_r: int = field(default=16, metadata={"help": "Rank of the LoRA adapter.", "min": 1})
    lora_alpha: int = field(default=32, metadata={"help": "Scale of the LoRA adapter."})
    # 0, so that sampling and training see one distribution.
    lora_dropout: float = field(
        default=0.0, metadata={"help": "Dropout of the LoRA adapter.", "min": 0, "max": 1}
    )
    lora_target_modules: list[str] | None = field(
        default=None, metadata={"help": "Modules that get an adapter, such as q_proj v_proj."}
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        refuse_ignored(self, MODEL)
        name = str(self.model_name_or_path)
        if name in MODEL_NAMES or Path(name).exists():
            revision = getattr(self, "model_revision", None)
            if revision not in (None, "main"):
                raise ValueError(f"model_revision={revision} is of a hub, got the model {name}")
        super().__post_init__()  # type: ignore[misc]
        modules: Any = self.lora_target_modules
        # TRL makes one name a string, which peft takes as a pattern of the module's whole path.
        if isinstance(modules, str) and modules.isidentifier():
            self.lora_target_modules = [modules]


@dataclass
class AgentOnlineConfig(AgentDefaults, GRPOConfig):
    """`trl.GRPOConfig` with defaults for agents; each algorithm that plays extends it."""

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


@dataclass
class AgentGRPOConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for GRPO and the methods that credit its turns."""

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
class AgentRLOOConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for RLOO, whose `scale_rewards` is nothing or the environment's."""

    refused: ClassVar[Refusals] = NOT_GROUP_RELATIVE

    common_options: ClassVar[tuple[str, ...]] = ("num_generations",)

    output_dir: str | None = field(
        default="runs/rloo", metadata={"help": "Where checkpoints, logs and the model go."}
    )


@dataclass
class AgentReinforcePPConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for REINFORCE++. `scale_rewards` takes only the environment's."""

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
        """See `AgentOnlineConfig`."""
        return self.baseline == "group"


@dataclass
class AgentPPOConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for PPO. `scale_rewards` takes only the environment's."""

    common_options: ClassVar[tuple[str, ...]] = ("critic", "critic_learning_rate", "lam")
    own_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        **AgentOnlineConfig.own_defaults,
        TINY: {"learning_rate": 3e-4, "critic_learning_rate": 1e-3},
    }
    adapter_defaults: ClassVar[Mapping[str, dict[str, Any]]] = {
        name: own if name == OTHERS else {**own, "critic_learning_rate": 1e-3}
        for name, own in AgentOnlineConfig.adapter_defaults.items()
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
        """See `AgentOnlineConfig`."""
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


def _check(args: AgentPPOConfig) -> None:
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
