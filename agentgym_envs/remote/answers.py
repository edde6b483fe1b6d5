"""Reads an OpenEnv server's answers to a reset and to a step."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentgym_envs.core.outcome import JUDGEMENTS_KEY, UNSCORED_KEY, VERDICT_KEY, Outcome
from agentgym_envs.errors import EnvFailure

_PASSED_ON = (UNSCORED_KEY, VERDICT_KEY, JUDGEMENTS_KEY)
_NOT_SHOWN = ("metadata", "done", "reward")
_BROKEN_CALLS = ("transport_error", "timeout")
_CALL_FIELDS = {"tool_name", "result"}
SUCCESS_REWARD = 1.0
"""The last reward of an episode that succeeds, where the server does not say so itself."""


@dataclass(frozen=True)
class Answer:
    """An observation of the server with its other fields.

    Attributes:
        fields: the observation.
        metadata: what the server says besides.
        reward: of the step; 0 at a reset.
        done: the episode is over.
    """

    fields: Mapping[str, Any]
    metadata: Mapping[str, Any]
    reward: float
    done: bool

    @property
    def text(self) -> str:
        """The text for the policy."""
        fields = self.fields
        if isinstance(fields.get("text"), str):
            return str(fields["text"])
        if set(fields) >= _CALL_FIELDS:
            return _result_text(fields)
        messages = fields.get("messages")
        if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
            parts = (fields.get("prompt"), messages[-1].get("content"))
            return "\n\n".join(str(part) for part in parts if part)
        shown = {key: value for key, value in fields.items() if key not in _NOT_SHOWN}
        return json.dumps(shown, ensure_ascii=False)

    @property
    def prompt(self) -> str | None:
        """The instruction text that the server gives apart from the observation's text."""
        prompt = self.fields.get("prompt")
        return prompt if isinstance(prompt, str) and "text" in self.fields else None

    @property
    def available_actions(self) -> list[str] | None:
        """The possible actions, or None where they are not listed."""
        for place in (self.fields, self.metadata):
            listed = place.get("available_actions")
            if isinstance(listed, list):
                return [str(action) for action in listed]
        return None

    @property
    def counts_turns(self) -> bool:
        """The server reports truncation as this package's does, and takes `horizon`."""
        return "truncated_by" in self.metadata

    def outcome(self) -> Outcome:
        """Return the result of the step."""
        metadata = self.metadata
        truncated = self.done and metadata.get("truncated") is True
        terminated = self.done and metadata.get("terminated", not truncated) is True
        truncated = self.done and not terminated
        error = self._call_error
        success = metadata.get("success")
        if not isinstance(success, bool):
            success = terminated and self.reward >= SUCCESS_REWARD
        score = finite(metadata.get("score", self.reward if self.done else None))
        return Outcome(
            self.text,
            self.reward,
            terminated,
            truncated,
            {key: metadata[key] for key in _PASSED_ON if key in metadata},
            success=success,
            score=None if score is None else min(max(score, 0.0), 1.0),
            is_valid=error is None and metadata.get("is_valid_action") is not False,
        )

    @property
    def _call_error(self) -> Mapping[str, Any] | None:
        error = self.fields.get("error")
        return error if isinstance(error, Mapping) and "error_type" in error else None

    def check_call(self, url: str) -> None:
        """Raise EnvFailure if the machinery of a tool broke."""
        error = self._call_error
        if error is not None and error["error_type"] in _BROKEN_CALLS:
            raise EnvFailure(
                f"the server {url} failed: the tool {self.fields.get('tool_name')!r:.80} broke: "
                f"{error.get('message')} ({error['error_type']})"
            )


def read_answer(data: Mapping[str, Any], url: str) -> Answer:
    """Read the content of an observation frame.

    Raises:
        EnvFailure: it has another form.
    """
    fields, done = data.get("observation"), data.get("done")
    if isinstance(fields, str):
        fields = {"text": fields}
    reward = 0.0 if data.get("reward") is None else finite(data["reward"])
    if (
        not isinstance(fields, Mapping)
        or reward is None
        or not isinstance(done, bool | None)
        or not all(isinstance(of.get("metadata"), Mapping | None) for of in (fields, data))
    ):
        raise EnvFailure(
            f"the server {url} failed: an answer must hold an observation, a finite reward or "
            f"null, done as true or false, and metadata as an object; got {data!r:.200}"
        )
    metadata = {**(fields.get("metadata") or {}), **(data.get("metadata") or {})}
    answer = Answer(fields, metadata, reward, done is True)
    answer.check_call(url)
    return answer


def finite(value: Any) -> float | None:
    """Return a number that JSON holds, or None for no number, infinity and too large ones."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _result_text(fields: Mapping[str, Any]) -> str:
    """Return a tool's answer: its text, or its JSON."""
    error, result = fields.get("error"), fields["result"]
    if isinstance(error, Mapping):
        return str(error.get("message", error))
    if isinstance(result, Mapping) and isinstance(result.get("content"), list):
        parts = [part.get("text") for part in result["content"] if isinstance(part, Mapping)]
        if parts and all(isinstance(part, str) for part in parts):
            return "\n".join(map(str, parts))
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
