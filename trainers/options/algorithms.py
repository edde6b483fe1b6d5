"""The algorithms of `agentgym train`: descriptions, parsers and help pages.

No TRL here: its import takes seconds, which `--help` and the list of commands do not wait for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trainers.options.arguments import (
    EnvArguments,
    EvaluationArguments,
    RolloutArguments,
    RunArguments,
)
from trainers.options.data import AgentEvolArguments, DataArguments, PairArguments
from trainers.options.parser import CommandParser

HELP = Path(__file__).parent / "help"
"""The help pages, which `python -m trainers.NAME --help` makes."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as the list of commands needs it, without importing it.

    Attributes:
        description: what its command does.
        further: dataclasses of the command's further options.
    """

    description: str
    further: tuple[type, ...] = ()


ALGORITHMS = {
    "agentevol": Algorithm(
        "Let a policy explore, keep what succeeds, and imitate it, in rounds.",
        (AgentEvolArguments,),
    ),
    "dpo": Algorithm(
        "Train a policy by DPO to prefer the better of two episodes.",
        (PairArguments,),
    ),
    "grpo": Algorithm("Train a policy by GRPO on the episodes it plays."),
    "ppo": Algorithm(
        "Train a policy and a critic by PPO on the episodes the policy plays.",
    ),
    "reinforce_pp": Algorithm(
        "Train a policy by REINFORCE++ on the episodes it plays.",
    ),
    "rloo": Algorithm("Train a policy by RLOO on the episodes it plays."),
    "sft": Algorithm(
        "Train a policy to imitate episodes: the expert's, or collected ones.",
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
    """Return the help page of a built-in algorithm."""
    return (HELP / f"{name}.txt").read_text(encoding="utf-8")
