"""A policy behind an OpenAI-compatible server, for evaluation and collection.

Its episodes have no token traces, so they cannot be trained on by their tokens.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from threading import Event
from typing import Any

from agentgym_envs.actions import CUT_THOUGHT
from agentgym_envs.trajectories.trajectory import ModelCall, Trajectory
from trainers.backends.json_client import JSONClient, RequestFailed, RequestRefused
from trainers.history.views import History, next_view
from trainers.ledger import Answer, Ledger, request_key
from trainers.options.arguments import EpisodeArguments
from trainers.options.errors import BudgetSpent, UsageError
from trainers.options.policies import KEY_VARIABLE, PolicyArguments, Prices
from trainers.policies.answers import (
    CONTENT_FILTER,
    concerns_one_prompt,
    explained,
    is_filtered,
    is_overflow,
    is_within_thought,
    read_answer,
    read_usage,
)
from trainers.rollout.policy import Episode, Failure, Policy, PolicyAnswer, Reply, Stop
from trainers.tokens.seeds import batch_seed
from wrappers.vector.slots import WakeupPipe

_OMITTED = "..."
"""Stands for the turns that the history leaves out, as servers refuse empty messages."""

REFUSED = "refused"
"""`truncated_by` of an episode whose prompt the server does not answer."""


@dataclass
class _Conversation:
    """The server's count of an episode's last tokens, and its pending request."""

    num_tokens: int = 0
    request: _Request | None = None


class _Request:
    """A pending answer, as a `Waitable`."""

    deadline = None

    def __init__(
        self, future: Future[tuple[Answer, int]], cancelled: Event, started: float
    ) -> None:
        self.started = started
        self.future = future
        self._cancelled = cancelled
        self._wakeup: WakeupPipe | None = None
        future.add_done_callback(lambda _: self._wake())

    def answered(self) -> bool:
        return self.future.done()

    def watch(self, wakeup: WakeupPipe | None) -> Connection | None:
        self._wakeup = wakeup
        return None

    def cancel(self) -> None:
        self._cancelled.set()
        self.future.cancel()

    def _wake(self) -> None:
        wakeup = self._wakeup
        if wakeup is not None:
            wakeup.wake()


class APIPolicy(Policy):
    """Answers each observation by a chat completion, without waiting for the others.

    Args:
        client: the server.
        model: the model's name there.
        budgets: `max_tokens_per_turn`, `max_tokens_per_episode` as the server counts, and the
            history.
        seed: of the requests' seeds, with a batch's stream, the episode and the turn.
        fields: further fields of each request; None leaves one out.
        name: recorded as the trajectories' policy.
        prices: of the tokens; None takes the cost that the server reports, if it does.
        ledger: the costs so far, and their bound.
        key: the environment variable of the server's key, for messages.
    """

    is_asynchronous = True
    seed: int

    def __init__(
        self,
        client: JSONClient,
        model: str,
        budgets: EpisodeArguments,
        *,
        seed: int = 0,
        fields: dict[str, Any] | None = None,
        name: str = "",
        prices: Prices | None = None,
        ledger: Ledger | None = None,
        key: str = KEY_VARIABLE,
    ) -> None:
        self.name = name or model
        self.ledger: Ledger = ledger or Ledger()
        self._client = client
        self._budgets = budgets
        self.seed = self._batch_seed = seed
        self._fields: dict[str, Any] = {"model": model, "temperature": 1.0}
        self._further = fields or {}
        self.has_temperature = "temperature" not in self._further
        self._prices = prices
        self._key = key
        self._conversations: dict[int, _Conversation] = {}
        self._is_proven = False  # the server has answered some request

    def instruction(self, env_id: str, system_prompt: str) -> str:
        """Return the instruction with the history's addition."""
        return self._budgets.env_history(env_id).instruction(system_prompt)

    def begin_batch(
        self, *, stream: Sequence[int] = (), temperature: float | None = None, global_step: int = 0
    ) -> None:
        """Take the batch's temperature and its requests' seeds."""
        self.ledger.begin_batch()
        self._batch_seed = batch_seed(self.seed, stream)
        self._fields["temperature"] = 1.0 if temperature is None else temperature

    def act(self, episodes: Sequence[Episode]) -> list[PolicyAnswer | None]:
        """Request a turn for each episode that has no request, and return the answers so far.

        A request that fails, retries included, is a `Failure`, after which the episode is played
        again. A prompt that is refused truncates its episode. Raises `UsageError` if the server
        refuses every request, and `BudgetSpent`.
        """
        try:
            for episode in episodes:
                conversation = self._conversations.setdefault(episode.key, _Conversation())
                if conversation.request is None and not self._is_full(episode, conversation):
                    self._ask(episode, conversation)
            answers = [self._answer(episode) for episode in episodes]
            if not self._is_proven and not self.pending():
                self._check_some_accepted(episodes, answers)
        except (BudgetSpent, UsageError):
            self._finish()
            raise
        return answers

    def pending(self) -> list[_Request]:
        """List the requests whose answers `act` has not returned."""
        requests = [conversation.request for conversation in self._conversations.values()]
        return [
            request for request in requests if request is not None and not self._is_held(request)
        ]

    def leave(self, episode: Episode) -> None:
        """Forget the episode's conversation, and cancel its request."""
        conversation = self._conversations.pop(episode.key, None)
        if conversation is not None and conversation.request is not None:
            conversation.request.cancel()

    def _finish(self) -> None:
        """Wait for the answers that the server is writing, since they cost money."""
        requests = self.pending()
        for request in requests:
            request.cancel()
        wait(request.future for request in requests)

    def _is_full(self, episode: Episode, conversation: _Conversation) -> bool:
        limit = self._budgets.env_budgets(episode.trajectory.env_id).max_tokens_per_episode
        return limit is not None and conversation.num_tokens >= limit

    def _ask(self, episode: Episode, conversation: _Conversation) -> None:
        budgets = self._budgets.env_budgets(episode.trajectory.env_id)
        turn = len(episode.trajectory.turns)
        seed = batch_seed(self._batch_seed, (episode.key, turn)) >> 32
        body = {
            "messages": _messages(episode.trajectory, budgets.history),
            "max_tokens": budgets.max_tokens_per_turn,
            "seed": seed,
            **self._fields,
            **self._further,
        }
        body = {name: value for name, value in body.items() if value is not None}
        key = request_key(seed, episode.key, turn, body)
        cancelled, started = Event(), time.monotonic()  # before an answer can be there
        if (cached := self.ledger.find(key)) is not None:
            future: Future[tuple[Answer, int]] = Future()
            future.set_result((cached, 0))
            conversation.request = _Request(future, cancelled, started)
            return

        def read(answer: Any) -> Answer:
            # In the request's own thread, so that no charged answer is lost.
            try:
                result = self._priced(read_answer(answer))
            except ValueError:
                self.ledger.add_unusable(self._priced(read_usage(answer)))
                raise
            self.ledger.add(key, result)
            return result

        future = self._client.submit(
            "/chat/completions", body, begin=self.ledger.check, read=read, cancelled=cancelled
        )
        conversation.request = _Request(future, cancelled, started)

    def _priced(self, answer: Answer) -> Answer:
        counts = answer.prompt_tokens, answer.cached_tokens, answer.completion_tokens
        if self._prices is None or not any(counts):  # a server that counts nothing charges unseen
            return answer
        return replace(answer, cost=self._prices.cost(*counts))

    def _answer(self, episode: Episode) -> PolicyAnswer | None:
        """Return the answer for an episode, or None while it is pending or held."""
        conversation = self._conversations[episode.key]
        request = conversation.request
        if request is None:
            return Stop("token_budget")
        if not request.future.done() or self._is_held(request):
            return None
        conversation.request = None
        try:
            answer, retries = request.future.result()
        except RequestFailed as error:
            return Failure(str(error))
        except RequestRefused as error:
            return self._refused(error)
        self._is_proven = True
        if answer.finish_reason == CONTENT_FILTER and not answer.text:
            return Stop(REFUSED, "the server's content filter took the answer")
        conversation.num_tokens = answer.prompt_tokens + answer.completion_tokens
        call = ModelCall(
            finish_reason=answer.finish_reason,
            reasoning=answer.reasoning,
            prompt_tokens=answer.prompt_tokens,
            cached_tokens=answer.cached_tokens,
            retries=retries,
            seconds=round(time.monotonic() - request.started, 3),
            cost=answer.cost,
            is_refusal=answer.is_refusal,
        )
        action = CUT_THOUGHT
        if not is_within_thought(answer):
            action = self._budgets.env_history(episode.trajectory.env_id).action(answer.text)
        return Reply(answer.text, answer.completion_tokens, call, action=action)

    def _refused(self, error: RequestRefused) -> Stop:
        if is_overflow(error):
            return Stop("token_budget", error.message)
        if is_filtered(error) or concerns_one_prompt(error):
            return Stop(REFUSED, error.message)
        raise explained(error, key=self._key) from error

    def _is_held(self, request: _Request) -> bool:
        """Return whether the request failed with a refusal that may concern this prompt or all.

        It is held until the server accepts some request, which decides.
        """
        if self._is_proven or not request.future.done():
            return False
        error = None if request.future.cancelled() else request.future.exception()
        return (
            isinstance(error, RequestRefused)
            and concerns_one_prompt(error)
            and not (is_filtered(error) or is_overflow(error))
        )

    def _check_some_accepted(
        self, episodes: Sequence[Episode], answers: Sequence[PolicyAnswer | None]
    ) -> None:
        """Raise an error if every request is refused, for a reason that is not of its prompt."""
        for episode, answer in zip(episodes, answers, strict=True):
            request = self._conversations[episode.key].request
            if answer is None and request is not None:
                error = request.future.exception()
                if isinstance(error, RequestRefused):
                    raise explained(error, key=self._key) from error


def _messages(trajectory: Trajectory, history: History) -> list[dict[str, str]]:
    """Return the messages of a request, from the next turn's view of the episode."""
    trajectory = trajectory.whole()
    view = next_view(history, trajectory)
    instruction, completions = view.system_prompt(trajectory), view.completions(trajectory)
    texts = [("system", instruction)] if instruction else []
    for observation, completion in zip(view.observations, completions, strict=False):
        texts += [("user", observation), ("assistant", completion or _OMITTED)]
    texts.append(("user", view.observations[-1]))
    return [{"role": role, "content": content} for role, content in texts]


def open_client(args: PolicyArguments) -> JSONClient:
    """Open the connection to a served policy's server.

    Raises `UsageError` if the variable that `--policies` names for the key is not set.
    """
    endpoint = args.endpoint
    key = os.environ.get(endpoint.key) or None
    if key is None and endpoint.key != KEY_VARIABLE:
        raise UsageError(
            f"{endpoint.name}: the environment variable {endpoint.key} is to hold its key, and is "
            "not set"
        )
    return JSONClient(
        endpoint.endpoint,
        timeout=args.request_timeout,
        max_requests=args.max_requests,
        api_key=key,
        name=endpoint.name or endpoint.model or "",
    )


def open_api_policy(
    args: PolicyArguments,
    budgets: EpisodeArguments,
    *,
    seed: int,
    client: JSONClient | None = None,
) -> APIPolicy:
    """Open the policy behind a server that `args` name.

    Raises `UsageError` if the server serves no such model, several without a name, or its key is
    missing.
    """
    endpoint = args.endpoint
    client = client or open_client(args)
    return APIPolicy(
        client,
        endpoint.model or _only_model(client),
        budgets,
        seed=seed,
        fields=dict(endpoint.sampling),
        name=endpoint.name,
        prices=endpoint.prices,
        ledger=Ledger(max_cost=args.max_cost),
        key=endpoint.key,
    )


_WITHOUT_LIST = (404, 405, 501)
"""Statuses of a server that has no list of models."""


def _only_model(client: JSONClient) -> str:
    try:
        served = [model["id"] for model in client.get("/models")["data"]]
    except (RequestFailed, RequestRefused, LookupError, TypeError) as error:
        address = (
            "the address is an OpenAI-compatible server's with its /v1, such as "
            "http://localhost:8000/v1"
        )
        lists_none = getattr(error, "status", None) in _WITHOUT_LIST
        if lists_none or isinstance(error, (LookupError, TypeError)):
            why = f" ({error})" if lists_none else ""
            raise UsageError(
                f"{client.base_url} does not list its models; name one with `api_model`, and check "
                f"that {address}{why}"
            ) from error
        raise UsageError(f"{error}; check that {address}") from error
    if len(served) != 1:
        raise UsageError(f"{client.base_url} serves {served}; name one with `api_model`")
    return str(served[0])
