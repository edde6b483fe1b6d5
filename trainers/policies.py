"""Who plays: a language model, the expert, or random actions, behind one `play` method.

Text policies need no torch; it is imported only when a model is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from agentgym_envs.trajectory import Trajectory
from trainers.arguments import EpisodeArguments
from trainers.backends.scripted import play
from trainers.environments import Environments
from trainers.seeds import batch_seed
from wrappers.failures import FailureRules

TEXT_POLICIES = ("expert", "random")


class TaskPlayer(Protocol):
    """Plays tasks with one policy."""

    name: str
    """The policy's name, as it stands in trajectories and results."""

    has_temperature: bool
    """The policy samples tokens."""

    def play(
        self, task_ids: Sequence[str], *, temperature: float = 1.0, stream: Sequence[int] = ()
    ) -> list[Trajectory]:
        """Play one episode per task id, in order; `stream` names the random numbers."""


class TextPlayer:
    """The expert, or random actions.

    Args:
        environments: what is played.
        policy: `"expert"` or `"random"`.
        seed: of the random actions.
        failure_rules: when broken episodes stop the run.
    """

    has_temperature = False

    def __init__(
        self,
        environments: Environments,
        policy: str,
        *,
        seed: int = 0,
        failure_rules: FailureRules | None = None,
    ) -> None:
        self.name = policy
        self._envs = environments.with_horizon(None)
        self._seed = seed
        self._rules = failure_rules

    def play(
        self, task_ids: Sequence[str], *, temperature: float = 1.0, stream: Sequence[int] = ()
    ) -> list[Trajectory]:
        """Play one episode per task id, in order."""
        return play(
            self._envs,
            list(task_ids),
            self.name,
            seed=batch_seed(self._seed, stream),
            failure_rules=self._rules,
        )


@dataclass
class PolicyArguments:
    """Who plays.

    Attributes:
        policy: `"expert"`, `"random"`, `"tiny"`, a Hugging Face id or a local folder.
        dtype: the precision a model is loaded in.
    """

    _argument_group_name: ClassVar[str] = "policy"

    policy: str = field(
        default="expert",
        metadata={
            "help": "expert, random, tiny, a Hugging Face id or a local folder.",
            "aliases": ["--model"],
        },
    )
    dtype: str = field(
        default="float32",
        metadata={
            "help": "Precision of a model's weights.",
            "choices": ["auto", "bfloat16", "float16", "float32"],
        },
    )


def open_player(
    args: PolicyArguments, environments: Environments, budgets: EpisodeArguments, *, seed: int
) -> TaskPlayer:
    """Open the policy that `args` name.

    Args:
        args: who plays.
        environments: what is played.
        budgets: a model's token budgets.
        seed: of what the policy draws.
    """
    if args.policy in TEXT_POLICIES:
        rules = FailureRules(max_failed_share=budgets.max_failed_share)
        return TextPlayer(environments, args.policy, seed=seed, failure_rules=rules)
    # The expert and random actions shall not wait for torch.
    from trainers.configs import ModelArguments
    from trainers.loading import load_for_playing
    from trainers.playing import PolicyPlayer
    from trainers.progress import hide_loading_bars

    hide_loading_bars()
    model_args = ModelArguments(model_name_or_path=args.policy, dtype=args.dtype)
    model, tokenizer = load_for_playing(model_args)
    return PolicyPlayer(environments, model, tokenizer, budgets, policy_name=args.policy, seed=seed)
