"""A client without a package, and agents of its own loop."""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from agentgym_envs import ListedTasks, TaskSpec
from agentgym_envs.harness import Endpoint, HarnessEnv

NUMBERS = {"train": {"own": range(8)}, "validation": {"own": [8, 9]}, "test": {"own": [10, 11]}}


class Refused(Exception):
    """The endpoint's answer to a bad request: its status and error."""

    def __init__(self, status: int, error: dict[str, str]) -> None:
        super().__init__(error["message"])
        self.status, self.code = status, error["code"]


def post(endpoint: Endpoint, body: Any, *, path: str = "/chat/completions") -> bytes:
    """Send a request, and return the answer's body."""
    request = Request(
        endpoint.base_url + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {endpoint.api_key}"},
    )
    try:
        with urlopen(request, timeout=30) as answer:
            return bytes(answer.read())
    except HTTPError as error:
        raise Refused(error.code, json.loads(error.read())["error"]) from None


def chat(endpoint: Endpoint, messages: list[dict[str, Any]], **options: Any) -> str:
    """Return the model's answer to messages."""
    answer = json.loads(post(endpoint, {"model": "any", "messages": messages, **options}))
    return str(answer["choices"][0]["message"]["content"])


def message(role: str, content: Any) -> dict[str, Any]:
    """Return a message."""
    return {"role": role, "content": content}


class ToyHarness(HarnessEnv):
    """The base of agents in tests."""

    task_set = ListedTasks("own", NUMBERS)
    source = "own-1"


class Scripted(ToyHarness):
    """Sends given lists of messages, of which `{n}` is the n-th answer."""

    script: tuple[list[dict[str, Any]], ...] = ()
    reward: Any = 1.0

    def run(self, task: TaskSpec, endpoint: Endpoint) -> Any:
        answers: list[str] = []
        for messages in self.script:
            filled = [message(each["role"], each["content"].format(*answers)) for each in messages]
            answers.append(chat(endpoint, filled))
        if isinstance(self.reward, BaseException):
            raise self.reward
        return self.reward
