"""A policy behind an OpenAI-compatible server, for evaluation and collection.

Its episodes have no token traces, so they cannot be trained on by their tokens.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.secrets import masked
from trainers.backends.json_client import JSONClient, RequestFailed, RequestRefused
from trainers.options.arguments import EpisodeArguments, read_object
from trainers.options.errors import UsageError
from trainers.options.policies import PolicyArguments
from trainers.rollout.policy import Episode, Failure, Policy, Reply, Stop
from trainers.tokens.seeds import batch_seed

KEY_VARIABLE = "OPENAI_API_KEY"
_LEFT_OUT = "..."
"""Stands for the turns that `keep_last_turns` leaves out; servers refuse empty messages."""

_OVERFLOW = ("context length", "context_length", "context window", "maximum context", "too long")


@dataclass
class _Conversation:
    """What has been said in one episode.

    Attributes:
        observations: the environment's, one more than the policy has answered.
        completions: the policy's.
        num_tokens: of the last request and its answer, as the server counted them.
    """

    observations: list[str] = field(default_factory=list)
    completions: list[str] = field(default_factory=list)
    num_tokens: int = 0


class APIPolicy(Policy):
    """Answers observations by chat completions.

    Args:
        client: the server.
        model: the model's name there.
        budgets: `max_tokens_per_turn`, `max_tokens_per_episode` as the server counts tokens, and
            `keep_last_turns`.
        seed: of the requests' seeds, together with a batch's stream; each turn of each episode has
            its own.
        fields: further fields of each request; None leaves one out.
        name: recorded as the trajectories' policy.
    """

    has_temperature = True

    def __init__(
        self,
        client: JSONClient,
        model: str,
        budgets: EpisodeArguments,
        *,
        seed: int = 0,
        fields: dict[str, Any] | None = None,
        name: str = "",
    ) -> None:
        self.name = name or model
        self._client = client
        self._budgets = budgets
        self._seed = self._batch_seed = seed
        self._fields: dict[str, Any] = {"model": model, "temperature": 1.0}
        self._further = fields or {}
        self._conversations: dict[int, _Conversation] = {}

    def begin_batch(
        self, *, stream: Sequence[int] = (), temperature: float | None = None, global_step: int = 0
    ) -> None:
        """Take the batch's temperature and its requests' seeds."""
        self._batch_seed = batch_seed(self._seed, stream)
        self._fields["temperature"] = 1.0 if temperature is None else temperature

    def act(self, episodes: Sequence[Episode]) -> list[Reply | Stop | Failure]:
        """Ask for one turn of each episode, several at a time.

        A request that fails, retries included, says nothing about the policy: the answer is a
        `Failure`, after which the episode is played again.

        Raises:
            ValueError: the server refuses a request for another reason than its length.
        """
        for episode in episodes:
            conversation = self._conversations.setdefault(episode.key, _Conversation())
            conversation.observations.append(episode.observation)
        return self._client.map(self._ask, episodes)

    def leave(self, episode: Episode) -> None:
        """Forget the episode's conversation."""
        self._conversations.pop(episode.key, None)

    def _ask(self, episode: Episode) -> Reply | Stop | Failure:
        conversation = self._conversations[episode.key]
        budgets = self._budgets.budgets_of(episode.trajectory.env_id)
        limit = budgets.max_tokens_per_episode
        if limit is not None and conversation.num_tokens >= limit:
            return Stop("token_budget")
        turn = len(conversation.completions)
        body = {
            "messages": self._messages(episode, conversation, budgets.keep_last_turns),
            "max_tokens": budgets.max_tokens_per_turn,
            "seed": batch_seed(self._batch_seed, (episode.index, turn)) >> 32,
            **self._fields,
            **self._further,
        }
        body = {name: value for name, value in body.items() if value is not None}
        try:
            completion, num_sampled, num_tokens = _read(
                self._client.post("/chat/completions", body)
            )
        except RequestFailed as error:
            return Failure(str(error))
        except RequestRefused as error:
            too_long = any(words in error.message.lower() for words in _OVERFLOW)
            if error.status in (400, 413, 422) and too_long:
                return Stop("token_budget")
            raise UsageError(_remedy(error)) from error
        conversation.completions.append(completion)
        conversation.num_tokens = num_tokens
        return Reply(completion, num_sampled)

    def _messages(
        self, episode: Episode, conversation: _Conversation, keep: int | None
    ) -> list[dict[str, str]]:
        system_prompt = episode.trajectory.system_prompt
        messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
        first = 0
        if keep is not None and len(conversation.completions) > keep:
            first = len(conversation.completions) - keep
            messages.append({"role": "user", "content": conversation.observations[0]})
            messages.append({"role": "assistant", "content": _LEFT_OUT})
        for observation, completion in zip(
            conversation.observations[first:-1], conversation.completions[first:], strict=True
        ):
            messages.append({"role": "user", "content": observation})
            messages.append({"role": "assistant", "content": completion or _LEFT_OUT})
        return [*messages, {"role": "user", "content": conversation.observations[-1]}]


def open_api_policy(args: PolicyArguments, budgets: EpisodeArguments, *, seed: int) -> APIPolicy:
    """Open the policy whose address `args.policy` is; the key is read from `OPENAI_API_KEY`.

    Raises:
        ValueError: the server serves no such model, or several and none is named.
        EnvFailure: every request failed.
    """
    client = JSONClient(
        args.policy,
        timeout=args.request_timeout,
        max_requests=args.max_requests,
        api_key=os.environ.get(KEY_VARIABLE) or None,
    )
    return APIPolicy(
        client,
        args.api_model or _only_model(client),
        budgets,
        seed=seed,
        fields=read_object("api_kwargs", args.api_kwargs),
    )


def _only_model(client: JSONClient) -> str:
    try:
        served = [model["id"] for model in client.get("/models")["data"]]
    except (RequestFailed, RequestRefused) as error:
        raise UsageError(
            f"{error}; expected an OpenAI-compatible server's address with its /v1, such as "
            f"http://localhost:8000/v1, or --api_model beside it"
        ) from error
    if len(served) != 1:
        raise UsageError(f"{client.base_url} serves {served}; name one with --api_model")
    return str(served[0])


def _read(answer: dict[str, Any]) -> tuple[str, int, int]:
    """Return the text, its tokens, and those of prompt and text together."""
    usage = answer.get("usage") or {}
    try:
        text = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise RequestFailed(f"the answer holds no message: {str(masked(answer))[:300]}") from None
    return text or "", int(usage.get("completion_tokens", 0)), int(usage.get("total_tokens", 0))


def _remedy(error: RequestRefused) -> str:
    if error.status in (401, 403):
        return f"{error}; put the server's key into the environment variable {KEY_VARIABLE}"
    if error.status == 404:
        return f"{error}; check the address, which ends in /v1 as a rule, and --api_model"
    return f"{error}; --api_kwargs can add fields to the requests or leave some out"
