"""An observation repeats little of what a policy writes, however much that is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import TextEnv
from agentgym_envs.actions import ActionVerb
from tests.agentgym_envs.fuzzing import as_call, as_code
from tests.helpers import FORMATS_AND_COMPATS

LENGTH = 25_000
MAX_OBSERVATION = 20_000
"""Of any page or room, with what it repeats of an action."""
TEXTS = ("x" * LENGTH, "word " * (LENGTH // 5), "9" * LENGTH, "<a>\n" * (LENGTH // 4))

ENVIRONMENTS = [
    "ALFWorld-v0",
    "BabyAI-v0",
    "Maze-v0",
    pytest.param("SciWorld-v0", marks=pytest.mark.science),
    "SearchQA-v0",
    "SQL-v0",
    "TextCraft-v0",
    "WebArena-v0",
    "WebShop-v0",
    "Wordle-v0",
    pytest.param("MiniWoB-v0", marks=pytest.mark.browser),
]


def completions(verb: ActionVerb, action_format: str, text: str) -> Iterator[str]:
    """Yield what a policy may send of a verb with an endless argument, and of text alone."""
    arguments = {p: 1 if p in verb.integers else text for p in verb.parameters}
    plain = re.sub(r"\{(\w+)\}", lambda slot: str(arguments[slot[1]]), verb.template)
    yield {
        "plain": plain,
        "react": f"Thought: no\nAction: {plain}",
        "function_call": as_call(verb.name, arguments),
        "code": as_code(verb.name, arguments),
    }[action_format]
    yield f"{verb.name} {text}"
    if action_format == "function_call":
        yield as_call(text, arguments)
        yield as_call(verb.name, {text: text})
    elif action_format == "code":
        name = "x" * 40_000
        yield as_code(name, {})
        yield f"```python\n{verb.name}({name}=1, {name}=2)\n```"


@pytest.mark.full
@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_endless_text_is_not_repeated(name: str, compat: str | None, action_format: str) -> None:
    arguments: dict[str, Any] = {} if name == "MiniWoB-v0" else {"compat": compat}
    arguments |= {"action_format": action_format, "max_turns": 10**9}
    try:
        env = gym.make(f"agentgym/{name}", **arguments).unwrapped
    except ImportError as missing:
        pytest.skip(str(missing))
    assert isinstance(env, TextEnv)
    env.reset(seed=0)
    for text in TEXTS:
        for verb in env.verbs:
            for completion in completions(verb, action_format, text):
                observation, _, is_over, _, info = env.step(completion)
                assert len(observation) < MAX_OBSERVATION, (verb.name, observation[:200])
                assert len(str({**info, "answer": ""})) < MAX_OBSERVATION, verb.name
                if is_over:
                    env.reset(seed=0)
    env.close()
