"""Opens the policy that a command names: a model, the expert, the random one or a server's.

Torch is imported only when a model is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.backends import ModelSource
from trainers.options.errors import UsageError, check_kind, explain_load_errors
from trainers.options.models import MODEL_NAMES
from trainers.options.policies import TEXT_POLICIES, PolicyArguments, check_baseline, is_text_policy
from trainers.options.values import check_names
from trainers.policies.scripted import scripted_policy
from trainers.rollout.environments import MOST_ENVS, Environments
from trainers.rollout.policy import Policy
from trainers.rollout.rollout import Rollout
from trainers.tokens.generation import Sampling

if TYPE_CHECKING:
    from trainers.backends.json_client import JSONClient


class OpenModel(NamedTuple):
    """A `Backend` that is ready to sample, and its tokenizer."""

    backend: Any
    tokenizer: Any


NAME_IT = (
    'name it, such as env="TextCraft", or one of your own that its module registers, such as '
    'env="my_games:lab/MyGame-v0"'
)
"""The remedy in errors about `env` in Python."""


def open_environments(
    env: str | Sequence[str] | EnvArguments | Environments,
    policy: PolicyArguments | None = None,
    *,
    episodes: int = MOST_ENVS,
) -> Environments:
    """Open the environments that `env` names.

    Args:
        env: an id or short name, or several; or their options; open ones are returned as they are.
        policy: the policy. One behind a server plays no more episodes at once than it takes
            requests: an interruption loses the pending ones.
        episodes: of a batch; the default for `EnvArguments.num_envs`.

    Raises:
        TypeError: it is something else.
        UsageError: none is named, or one cannot be made with these options.
    """
    if isinstance(env, Environments):
        return env
    named: Any = env
    try:
        if isinstance(env, str | list | tuple):
            named = EnvArguments(env=[env] if isinstance(env, str) else list(env))
        check_kind("env", named, EnvArguments, remedy=NAME_IT)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if policy is not None and policy.is_served:
        episodes = policy.max_requests
    try:
        return Environments(named, episodes=episodes)
    except (TypeError, ValueError) as error:  # TypeError: Gymnasium's, for unknown arguments
        raise UsageError(str(error)) from error


def check_backend(policy: PolicyArguments, budgets: EpisodeArguments) -> None:
    """Raise `UsageError` if a backend is named for a policy that is no model loaded here."""
    if budgets.backend != EpisodeArguments.backend and not policy.is_loaded:
        raise UsageError(
            f"`backend={budgets.backend_spec.name}` samples from a model that is loaded here, got "
            f"`policy={policy.policy}`; leave `backend` out"
        )


def open_policy(
    args: PolicyArguments,
    budgets: EpisodeArguments,
    *,
    seed: int,
    model: OpenModel | None = None,
    client: JSONClient | None = None,
) -> Policy:
    """Open the policy that `args` name.

    Args:
        args: the policy's options.
        budgets: a model's token budgets, and its backend.
        seed: of the policy's draws.
        model: from `open_model`, for the same policy.
        client: from `open_client`, for the same policy.

    Raises:
        UsageError: there is no such policy, the options do not fit it, or its server refuses them.
    """
    if is_text_policy(args.policy):
        return scripted_policy(args.policy, seed=seed)
    with _explain_load_errors(args.policy):
        if args.is_served:
            from trainers.policies.api import open_api_policy

            return open_api_policy(args, budgets, seed=seed, client=client)
        from trainers.policies.model import ModelPolicy

        if model is None:
            model = open_model(args, budgets)
        return ModelPolicy.with_budgets(
            model.backend,
            model.tokenizer,
            budgets,
            name=args.policy,
            seed=seed,
            sampling=Sampling.from_args(args),
        )


def open_rollout(
    args: PolicyArguments,
    environments: Environments,
    budgets: EpisodeArguments,
    *,
    seed: int,
    model: OpenModel | None = None,
    client: JSONClient | None = None,
) -> Rollout:
    """Open the policy that `args` name, see `open_policy`, and return a rollout of it.

    Raises:
        UsageError: as `open_policy`, or an environment has no baseline of the name.
    """
    check_names(budgets, environments.env_ids)
    check_baseline(args.policy, environments.baselines)
    policy = open_policy(args, budgets, seed=seed, model=model, client=client)
    return environments.rollout(policy, failure_rules=budgets.failure_rules)


def open_model(args: PolicyArguments, budgets: EpisodeArguments) -> OpenModel:
    """Open the model that `args` name, with the backend of `budgets`, or raise `UsageError`."""
    from trainers.backends.open import load_backend
    from trainers.models.loading import load_for_playing, load_tokenizer, resolve_model
    from trainers.options.configs import ModelArguments
    from trainers.runs.progress import hide_loading_bars

    hide_loading_bars()
    max_length = budgets.longest_episode
    with _explain_load_errors(args.policy):
        if budgets.backend_spec.samples_from_model:
            named = ModelArguments(model_name_or_path=args.policy, dtype=args.dtype)
            model, tokenizer = load_for_playing(named, args)
            source = ModelSource(model, max_length=max_length)
        else:
            path = resolve_model(args.policy)
            tokenizer = load_tokenizer(path, args)
            source = ModelSource(path=path, dtype=args.dtype or "auto", max_length=max_length)
        return OpenModel(load_backend(budgets, source), tokenizer)


def check_model(args: PolicyArguments) -> None:
    """Load a model's tokenizer, the smallest part, or raise `UsageError`."""
    from trainers.models.loading import load_tokenizer, resolve_model

    with _explain_load_errors(args.policy):
        load_tokenizer(resolve_model(args.policy), args)


def _explain_load_errors(policy: str) -> AbstractContextManager[None]:
    return explain_load_errors(
        policy,
        names=(*TEXT_POLICIES, *MODEL_NAMES),
        otherwise=f"{', '.join(TEXT_POLICIES)}, baseline:NAME, {', '.join(MODEL_NAMES)}, a folder, "
        "a Hugging Face id or the address of an OpenAI-compatible server",
    )
