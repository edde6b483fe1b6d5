"""A model server that answers as the expert plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym

import agentgym_envs  # noqa: F401 - registers the ids


class Expert:
    """Knows the expert's completions in some tasks by their first observations.

    Args:
        env_id: whose tasks they are.
        task_ids: of these tasks.
        **kwargs: what the environment is made with.

    Attributes:
        system_prompt: of the environment.
        turns: by task id (observation, completion) in their order.
    """

    def __init__(self, env_id: str, task_ids: list[str], **kwargs: Any) -> None:
        env: Any = gym.make(env_id, **kwargs)
        self.system_prompt: str = env.unwrapped.system_prompt
        self.turns: dict[str, list[tuple[str, str]]] = {}
        for task_id in task_ids:
            observation, _ = env.reset(options={"task_id": task_id})
            turns = self.turns[task_id] = []
            for completion in env.unwrapped.expert():
                turns.append((observation, completion))
                observation = env.step(completion)[0]
        env.close()

    def completion(self, observations: list[str]) -> str:
        """Return what the expert says next to the observations of an episode so far.

        Raises:
            AssertionError: they are no expert's episode.
        """
        for turns in self.turns.values():
            if [observation for observation, _ in turns[: len(observations)]] == observations:
                return turns[len(observations) - 1][1]
        raise AssertionError(f"no expert has seen {observations[-1]!r}")


def chat_message(text: str) -> dict[str, Any]:
    """A chat completion with all that clients of OpenAI's protocol may ask for."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "expert",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def chat_answers(expert: Expert) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    """Return the answers of an OpenAI-compatible server, by path."""

    def chat(body: dict[str, Any]) -> dict[str, Any]:
        system, *messages = body["messages"]
        assert system == {"role": "system", "content": expert.system_prompt}
        said = [m["content"] for m in messages if m["role"] == "assistant"]
        text = expert.completion([m["content"] for m in messages if m["role"] == "user"])
        assert len(messages) == 2 * len(said) + 1
        return chat_message(text)

    return {"/v1/chat/completions": chat}
