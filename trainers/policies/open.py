"""Who plays: a language model, the expert, or random actions, behind one `play` method.

Opens what a command names, and says in a sentence what of it cannot be opened.

Text policies need no torch; it is imported only when a model is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

from agentgym_envs.trajectory import Trajectory
from trainers.models.opening import opening
from trainers.options.arguments import EnvArguments, EpisodeArguments, read_object
from trainers.options.errors import CommandError
from trainers.policies.scripted import play
from trainers.rollout.environments import Environments
from trainers.tokens.generation import Sampling
from trainers.tokens.seeds import batch_seed
from wrappers.failures import FailureRules

TEXT_POLICIES = ("expert", "random")


class TaskPlayer(Protocol):
    """Plays tasks with one policy."""

    name: str
    """The policy's name, as it stands in trajectories and results."""

    has_temperature: bool
    """The policy samples tokens."""

    def play(
        self,
        task_ids: Sequence[str],
        *,
        temperature: float = 1.0,
        stream: Sequence[int] = (),
        on_trajectory: Callable[[Trajectory], None] | None = None,
    ) -> list[Trajectory]:
        """Play one episode per task id, in order; `stream` names the random numbers.

        `on_trajectory` is called with each episode as it ends, in whatever order they do.
        """


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
        self,
        task_ids: Sequence[str],
        *,
        temperature: float = 1.0,
        stream: Sequence[int] = (),
        on_trajectory: Callable[[Trajectory], None] | None = None,
    ) -> list[Trajectory]:
        """Play one episode per task id, in order; `TaskPlayer.play` says what is what."""
        return play(
            self._envs,
            list(task_ids),
            self.name,
            seed=batch_seed(self._seed, stream),
            failure_rules=self._rules,
            on_trajectory=on_trajectory,
        )


@dataclass
class OpeningArguments:
    """How a policy is opened, whichever it is.

    Attributes:
        dtype: the precision a model is loaded in.
        api_model: the model's name on an OpenAI-compatible server; None takes the one it serves.
        api_kwargs: further fields of every request to it, as a JSON object; a null leaves a field
            out.
        max_requests: requests to it under way at once.
        request_timeout: seconds before such a request counts as lost.
    """

    _argument_group_name: ClassVar[str] = "policy"

    dtype: str = field(
        default="float32",
        metadata={
            "help": "Precision of a model's weights.",
            "choices": ["auto", "bfloat16", "float16", "float32"],
        },
    )
    api_model: str | None = field(
        default=None,
        metadata={"help": "The model's name on the server; by default the only one it serves."},
    )
    api_kwargs: str | None = field(
        default=None,
        metadata={
            "help": "Further fields of each request to the server, as JSON; null leaves one out: "
            '\'{"max_tokens": null, "max_completion_tokens": 256}\'.'
        },
    )
    max_requests: int = field(default=16, metadata={"help": "Requests to it under way at once."})
    request_timeout: float = field(
        default=120.0, metadata={"help": "Seconds before a request to it counts as lost."}
    )

    def __post_init__(self) -> None:
        read_object("api_kwargs", self.api_kwargs)
        if self.max_requests < 1:
            raise ValueError(f"max_requests must be >= 1, got {self.max_requests}")
        if not self.request_timeout > 0:
            raise ValueError(f"request_timeout must be > 0 seconds, got {self.request_timeout}")


@dataclass
class PolicyArguments(OpeningArguments):
    """Who plays, and how it is opened.

    Attributes:
        policy: `"expert"`, `"random"`, `"tiny"`, a Hugging Face id, a local folder, or the address
            of an OpenAI-compatible server.
        top_k, top_p, min_p: the tokens that a model samples among; see `Sampling`.
    """

    policy: str = field(
        default="expert",
        metadata={
            "help": "expert, random, tiny, a Hugging Face id, a local folder, or the address of an "
            "OpenAI-compatible server, http://host:port/v1 (key: OPENAI_API_KEY).",
            "aliases": ["--model"],
        },
    )
    top_k: int = field(
        default=0, metadata={"help": "Sample among the so many likeliest tokens; 0: among all."}
    )
    top_p: float = field(
        default=1.0,
        metadata={"help": "Sample among the likeliest tokens that have this share."},
    )
    min_p: float = field(
        default=0.0,
        metadata={"help": "Sample among tokens at least so likely as this share of the likeliest."},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        has_tokens = not self.is_address and self.policy not in TEXT_POLICIES
        if Sampling.of(self).is_cut and not has_tokens:
            raise ValueError(
                f"--top_k, --top_p and --min_p need a model that is sampled from here, got "
                f"--policy {self.policy}; a server takes such fields in --api_kwargs"
            )

    @property
    def is_address(self) -> bool:
        """The policy is asked over HTTP."""
        return self.policy.startswith(("http://", "https://"))


class OpenModel(NamedTuple):
    """A model that is ready to sample: a `PolicyBackend`, and its tokenizer."""

    backend: Any
    tokenizer: Any


def open_environments(args: EnvArguments) -> Environments:
    """Open the environments that `args` name.

    Raises:
        CommandError: none is named, or one cannot be made as told.
    """
    try:
        return Environments(args)
    except (TypeError, ValueError) as error:  # TypeError: Gymnasium's, for unknown arguments
        raise CommandError(str(error)) from error


def open_player(
    args: PolicyArguments,
    environments: Environments,
    budgets: EpisodeArguments,
    *,
    seed: int,
    model: OpenModel | None = None,
) -> TaskPlayer:
    """Open the policy that `args` name.

    Args:
        args: who plays.
        environments: what is played.
        budgets: a model's token budgets, and what samples its turns.
        seed: of what the policy draws.
        model: what `open_model` gave for the same policy, where it is open already.

    Raises:
        CommandError: there is no such policy, the options do not fit it, or its server refuses
            them.
    """
    if args.policy in TEXT_POLICIES:
        rules = FailureRules(max_failed_share=budgets.max_failed_share)
        return TextPlayer(environments, args.policy, seed=seed, failure_rules=rules)
    with _opening(args.policy):
        # The expert and random actions shall not wait for torch.
        if args.is_address:
            from trainers.policies.api import open_api_player

            return open_api_player(args, environments, budgets, seed=seed)
        from trainers.policies.model import PolicyPlayer

        if model is None:
            model = open_model(args, budgets, overlap=environments.args.overlap)
        return PolicyPlayer(
            environments,
            None,
            model.tokenizer,
            budgets,
            policy_name=args.policy,
            seed=seed,
            backend=model.backend,
            sampling=Sampling.of(args),
        )


def open_model(
    args: PolicyArguments, budgets: EpisodeArguments, *, overlap: bool = False
) -> OpenModel:
    """Open the model that `args` name.

    Args:
        args: who plays: neither a text policy nor an address.
        budgets: what samples its turns.
        overlap: whether environments are played by `EnvArguments.overlap`.

    Raises:
        CommandError: there is no such policy, the options do not fit it, or its server refuses
            them.
    """
    from transformers import AutoTokenizer

    from trainers.backends.open import open_on_files, open_on_model
    from trainers.models.loading import load_for_playing, resolve_model
    from trainers.options.configs import ModelArguments
    from trainers.runs.progress import hide_loading_bars

    hide_loading_bars()
    max_length = budgets.max_tokens_per_episode
    with _opening(args.policy):
        if budgets.backend == "hf":
            named = ModelArguments(model_name_or_path=args.policy, dtype=args.dtype)
            model, tokenizer = load_for_playing(named)
            backend = open_on_model(budgets, model, max_length=max_length, row_streams=overlap)
            return OpenModel(backend, tokenizer)
        source = resolve_model(args.policy)
        backend = open_on_files(budgets, source, dtype=args.dtype, max_length=max_length)
        return OpenModel(backend, AutoTokenizer.from_pretrained(source))


def check_model(args: PolicyArguments) -> None:
    """See that there is a model of this name, by what is quickest to load of it: its tokenizer.

    Args:
        args: who plays: neither a text policy nor an address.

    Raises:
        CommandError: there is none.
    """
    from transformers import AutoTokenizer

    from trainers.models.loading import resolve_model

    with _opening(args.policy):
        AutoTokenizer.from_pretrained(resolve_model(args.policy))


def _opening(policy: str) -> AbstractContextManager[None]:
    return opening(
        policy,
        names=(*TEXT_POLICIES, "tiny"),
        otherwise="expert, random, tiny, a folder, a Hugging Face id or the address of an "
        "OpenAI-compatible server",
    )
