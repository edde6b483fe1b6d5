"""What all scenarios' fuzz tests share: any text, calls in two shapes, an answer's contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import strategies as st

from agentgym_envs import TextEnv
from agentgym_envs.core import INFO_KEYS

Check = Callable[[float, float, dict[str, Any]], None]
"""The score before a turn, its reward and its info -> raises where they do not fit together."""


def any_text(max_size: int = 200) -> st.SearchStrategy[str]:
    """Any code points, lone surrogates among them."""
    return st.text(st.characters(codec=None), max_size=max_size)


def any_json(text: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Any JSON value whose strings are `text` or anything."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | text | any_text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text(), inner, max_size=4),
        max_leaves=10,
    )


def as_call(name: str, arguments: dict[str, Any]) -> str:
    """Write a call as the function_call format has it."""
    return json.dumps({"name": name, "arguments": arguments})


def as_code(name: str, arguments: dict[str, Any]) -> str:
    """Write a call as the code format has it."""
    inside = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"```python\n{name}({inside})\n```"


def success_pays_one(before: float, reward: float, info: dict[str, Any]) -> None:
    """Check the reward of the scenarios that pay at the end alone."""
    assert reward == float(info["success"])


def play(
    env: TextEnv, completions: Iterable[str], *, check: Check = success_pays_one, **reset: Any
) -> None:
    """Play completions until the episode ends; every answer must keep the contract.

    Args:
        env: the environment.
        completions: what the policy sends.
        check: how reward and score must fit.
        **reset: arguments of `reset`.
    """
    _, info = env.reset(**reset)
    for turn, completion in enumerate(completions, 1):
        before = info["score"]
        observation, reward, terminated, truncated, info = env.step(completion)
        assert type(observation) is str and observation
        assert type(reward) is float
        assert type(terminated) is type(truncated) is bool
        assert set(INFO_KEYS) <= set(info)
        assert info["turn"] == turn
        assert 0.0 <= info["score"] <= 1.0
        assert type(info["is_valid_action"]) is type(info["success"]) is bool
        assert json.loads(json.dumps(info)) == info
        check(before, reward, info)
        if terminated or truncated:
            return
