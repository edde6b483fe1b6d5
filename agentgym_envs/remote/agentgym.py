"""The environment of an AgentGym server as one of ours, over AgentGym's HTTP.

Follows AgentGym 3ef9235d. One environment of the server is made at the first reset and is reset
again for each episode.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from contextlib import closing
from typing import Any, NamedTuple

from agentgym_envs.core import Outcome
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import EnvFailure
from agentgym_envs.remote.action_forms import VERBS
from agentgym_envs.remote.answers import finite
from agentgym_envs.remote.base import RemoteEnv
from agentgym_envs.remote.http import JsonServer
from agentgym_envs.remote.kinds import Kind, find_kind

_log = logging.getLogger(__name__)
_LISTED = re.compile(r"^Available actions: (\[.*\])\s*\Z", re.MULTILINE)
_GOAL = re.compile(r"^(?:Your goal|Goal|Question|Your task is to|OBJECTIVE): *(.+)", re.MULTILINE)


class _Made(NamedTuple):
    """An environment of a server: who is asked, and the server's number for it."""

    http: JsonServer
    number: int | str


class AgentGymEnv(RemoteEnv):
    """Plays a scenario on one or several AgentGym servers.

    Completions are read as AgentGym's client of the scenario reads them, and the score is that of
    the last step.

    Args:
        url: the server's, `http://host:port`; several are separated by commas.
        kind: the scenario; None reads it from the address (`http://host:36001/babyai`) or asks the
            server.
        token: sent as `Authorization: Bearer`; None takes that of `AGENTGYM_TOKEN`.
        timeout: seconds that an answer may take.
        turns_left: as `TextEnv`; by default the server's text is shown as it is.
        **kwargs: as `TextEnv`.

    Raises:
        EnvFailure: no server answers.
        ValueError: an argument has a value that is not allowed, or nobody says which scenario it
            is.
    """

    protocol, protocol_name = "agentgym", "AgentGym"
    verbs = VERBS
    default_max_turns = 30
    source = "agentgym-http"

    def __init__(
        self,
        *,
        url: str,
        kind: str | None = None,
        token: str | None = None,
        timeout: float = 60.0,
        turns_left: bool = False,
        **kwargs: Any,
    ) -> None:
        pool = self.connect_to(url, timeout=timeout, token=token)
        self._made: _Made | None = None
        self._kind: Kind = pool.describe(
            kind, self._entered, lambda address, http: find_kind(address, http, kind)
        )
        self.instructions = self._kind.instructions
        self.default_max_turns = self._kind.max_turns
        self.source = f"agentgym-http:{self._kind.name}"
        super().__init__(self._kind.task_set, turns_left=turns_left, **kwargs)
        self.parser = self._kind.reads(self.action_format)

    def begin(self, task: TaskSpec) -> str:
        """Reset the server's environment, or make another where it was lost since the last one."""
        body = {self._kind.number: task.number, **self._kind.reset}
        observation = self._first(self._reset(body))
        goal = _GOAL.search(observation)
        self.goal = goal[1].strip() if goal else observation.partition("\n")[0]
        return observation

    def apply(self, action: str) -> Outcome:
        """Send one action."""
        kind = self._kind
        answer = self._ask("/step", {"action": action})
        fields: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
        text, reward = fields.get(kind.text), finite(fields.get("reward"))
        score = finite(fields.get(kind.score))
        if not isinstance(text, str) or reward is None or score is None:
            raise self._failure(
                "/step",
                f"the answer lacks {kind.text}, reward or {kind.score}: {json.dumps(answer):.200}",
            )
        self._available = self._listed(text, fields)
        is_done = fields.get(kind.done) is True
        score = min(max(score / kind.scale, 0.0), 1.0)
        return Outcome(
            self._with_actions(text),
            reward,
            is_done,
            truncated=fields.get("truncated") is True and not is_done,
            success=is_done and score > kind.success,
            score=score,
        )

    def close(self) -> None:
        """Give the server's environment back."""
        self._leave()

    def _reset(self, body: Mapping[str, Any]) -> Any:
        if self._made is not None:
            try:
                return self._ask("/reset", body)
            except EnvFailure as failure:
                _log.info("another environment is made: %s", failure)
        self._url, self._made = self._pool.open(self._create)
        return self._ask("/reset", body)

    def _create(self, url: str) -> _Made:
        http = self._http(url)
        answer = http.value("POST", "/create", dict(self._kind.create))
        field = self._kind.created
        number = answer.get(field) if field and isinstance(answer, Mapping) else answer
        if isinstance(number, bool) or not isinstance(number, int | str):
            raise http.failure("/create", f"{json.dumps(answer):.200} is no {self._kind.name}")
        return _Made(http, number)

    def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """Do something with the environment, which is left if the machinery breaks."""
        made = self._made
        if made is None:
            raise EnvFailure("there is no environment of a server; call reset()")
        answer = self._send(made, "POST", path, {self._kind.key: made.number, **body})
        if isinstance(answer, Mapping) and "error" in answer:
            raise self._failure(path, str(answer["error"]))
        return answer

    def _get(self, path: str) -> Any:
        """Get the environment's metadata, and leave the environment if the machinery breaks."""
        assert self._made is not None
        return self._send(self._made, "GET", path, **{self._kind.key: self._made.number})

    def _send(self, made: _Made, method: str, path: str, body: Any = None, **query: Any) -> Any:
        try:
            reply = made.http.ask(method, path, body, **query)
        except EnvFailure:
            self._leave(answers=False)
            raise
        if reply.status != 200:
            raise self._failure(path, f"status {reply.status}: {reply.text}", reply.status)
        return reply.value

    def _failure(self, path: str, cause: str, status: int | None = None) -> EnvFailure:
        """Return the error, and give back the environment of a server that has answered."""
        assert self._made is not None
        failure = self._made.http.failure(path, cause, status)
        self._leave(is_down=status is not None)
        return failure

    def _leave(self, *, answers: bool = True, is_down: bool = False) -> None:
        """Give the environment back to a server that answers, and forget another's."""
        made, self._made = self._made, None
        if made is None:
            return
        self._pool.release(self._url, is_down=is_down or not answers)
        with closing(made.http):
            if answers:
                try:
                    made.http.ask("POST", "/close", {self._kind.key: made.number})
                except EnvFailure:
                    pass  # it is gone already, which is what we want

    def _first(self, answer: Any) -> str:
        """Return the first observation of an episode."""
        kind = self._kind
        if isinstance(answer, Mapping) and answer.get("sites") == "Error":
            raise self._failure("/reset", str(answer.get(kind.text)))
        if kind.observe:
            text: Any = self._get("/observation")
        elif kind.first and isinstance(answer, Mapping):
            parts = [answer.get(name) for name in kind.first]
            text = "\n".join(map(str, parts)) if None not in parts else None
        else:
            text = answer[0] if isinstance(answer, list) and answer else answer
        if not isinstance(text, str):
            raise self._failure("/reset", f"no observation in {json.dumps(answer):.200}")
        if kind.words:
            text = f"{text}\n{', '.join(map(str, self._get(kind.words)))}"
        self._available = self._listed(text, answer)
        return self._with_actions(text)

    def _listed(self, text: str, answer: Any) -> list[str] | None:
        if self._kind.actions and isinstance(answer, Mapping):
            listed = answer.get(self._kind.actions)
        else:
            match = _LISTED.search(text)
            try:
                listed = json.loads(match[1]) if match else None
            except ValueError:
                listed = None
        return [str(action) for action in listed] if isinstance(listed, list) else None

    def _with_actions(self, text: str) -> str:
        """Return an observation with the actions that stand apart from it, as the client does."""
        if not self._kind.actions or self._available is None:
            return text
        return f"{text}\nAVAILABLE ACTIONS: {','.join(self._available)}"

    def _entered(self, url: str) -> JsonServer:
        """Return a server that answers and lets us in: the pool tries another where it does not."""
        http = self._http(url)
        http.enter()
        return http

    def _http(self, url: str) -> JsonServer:
        return JsonServer(url, timeout=self._timeout, token=self._token)
