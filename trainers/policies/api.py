"""A policy behind an OpenAI-compatible server, for evaluation and collection.

Knows chat messages and the `/chat/completions` endpoint; no token, so its episodes have no traces
and cannot be trained on by their tokens. It is asked with httpx, which transformers brings: one
endpoint does not need a client library of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.trajectory import Trajectory
from trainers.backends.json_client import JSONClient, RequestFailed, RequestRefused
from trainers.options.arguments import EpisodeArguments, read_object
from trainers.options.errors import UsageError
from trainers.policies.open import PolicyArguments
from trainers.rollout.environments import Environments
from trainers.rollout.episodes import Episode, EpisodeLoop, Reply, Stop
from trainers.tokens.seeds import batch_seed
from wrappers.failures import Attempts, FailureRules

KEY_VARIABLE = "OPENAI_API_KEY"
REQUEST_FAILED = "request_failed"
"""The cause of a `Stop` after which an episode is no result; `APIPlayer` plays it again."""

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


class APIPolicy:
    """Answers observations by chat completions.

    Args:
        client: the server.
        model: the model's name there.
        budgets: `max_tokens_per_turn`, `max_tokens_per_episode` as the server counts tokens, and
            `keep_last_turns`.
        temperature: of the sampling.
        seed: of the requests' seeds; each turn of each episode has its own.
        fields: further fields of each request; None leaves one out.
        name: recorded as the trajectories' policy.

    Attributes:
        failures: what went wrong with the request of an episode, by the episode's index.
    """

    def __init__(
        self,
        client: JSONClient,
        model: str,
        budgets: EpisodeArguments,
        *,
        temperature: float = 1.0,
        seed: int = 0,
        fields: dict[str, Any] | None = None,
        name: str = "",
    ) -> None:
        self.name = name or model
        self.failures: dict[int, str] = {}
        self._client = client
        self._budgets = budgets
        self._seed = seed
        self._fields = {
            "model": model,
            "temperature": temperature,
            "max_tokens": budgets.max_tokens_per_turn,
        }
        self._further = fields or {}
        self._conversations: dict[int, _Conversation] = {}

    def act(self, episodes: Sequence[Episode]) -> list[Reply | Stop]:
        """Ask for one turn of each episode, several at a time.

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

    def _ask(self, episode: Episode) -> Reply | Stop:
        conversation = self._conversations[episode.key]
        limit = self._budgets.max_tokens_per_episode
        if limit is not None and conversation.num_tokens >= limit:
            return Stop("token_budget")
        turn = len(conversation.completions)
        body = {
            "messages": self._messages(episode.trajectory.system_prompt, conversation),
            "seed": batch_seed(self._seed, (episode.index, turn)) >> 32,
            **self._fields,
            **self._further,
        }
        body = {name: value for name, value in body.items() if value is not None}
        try:
            completion, num_sampled, num_tokens = _read(
                self._client.post("/chat/completions", body)
            )
        except RequestFailed as error:
            self.failures[episode.index] = str(error)
            return Stop(REQUEST_FAILED)
        except RequestRefused as error:
            too_long = any(words in error.message.lower() for words in _OVERFLOW)
            if error.status in (400, 413, 422) and too_long:
                return Stop("token_budget")
            raise UsageError(_remedy(error)) from error
        conversation.completions.append(completion)
        conversation.num_tokens = num_tokens
        return Reply(completion, _answer(completion), num_sampled)

    def _messages(self, system_prompt: str, said: _Conversation) -> list[dict[str, str]]:
        messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
        first, keep = 0, self._budgets.keep_last_turns
        if keep is not None and len(said.completions) > keep:
            first = len(said.completions) - keep
            messages.append({"role": "user", "content": said.observations[0]})
            messages.append({"role": "assistant", "content": _LEFT_OUT})
        for observation, completion in zip(
            said.observations[first:-1], said.completions[first:], strict=True
        ):
            messages.append({"role": "user", "content": observation})
            messages.append({"role": "assistant", "content": completion or _LEFT_OUT})
        return [*messages, {"role": "user", "content": said.observations[-1]}]


class APIPlayer:
    """A policy behind a server that plays tasks.

    A request that fails, retries included, says nothing about the policy: the episode is played
    again, and given up as failed after as many times as the failure rules allow. It enters no
    success rate; too many of them stop the run.

    Args:
        environments: what is played.
        client: the server, with `/v1` in its address.
        model: the model's name there.
        budgets: of an episode, and when failures stop the run.
        seed: of the requests' seeds.
        fields: further fields of each request; None leaves one out.
        failure_rules: how often a task is played again; None takes the defaults and the budgets'
            share.
    """

    has_temperature = True

    def __init__(
        self,
        environments: Environments,
        client: JSONClient,
        model: str,
        budgets: EpisodeArguments,
        *,
        seed: int = 0,
        fields: dict[str, Any] | None = None,
        failure_rules: FailureRules | None = None,
    ) -> None:
        self.name = model
        self._envs = environments.with_horizon(None)
        self._client = client
        self._budgets = budgets
        self._seed = seed
        self._fields = fields
        self._rules = failure_rules or FailureRules(max_failed_share=budgets.max_failed_share)

    def play(
        self,
        task_ids: Sequence[str],
        *,
        temperature: float = 1.0,
        stream: Sequence[int] = (),
        on_trajectory: Callable[[Trajectory], None] | None = None,
    ) -> list[Trajectory]:
        """Play one episode per task id, in order.

        Args:
            task_ids: the tasks.
            temperature: of the sampling; 0 is greedy.
            stream: names the requests' seeds, together with the player's.
            on_trajectory: called with each episode as it ends, played again or given up.

        Raises:
            ValueError: the server refuses requests.
            EnvFailure: more episodes failed than the failure rules allow.
        """
        told = on_trajectory or _ignore
        attempts = Attempts(self._rules)
        played: dict[int, Trajectory] = {}
        waiting = list(range(len(task_ids)))
        while waiting:
            policy = APIPolicy(
                self._client,
                self.name,
                self._budgets,
                temperature=temperature,
                seed=batch_seed(self._seed, stream),
                fields=self._fields,
            )
            loop = EpisodeLoop(
                self._envs, policy, failure_rules=self._rules, on_trajectory=_but_unanswered(told)
            )
            again = []
            for place, trajectory in enumerate(loop.run([task_ids[i] for i in waiting])):
                index = waiting[place]
                if trajectory.truncated_by == REQUEST_FAILED:
                    if attempts.record_failure(index, policy.failures[place]):
                        again.append(index)
                        continue
                    trajectory.status, trajectory.truncated_by = "failed", None
                    trajectory.error = policy.failures[place]
                    told(trajectory)
                played[index] = trajectory
            waiting = again
        attempts.check(len(task_ids))
        return [played[index] for index in range(len(task_ids))]


def _ignore(trajectory: Trajectory) -> None:
    pass


def _but_unanswered(told: Callable[[Trajectory], None]) -> Callable[[Trajectory], None]:
    """Leave out the episodes that a lost request ended: they are played again, or given up."""

    def tell(trajectory: Trajectory) -> None:
        if trajectory.truncated_by != REQUEST_FAILED:
            told(trajectory)

    return tell


def open_api_player(
    args: PolicyArguments, environments: Environments, budgets: EpisodeArguments, *, seed: int
) -> APIPlayer:
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
    return APIPlayer(
        environments,
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
        raise RequestFailed(f"the answer holds no message: {str(answer)[:300]}") from None
    return text or "", int(usage.get("completion_tokens", 0)), int(usage.get("total_tokens", 0))


def _answer(completion: str) -> str:
    """Return what the environment reads: all but a closed `<think>` block."""
    thought, closing, answer = completion.partition("</think>")
    return answer.lstrip("\n") if closing and thought.lstrip().startswith("<think>") else completion


def _remedy(error: RequestRefused) -> str:
    if error.status in (401, 403):
        return f"{error}; put the server's key into the environment variable {KEY_VARIABLE}"
    if error.status == 404:
        return f"{error}; check the address, which ends in /v1 as a rule, and --api_model"
    return f"{error}; --api_kwargs can add fields to the requests or leave some out"
