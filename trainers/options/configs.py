"""TRL's configs with our defaults: the shared ones, the model's, and the online algorithms'.

The one place where defaults differ from TRL's, with `offline`. TRL's most used options are declared
again, for `--help`; its other options stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from trl import GRPOConfig, ModelConfig

from agentgym_envs.machinery.secrets import hide_address, keep_out, masked
from trainers.options.checks import (
    BY_MEAN,
    CORRECTIONS,
    MUON,
    OUR_CORRECTIONS,
    PER_ENVIRONMENT,
    SUMMED,
    batch_size,
    check_batch,
    check_correction,
    check_experts,
    check_groups,
    check_optimizer,
    check_trackers,
    check_training,
    refuse_conflicts,
    refuse_ignored,
)
from trainers.options.models import (
    MODEL_NAMES,
    SMOLLM2,
    TINY,
    TemplateArguments,
    derive_device,
    gains_by_bfloat16,
    own_name,
)
from trainers.options.values import ADDRESS, check_bounds, option
from trainers.tokens.generation import Sampling

SUCCESS_METRIC = "eval_success"
SELF = "self"
"""The teacher that is the policy as it is now."""
OTHERS = "another model"
"""The key in `adapter_defaults` of every model without a name in `MODEL_NAMES`.

Its adapter learns at ten times the rate of all its weights: Schulman et al., "LoRA Without Regret"
(2025).
"""
LOSSES = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo", "vespo")
_OPTIMIZERS_OF_A_MODEL = ("adalomo", "apollo", "galore", "lomo")
"""Optimizers that transformers can only look up once there is a model."""


DefaultsByModel = Mapping[str, dict[str, Any]]
"""By the name of a model: options that have another default with it."""


def rates_by_model(default: float, own: DefaultsByModel, adapters: DefaultsByModel) -> str:
    """Return the help of `learning_rate`, with its defaults by model."""
    texts = []
    for name in (TINY, SMOLLM2, OTHERS):
        rate = own.get(name, {}).get("learning_rate", default)
        adapter = adapters.get(name, {}).get("learning_rate", rate)
        texts.append(f"{name} {rate:g}" + f" ({adapter:g} with --use_peft)" * (adapter != rate))
    return f"Learning rate at the start. By default it goes by the model: {', '.join(texts)}."


@dataclass
class AgentDefaults(TemplateArguments):
    """The defaults that all our training configs share, a mixin before TRL's config.

    On a machine without an accelerator a run computes on the CPU, in float32 unless `bf16` is set,
    and checkpoints gradients only where a pass is large. Evaluation, checkpoints and the best model
    go by `eval_success`.
    """

    _argument_group_name: ClassVar[str] = "training"
    common_options: ClassVar[tuple[str, ...]] = (
        *("output_dir", "max_steps", "learning_rate", "per_device_train_batch_size"),
        *("gradient_accumulation_steps", "eval_steps", "seed"),
    )

    own_defaults: ClassVar[DefaultsByModel] = {}
    """Other defaults of a model, by its name in `MODEL_NAMES`."""
    adapter_defaults: ClassVar[DefaultsByModel] = {}
    """Further defaults of its adapters. `OTHERS` has those of all other models."""

    refused: ClassVar[tuple[str, ...]] = ()
    """Tables of `refused.toml` with options that would be ignored."""

    max_steps: int = option(-1, "Optimizer steps; -1 leaves it to --num_train_epochs.")
    seed: int = option(42, "Seed of everything that is drawn.", min=0, max=2**32 - 1)
    gradient_checkpointing: bool | None = option(
        None, "Save memory; default: on an accelerator, and on a CPU for passes beyond 2 GB."
    )
    eval_strategy: str = option("steps", "When to evaluate: no, steps or epoch.")
    optim: str = option(
        "adamw_torch_fused",
        "Optimizer: one of transformers', or muon, which is Muon for the hidden matrices and AdamW "
        "for the rest.",
    )
    save_strategy: str | None = option(None, "When to checkpoint; by default at every evaluation.")
    save_steps: float | None = option(None, "Checkpoint every N steps; by default as --eval_steps.")
    save_total_limit: int | None = option(2, "Checkpoints on disk, always with the best one.")
    load_best_model_at_end: bool | None = option(True, "End with the best checkpoint.")
    metric_for_best_model: str | None = option(SUCCESS_METRIC, "Metric of the best checkpoint.")
    log_weight_changes: bool = option(False, "Log the share of changed weights.")
    ddp_timeout: int = option(86_400, "Seconds that processes wait for each other.")

    def __post_init__(self) -> None:
        check_bounds(self)
        refuse_ignored(self, self.refused)
        self.check_template()
        derive_device(self)
        derive_evaluation(self)
        check_training(self)
        args: Any = self  # with TRL's fields
        is_muon = args.optim == MUON  # which transformers does not know
        check_optimizer(args)
        args.optim = "adamw_torch" if is_muon else args.optim
        super().__post_init__()  # type: ignore[misc]
        if is_muon:
            args.optim = MUON
        elif not args.optim.startswith(_OPTIMIZERS_OF_A_MODEL):
            from transformers import Trainer

            Trainer.get_optimizer_cls_and_kwargs(args)  # raises where its package is missing
        check_trackers(getattr(self, "report_to", []))
        keep_out(getattr(self, "hub_token", None))

    @property
    def device(self) -> Any:
        """The model's device.

        Of several processes on a CPU each has a numbered one, such as `cpu:0`, which torch cannot
        load a checkpoint's optimizer to.
        """
        device = super().device  # type: ignore[misc]
        return type(device)("cpu") if device.type == "cpu" else device

    def __getstate__(self) -> dict[str, Any]:
        """Return the contents of a checkpoint's `training_args.bin`, without secrets."""
        values = {name: value for name, value in vars(self).items() if name != "to_dict"}
        return {**masked(values), "hub_token": None}


def defaults_for(
    config: type[AgentDefaults], model: str, *, adapter: bool = False
) -> dict[str, Any]:
    """Return a command's defaults for a model's name, in place of its config's own.

    A folder of a model of ours has that model's. `adapter`: an adapter alone is trained.
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
    """Checkpoint at evaluations by default, and load the best model only with both."""
    if args.save_strategy is None:
        args.save_strategy = "steps" if args.eval_strategy == "no" else args.eval_strategy
    if args.save_steps is None:
        args.save_steps = args.eval_steps or 50
    if "no" in (args.eval_strategy, args.save_strategy):
        args.load_best_model_at_end = False
    if args.eval_strategy == "no" and args.metric_for_best_model == SUCCESS_METRIC:
        args.metric_for_best_model = None


@dataclass
class ModelArguments(ModelConfig):
    """`trl.ModelConfig` with a default model."""

    _argument_group_name: ClassVar[str] = "model"
    common_options: ClassVar[tuple[str, ...]] = ("model_name_or_path", "dtype", "use_peft")

    model_name_or_path: str | None = option(
        TINY,
        "Hugging Face id, folder, GGUF file, tiny (shipped), smollm2 (SmolLM2-135M-Instruct, "
        "fetched once, 93 MB), or smollm2-textcraft (the same after some of TextCraft's expert "
        "episodes).",
        aliases=["--model"],
    )
    dtype: str | None = option(
        None,
        "Precision of the weights; default: bfloat16 with --use_peft and --bf16, else float32.",
        choices=["auto", "bfloat16", "float16", "float32"],
    )
    use_peft: bool = option(False, "Train a LoRA adapter (peft).")
    lora_r: int = option(16, "Rank of the LoRA adapter.", min=1)
    # 0, so that sampling and training see one distribution.
    lora_dropout: float = option(0.0, "Dropout of the LoRA adapter.", min=0, max=1)

    def __post_init__(self) -> None:
        check_bounds(self)
        refuse_ignored(self, ["model"])
        name = str(self.model_name_or_path)
        if name in MODEL_NAMES or Path(name).exists():
            revision = getattr(self, "model_revision", None)
            if revision not in (None, "main"):
                raise ValueError(f"model_revision={revision} is of a hub, got the model {name}")
        super().__post_init__()  # type: ignore[misc]
        modules: Any = getattr(self, "lora_target_modules", None)
        # TRL makes one name a string, which peft takes as a pattern of the module's whole path.
        if isinstance(modules, str) and modules.isidentifier():
            self.lora_target_modules = [modules]


@dataclass
class AgentOnlineConfig(AgentDefaults, GRPOConfig):
    """`trl.GRPOConfig` with defaults for agents, extended by each algorithm that plays."""

    common_options: ClassVar[tuple[str, ...]] = ("temperature", "beta")
    own_defaults = {
        TINY: {"learning_rate": 3e-4},
        SMOLLM2: {
            "learning_rate": 4e-5,
            "per_device_train_batch_size": 1,
            "gradient_accumulation_steps": 64,
        },
    }
    adapter_defaults = {
        SMOLLM2: {"learning_rate": 4e-4},
        OTHERS: {"learning_rate": 1e-5},
    }
    refused: ClassVar[tuple[str, ...]] = ("every_trainer", "online", "reference")
    conflicts: ClassVar[tuple[str, ...]] = ("online",)
    takes_single_episodes: ClassVar[bool] = False
    """A task may have one episode in a batch, since none are compared."""

    output_dir: str | None = option("runs/online", "Where checkpoints, logs and the model go.")
    learning_rate: float = option(1e-6, rates_by_model(1e-6, own_defaults, adapter_defaults), min=0)
    per_device_train_batch_size: int = option(8, "Episodes per pass and device.", min=1)
    gradient_accumulation_steps: int = option(8, "Passes per optimizer step.", min=1)
    num_generations: int | None = option(8, "Episodes per task, the group of a baseline.")
    temperature: float = option(1.0, "Temperature of the episodes, and of the loss.")
    beta: float = option(0.0, "Weight of the KL to the start; 0 loads no reference model.")
    kl_clip: float = option(
        10.0,
        "With --beta: bound of each token's KL in nats, beyond which it has no gradient; 0 = none.",
        min=0,
    )
    top_k: int = option(0, "Sample among the k likeliest tokens, in evaluations too; 0: all.")
    top_p: float = option(
        1.0,
        "Sample among the likeliest tokens with this share of the probability. The loss is over "
        "all tokens: sampling/sampling_logp_difference/mean includes the probability that is cut "
        "off.",
    )
    min_p: float | None = option(None, "Least probability of a token, relative to the likeliest.")
    max_completion_length: int | None = option(
        512,
        "Divisor of --loss_type dr_grpo, refused with other losses. No bound: see "
        "--max_tokens_per_episode.",
    )
    loss_type: str = option("grpo", "How token losses are averaged.", choices=LOSSES)
    lr_scheduler_type: str = option("constant", "Learning rate schedule, such as linear or cosine.")
    scale_rewards: str | None = option(
        "group",
        "Divisor of an advantage: environment is the deviation of its environment's returns in the"
        " batch. The others are for grpo.",
        choices=["group", "batch", PER_ENVIRONMENT, BY_MEAN, "none"],
    )
    multi_objective_aggregation: str = option(
        SUMMED, "When reward functions are summed.", choices=[SUMMED, "normalize_then_sum"]
    )
    importance_sampling_level: str = option(
        "token", "Unit of a probability ratio.", choices=["token", "sequence"]
    )
    disable_dropout: bool = option(True, "Train without dropout, as episodes are sampled.")
    vllm_importance_sampling_correction: bool = option(
        True, "Weigh the loss by trained over sampled probabilities, on any --backend."
    )
    # TRL's own default, sequence_mask: nearly always out of bounds over an episode of many turns.
    vllm_importance_sampling_mode: str = option(
        "token_truncate",
        "Unit of a ratio (a sequence is an episode, or one of its token windows), and how one out"
        " of bounds is treated. geometric_mask masks sequences by the geometric mean of their "
        "tokens' ratios, and weighs no other.",
        choices=[*CORRECTIONS, *OUR_CORRECTIONS],
    )
    max_staleness: int = option(
        0,
        "Play the next episodes during the update, with weights at most N optimizer steps old; "
        "needs --backend vllm_server, or --carry_over.",
        min=0,
    )
    carry_over: bool = option(
        False,
        "With --max_staleness, on any --backend: play twice the batch and begin each step when "
        "half of the groups are complete; the others continue in the next.",
    )
    logging_steps: float = option(1, "Log every N optimizer steps.")
    invalid_action_penalty: float = option(
        0.0, "Subtracted from the reward of every invalid action."
    )
    task_sampling: str = option(
        "uniform",
        "Draw tasks uniformly, or those that the policy sometimes solves (learnable).",
        choices=("uniform", "learnable"),
    )
    observation_loss_weight: float = option(
        0.0, "Weight of the cross-entropy on observations, such as 0.1: a world model.", min=0
    )
    reset_adapter_every: int = option(
        0,
        "With --use_peft: merge the adapter into its base, the reference of --beta, and begin a"
        " new one every N optimizer steps (ReLoRA); --dtype is float32 by default then. 0: never.",
        min=0,
    )
    expert_episodes: int = option(
        0,
        "Of the episodes of each group, this many are the expert's, trained on off-policy as in "
        "LUFFY; grpo and rloo.",
        min=0,
    )
    expert_episodes_when: str = option(
        "always",
        "Groups with --expert_episodes: all, or those in which the policy has no success.",
        choices=("always", "unsolved"),
    )
    eval_steps: float | None = option(50, "Evaluate every N optimizer steps.")

    @property
    def compares_groups(self) -> bool:
        """Groups with equal rewards teach nothing, since the advantage compares them alone."""
        return not self.expert_episodes

    def __post_init__(self) -> None:
        check_bounds(self)  # here too, for what follows compares numbers
        Sampling.from_args(self)  # checks its own
        if not self.temperature > 0:
            raise ValueError(
                f"temperature must be > 0, since the loss divides by it, got {self.temperature}; "
                "evaluations may be greedy: `EvaluationArguments.eval_temperature=0`"
            )
        check_correction(self)
        args: Any = self  # with TRL's fields
        # TRL wants groups, since GRPO compares; a group of the whole batch passes its check.
        is_single = self.takes_single_episodes and args.num_generations == 1
        if is_single:
            args.num_generations = max(batch_size(self), 2)
        check_groups(self)
        # Episodes of an evaluation are played by the rollout engine, in groups of one.
        if args.num_generations_eval is None:
            args.num_generations_eval = 1
        super().__post_init__()
        check_batch(self)
        check_experts(self)
        refuse_conflicts(self, self.conflicts)
        if is_single:
            self.num_generations = 1


@dataclass
class AgentGRPOConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for GRPO and the methods that credit its turns."""

    common_options = ("num_generations", "turn_credit")
    refused = (*AgentOnlineConfig.refused, "grpo")
    conflicts = ("online", "grpo")

    output_dir: str | None = option("runs/grpo", "Where checkpoints, logs and the model go.")
    turn_credit: str = option(
        "none",
        "Credit of turns: as their episode (none); also among turns in the same state (gigpo); "
        "only among turns with the same recent history (hgpo); by GAE over grouped values "
        "(gagpo), the policy's entropy (empg), rewards to come (returns), or the gain in "
        "likelihood of the right answer (information_gain).",
        choices=("none", "gigpo", "hgpo", "gagpo", "empg", "returns", "information_gain"),
    )
    turn_advantage_weight: float = option(
        0.0, "Weight of the turns' own advantages (GiGPO's omega); not 0 implies gigpo."
    )
    turn_discount: float = option(0.95, "Discount per turn of their returns.", min=0, max=1)
    turn_anchor: str = option(
        "observation",
        "State in which turns are compared: the observation, that after the last valid action, "
        "all observations (history), or observations of mostly the same words (similar).",
        choices=("observation", "valid", "history", "similar"),
    )
    turn_similarity: float = option(0.9, "Common words of similar observations.", min=0, max=1)
    turn_context: int = option(2, "Earlier states that HGPO compares too.", min=0)
    turn_lam: float = option(0.95, "GAE's lambda per turn (GAGPO).", min=0, max=1)
    kept_variance: float = option(
        1.0,
        "Train on the fewest groups with this share of the summed deviations of rewards (RAGEN-2).",
        min=0,
        max=1,
    )

    branch_roots: int = option(
        0,
        "Start N episodes of a group at the beginning, and branch the others off at their least "
        "certain turns; 0 starts all at the beginning.",
        min=0,
    )
    dynamic_sampling: float = option(
        1.0, "Replace groups with equal rewards, up to this multiple of the batch (DAPO).", min=1
    )
    scale_rewards: str | None = option(
        None,
        "Divisor of an advantage: the deviation of its group's returns, the batch's, or its "
        "environment's in the batch; the mean of its group's returns (MaxRL); or none. Default: "
        "group, but environment with --invalid_action_penalty.",
        choices=["group", "batch", PER_ENVIRONMENT, BY_MEAN, "none"],
    )

    def __post_init__(self) -> None:
        if self.scale_rewards is None:
            # By the deviation of a group without success, a small penalty is as much as success.
            is_penalty = self.invalid_action_penalty and self.multi_objective_aggregation == SUMMED
            self.scale_rewards = PER_ENVIRONMENT if is_penalty else "group"
        if self.turn_credit == "none" and self.turn_advantage_weight != 0:
            self.turn_credit = "gigpo"
        if self.turn_credit == "gigpo" and self.turn_advantage_weight == 0:
            self.turn_advantage_weight = 1.0
        if self.branch_roots == 1:
            raise ValueError(
                "branch_roots must be >= 2, or 0 for no branches, got 1: all episodes of a group "
                "would share its first turn, which is then compared with no other and never trained"
            )
        super().__post_init__()
        if self.branch_roots and self.branch_roots >= cast(int, self.num_generations):
            raise ValueError(
                f"branch_roots must be below num_generations={self.num_generations}, got "
                f"{self.branch_roots}; the other episodes of a group branch from these"
            )


@dataclass
class AgentRLOOConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for RLOO, whose `scale_rewards` is nothing or the environment's."""

    refused = (*AgentOnlineConfig.refused, "not_group_relative")

    common_options = ("num_generations",)

    output_dir: str | None = option("runs/rloo", "Where checkpoints, logs and the model go.")


@dataclass
class AgentReinforcePPConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for REINFORCE++. `scale_rewards` takes only the environment's."""

    common_options = ("num_generations", "baseline")

    refused = (*AgentOnlineConfig.refused, "not_group_relative", "without_experts")

    output_dir: str | None = option(
        "runs/reinforce_pp", "Where checkpoints, logs and the model go."
    )
    baseline: str = option(
        "none",
        "Baseline of a return: none, with the KL in the reward, or its group's mean.",
        choices=("none", "group"),
    )

    @property
    def compares_groups(self) -> bool:
        """See `AgentOnlineConfig`."""
        return self.baseline == "group"


@dataclass
class AgentPPOConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for PPO. `scale_rewards` takes only the environment's."""

    common_options = ("critic", "critic_learning_rate", "lam")
    own_defaults = {
        **AgentOnlineConfig.own_defaults,
        TINY: {"learning_rate": 3e-4, "critic_learning_rate": 1e-3},
    }
    adapter_defaults = {
        name: own if name == OTHERS else {**own, "critic_learning_rate": 1e-3}
        for name, own in AgentOnlineConfig.adapter_defaults.items()
    }
    refused = (*AgentOnlineConfig.refused, "not_group_relative", "without_experts")
    conflicts = ("online", "ppo")
    takes_single_episodes = True

    output_dir: str | None = option("runs/ppo", "Where checkpoints, logs and the model go.")
    num_generations: int | None = option(1, "Episodes per task in a batch.")
    num_iterations: int = option(2, "Times that each batch of episodes is trained on.")
    critic: str = option(
        "own",
        "A backbone of its own (own), a head on the policy's that trains both (shared), or a head"
        " alone (head).",
        choices=("own", "shared", "head"),
    )
    critic_model: str | None = option(
        None, "Backbone of the critic; default: a copy of the policy."
    )
    critic_learning_rate: float | None = option(
        None, "Default: 10 * --learning_rate; 0.001 for tiny and smollm2's adapters."
    )
    critic_warmup_steps: int = option(0, "First steps that train the critic alone.", min=0)
    vf_coef: float = option(0.5, "Weight of the value loss.", min=0)
    cliprange_value: float = option(0.2, "Clip range of values per batch; 0 = free.", min=0)
    gae_level: str = option(
        "token", "Credit tokens, or turns with one value each.", choices=("token", "turn")
    )
    gamma: float = option(1.0, "Discount per token, or per turn.", min=0, max=1)
    lam: float = option(1.0, "GAE's lambda, of the advantages.", min=0, max=1)
    critic_lam: float = option(1.0, "GAE's lambda, of value targets.", min=0, max=1)
    whiten_advantages: bool = option(True, "Mean 0 and variance 1 over the batch's sampled tokens.")
    kl_in_reward: bool = option(False, "With --beta: the KL in the reward, not in the loss.")
    bootstrap_truncated: bool = option(False, "End truncated episodes with a value.")

    @property
    def compares_groups(self) -> bool:
        """See `AgentOnlineConfig`."""
        return False

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.kl_in_reward and not self.beta:
            raise ValueError(
                "kl_in_reward moves the KL that beta weighs, got beta=0; pass `beta` too"
            )
        if self.critic_model is not None and self.critic != "own":
            raise ValueError(
                f"critic_model {self.critic_model!r} is a backbone of its own, which "
                f"critic={self.critic!r} has not; leave out one of the two"
            )
        if self.critic_learning_rate is None:
            self.critic_learning_rate = 10 * self.learning_rate
        super().__post_init__()


@dataclass
class AgentDistillConfig(AgentOnlineConfig):
    """`AgentOnlineConfig` for on-policy distillation, with TRL's names of the teacher."""

    common_options = ("teacher_model_name_or_path", "teacher_knows")
    refused = ("every_trainer", "online", "distill")
    takes_single_episodes = True

    output_dir: str | None = option("runs/distill", "Where checkpoints, logs and the model go.")
    teacher_model_name_or_path: str | None = option(
        None,
        "The teacher, with the policy's tokenizer: a model as --model takes it, the address of one "
        "that vllm serve serves, or self, the policy as it is now.",
        aliases=["--teacher"],
    )
    teacher_model_revision: str = option("main", "Revision of the teacher on the hub.")
    teacher_knows: str = option(
        "nothing",
        "What the teacher's prompt has beside the policy's: nothing, or the expert's actions.",
        choices=("nothing", "expert"),
    )
    num_generations: int | None = option(1, "Episodes per task in a batch.")
    kl_clip: float = option(
        10.0,
        "Bound of each token's log-ratio to the teacher, and of its KL with --beta, in nats; "
        "0 = none.",
        min=0,
    )

    @property
    def has_served_teacher(self) -> bool:
        """The teacher is a server's, named by its address."""
        return str(self.teacher_model_name_or_path).startswith(ADDRESS)

    @property
    def compares_groups(self) -> bool:
        """See `AgentOnlineConfig`."""
        return False

    def __post_init__(self) -> None:
        if self.teacher_model_name_or_path == SELF and self.teacher_knows == "nothing":
            raise ValueError(
                "teacher_model_name_or_path='self' and teacher_knows='nothing' make the policy its "
                "own teacher, whose log-ratios are 0; pass teacher_knows='expert', or name another "
                "model"
            )
        has_revisions = self.teacher_model_name_or_path != SELF and not self.has_served_teacher
        if self.teacher_model_revision != "main" and not has_revisions:
            raise ValueError(
                f"teacher_model_revision={self.teacher_model_revision} is of a hub, got the "
                f"teacher {self.teacher_model_name_or_path}; leave it out"
            )
        if self.has_served_teacher:
            self.teacher_model_name_or_path = hide_address(str(self.teacher_model_name_or_path))
            if self.temperature != 1:
                raise ValueError(
                    "a served teacher scores at temperature 1, got "
                    f"temperature={self.temperature}; leave it out, or load the teacher here"
                )
        super().__post_init__()
