"""Trainers: rollouts with exact tokens, and thin adapters into TRL.

The public names are imported when they are first used, so that playing without a model needs no
torch.
"""

import os
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from trainers.options.errors import explain_missing_extra

# Read once, when torch starts its threads: beside any other busy process, threads that spin while
# they wait made two cores twenty times slower than one.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Read once, when torch first takes memory of a GPU. Keys and values of episodes grow in blocks of
# ever other sizes, and by default torch keeps the freed ones: docs/results/gpu.md has the figures.
if "PYTORCH_CUDA_ALLOC_CONF" not in os.environ:  # its earlier name, which this one would overrule
    os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")

_HOMES = {
    "trainers.agentevol": ("AgentEvol",),
    "trainers.backends.hf": ("HFBackend",),
    "trainers.credit.pairs": ("Pair", "preference_pairs"),
    "trainers.credit.rewards": ("agent_reward",),
    "trainers.distill": ("AgentDistillTrainer",),
    "trainers.dpo": ("AgentDPOTrainer", "sampled_pairs"),
    "trainers.grpo": ("AgentGRPOTrainer",),
    "trainers.history.notes": ("Notes",),
    "trainers.history.summary": ("Summary",),
    "trainers.history.views": ("History", "LastTurns", "View"),
    "trainers.models.fetched": ("tiny_folder",),
    "trainers.command": ("train_and_save", "train_online"),
    "trainers.online": ("OnlineTrainer",),
    "trainers.options.arguments": (
        "EnvArguments",
        "EpisodeArguments",
        "EvaluationArguments",
        "RolloutArguments",
    ),
    "trainers.options.backends": ("BackendSpec", "ModelSource"),
    "trainers.options.configs": (
        "AgentDistillConfig",
        "AgentGRPOConfig",
        "AgentOnlineConfig",
        "AgentPPOConfig",
        "AgentRLOOConfig",
        "AgentReinforcePPConfig",
        "ModelArguments",
    ),
    "trainers.options.offline": (
        "AgentDPOConfig",
        "AgentEvolArguments",
        "AgentEvolConfig",
        "AgentSFTConfig",
        "PairArguments",
    ),
    "trainers.options.errors": ("UsageError", "run_command"),
    "trainers.options.policies": ("PolicyArguments",),
    "trainers.policies.model": ("ModelPolicy",),
    "trainers.policies.open": ("open_environments", "open_policy", "open_rollout"),
    "trainers.policies.scripted": ("ExpertPolicy", "FunctionPolicy", "RandomPolicy", "play"),
    "trainers.ppo": ("AgentPPOTrainer",),
    "trainers.reinforce_pp": ("AgentReinforcePPTrainer",),
    "trainers.rloo": ("AgentRLOOTrainer",),
    "trainers.rollout.environments": ("Environments",),
    "trainers.rollout.rollout": ("Rollout",),
    "trainers.rollout.tool_environments": ("tool_dataset", "tool_environment"),
    "trainers.rollout.policy": ("Episode", "Failure", "Policy", "Reply", "Stop"),
    "trainers.runs.stopping": ("Interrupted",),
    "trainers.sft": ("AgentSFTTrainer", "expert_demonstrations"),
    "trainers.tokens.chat": ("CHATML_TEMPLATE", "ChatFormat"),
    "trainers.tokens.generation": ("Backend", "Generated", "Sampling"),
    "trainers.trl_bridge": ("EpisodeBatch", "make_rollout_func", "task_dataset"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # type: ignore[assignment]

ALGORITHMS = ("agentevol", "distill", "dpo", "grpo", "ppo", "reinforce_pp", "rloo", "sft")
"""Our own, by the names of `agentgym train`."""


def installed_trainers() -> dict[str, str]:
    """Return the algorithms of `agentgym train`, as `module:function` by name.

    Any package may add some, as entry points of the group `agentgym.trainers`.
    """
    others = {entry.name: entry.value for entry in entry_points(group="agentgym.trainers")}
    return {**others, **{name: f"trainers.{name}:main" for name in ALGORITHMS}}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'trainers' has no attribute {name!r}")
    with explain_missing_extra():
        return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
