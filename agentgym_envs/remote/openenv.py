"""The environment of an OpenEnv server as one of ours."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import closing
from typing import Any, ClassVar
from urllib.parse import urlsplit

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.core import Outcome
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.secrets import masked_address
from agentgym_envs.remote.action_forms import VERBS, ServersParser
from agentgym_envs.remote.answers import Answer, read_answer
from agentgym_envs.remote.base import RemoteEnv
from agentgym_envs.remote.card import Card, read_card
from agentgym_envs.remote.http import JsonServer
from agentgym_envs.remote.websocket import Refusal, ServerError, Session

MAX_TURNS = 100
"""Turns of an episode where neither the caller nor the server names a limit."""
_log = logging.getLogger(__name__)
_OF_THE_SERVER = ("CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR")


class OpenEnvEnv(RemoteEnv):
    """Plays in sessions of one or several OpenEnv servers that have the same environment.

    A server that gives its `prompt` apart from the observation's `text`, as `agentgym serve` does,
    reads completions itself: they are sent as they are. For others completions are read here.

    Args:
        url: the server's, `http://host:port`; several are separated by commas.
        name: what stands in front of task ids; None takes the server's.
        token: sent as `Authorization: Bearer`; None takes that of `AGENTGYM_TOKEN`.
        timeout: seconds that an answer may take.
        action_format: None takes the server's, or `"function_call"` for tools, or `"plain"`.
        **kwargs: as `TextEnv`.

    Raises:
        EnvFailure: no server answers.
        ValueError: an argument has a value that is not allowed, or the server reads another
            action format.
    """

    protocol, protocol_name = "openenv", "OpenEnv"
    verbs: tuple[ActionVerb, ...] = VERBS
    default_max_turns = MAX_TURNS
    source = "openenv"
    reset_options: ClassVar[tuple[str, ...]] = ("task_id", "horizon")

    def __init__(
        self,
        *,
        url: str,
        name: str | None = None,
        token: str | None = None,
        timeout: float = 60.0,
        action_format: str | None = None,
        turns_left: bool | None = None,
        **kwargs: Any,
    ) -> None:
        self.connect_to(url, timeout=timeout, token=token)
        self._session: Session | None = None
        self._name = name
        card = self._card = self._read_card(name)
        self.instructions = card.description or self.instructions
        self.default_max_turns = card.max_turns or MAX_TURNS
        self.source, self.verbs = card.source, card.form.verbs
        parser, action_format = _parser(card, action_format, url)
        # A server that counts turns says itself how many are left.
        turns_left = not card.first.counts_turns if turns_left is None else turns_left
        super().__init__(card.tasks, turns_left=turns_left, **kwargs)
        if self.actions_per_turn > 1:
            raise ValueError(
                "a server's forms of actions hold one action a turn, got actions_per_turn="
                f"{self.actions_per_turn}; leave it out"
            )
        self.parser, self.action_format = parser, action_format
        self._given_limit = None if kwargs.get("max_turns") is None else self.max_turns
        self._available: list[str] | None = None
        if card.max_turns is not None and self.max_turns > card.max_turns:
            raise ValueError(
                f"the server {masked_address(url)} ends episodes after {card.max_turns} turns, got "
                f"max_turns={self.max_turns}; pass at most {card.max_turns}, or have it serve more"
            )

    @property
    def system_prompt(self) -> str:
        """The server's instruction text, or its description with the action format's rules."""
        prompt = self._card.first.prompt
        if self._text_env.system_prompt is not None or prompt is None:
            return super().system_prompt
        return prompt

    def begin(self, task: TaskSpec) -> str:
        """Reset the session, or open another where it was lost since the last episode."""
        data = {**self._card.tasks.tasks[task.number].reset, **self._horizon_option()}
        answer = self._reset(data)
        self._check_answer(task, answer)
        self.goal = str(answer.metadata.get("goal") or self._card.description)
        self._available = answer.available_actions
        return answer.text

    def apply(self, action: str) -> Outcome:
        """Play one action."""
        try:
            answer = self._ask("step", self._card.form.payload(action))
        except Refusal as error:
            return Outcome.invalid(str(error))
        self._available = answer.available_actions
        outcome = answer.outcome()
        # The limit is the one that was asked for: `truncated_by` names it.
        is_own = outcome.truncated and self.num_turns_left <= 0
        return outcome._replace(truncated=False) if is_own else outcome

    def close(self) -> None:
        """End the session."""
        self._leave(is_down=False)

    def _horizon_option(self) -> Mapping[str, int]:
        """Return the turn limit for a server that takes one."""
        limits = [n for n in (self._given_limit, self._text_env.horizon) if n is not None]
        return {"horizon": min(limits)} if limits and self._card.first.counts_turns else {}

    def _reset(self, data: Mapping[str, Any]) -> Answer:
        try:
            if self._session is not None:
                try:
                    return self._ask("reset", data)
                except EnvFailure as failure:
                    _log.info("a new session: %s", failure)
            self._url, self._session = self._pool.open(self._connect)
            return self._ask("reset", data)
        except Refusal as error:
            raise EnvFailure(
                f"the server {masked_address(self._url)} failed: it refuses the reset "
                f"{dict(data)}: {error}"
            ) from error

    def _ask(self, kind: str, data: Mapping[str, Any]) -> Answer:
        """Ask the session, which is over if the machinery breaks."""
        session = self._session
        if session is None:
            raise EnvFailure("there is no session with a server; call reset()")
        try:
            return read_answer(session.ask(kind, data), session.url)
        except EnvFailure as failure:
            code = getattr(failure, "code", None)
            is_of_the_task = isinstance(failure, ServerError) and code not in _OF_THE_SERVER
            self._leave(is_down=not is_of_the_task)
            raise

    def _leave(self, *, is_down: bool) -> None:
        """End the session.

        The next ones are with other servers, if there are, where it is down.
        """
        session, self._session = self._session, None
        if session is not None:
            self._pool.release(self._url, is_down=is_down)
            session.close()

    def _check_answer(self, task: TaskSpec, answer: Answer) -> None:
        """Raise EnvFailure if the server plays another task, or by other options than at first."""
        first, said = self._card.first, answer.metadata.get("task_id")
        if not self._card.tasks.fit_number(task.number, said):
            cause = (
                f"asked for {task.task_id} it plays {said!r:.80}; its list of tasks has changed, "
                "or several servers play different environments"
            )
        elif first.counts_turns and _settings(answer) != _settings(first):
            cause = (
                f"its source is {answer.metadata.get('source')!r:.80}, or its instructions are "
                "others, than when it was first asked; it was started anew with other options, or "
                "several servers have different ones"
            )
        else:
            return
        self._pool.forget(self._name)
        self._leave(is_down=True)
        raise EnvFailure(f"the server {masked_address(self._url)} failed: {cause}")

    def _connect(self, url: str) -> Session:
        return Session(url, timeout=self._timeout, token=self._token)

    def _http(self, url: str) -> JsonServer:
        return JsonServer(url, timeout=self._timeout, token=self._token)

    def _read_card(self, name: str | None) -> Card:
        def read(url: str, session: Session) -> Card:
            with closing(self._http(url)) as http:
                try:
                    return read_card(http, session, name=name)
                except (TypeError, ValueError, AttributeError, KeyError) as error:
                    raise EnvFailure(
                        f"the server {http.url} failed: what it says of its environment has not "
                        f"OpenEnv's form ({error!r:.200})"
                    ) from error

        try:
            return self._pool.describe(name, self._connect, read)
        except EnvFailure:
            self._check_place(self._pool.urls[0])
            raise

    def _check_place(self, url: str) -> None:
        """Raise ValueError if an address is that of several environments, or of none but below one.

        The address itself is asked what it plays, and where it does not know, those above it.
        """
        place = url
        while urlsplit(place).netloc:
            try:
                names = self._names(place)
            except EnvFailure:
                return
            if len(names) == 1 and place == url:
                return
            if names:
                last = url.rpartition("/")[2].lower()
                own = f"{place}/{last if last in names else names[0]}" if names[1:] else place
                raise ValueError(
                    f"the server {masked_address(place)} plays {', '.join(names)}, and none of "
                    f"them at {masked_address(url)}; name one by its own address, such as "
                    f"{masked_address(own)}"
                )
            place = place.rpartition("/")[0]

    def _names(self, url: str) -> list[str]:
        """Return the environments that an address lists, if it has a list."""
        with closing(self._http(url)) as http:
            names = http.optional("GET", "/list_environments")
        return list(map(str, names)) if isinstance(names, list) else []


def _settings(answer: Answer) -> tuple[Any, ...]:
    """Return the data that `agentgym serve` repeats in each episode until it is restarted."""
    return answer.prompt, answer.metadata.get("source")


def _parser(card: Card, action_format: str | None, url: str) -> tuple[ActionParser, str]:
    """Return the parser of completions, and the name of the format.

    Raises:
        ValueError: the server reads another format, or its actions have none of this kind.
    """
    if card.first.prompt is None:
        name = action_format or card.form.default_format
        return card.form.parser(name), name
    read = card.action_format or action_format or "plain"
    if action_format not in (None, read):
        raise ValueError(
            f"the server {masked_address(url)} reads the action format {read!r}, got "
            f"{action_format!r}; pass --action_format {read}, or have it serve {action_format}"
        )
    return ServersParser(read), read
