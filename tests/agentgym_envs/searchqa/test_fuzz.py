"""No string that a policy may send raises, in any format, and the answer keeps the contract."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.core import INFO_KEYS
from agentgym_envs.searchqa.env import SearchQAEnv
from tests.agentgym_envs.searchqa import small_world

COMPATS = (None, "agentgym")
EXAMPLES = 60

PIECES = st.sampled_from(
    "<search> </search> <open> </open> <python> </python> <answer> </answer> <think> </think> "
    "Orla Venn Quill Ivo Brann | page 1 2 99999999 -1 ½ ٣ Doc 1 Doc the a Ashe river print(1) 1/0 "
    "x=1 import os \n \t \0 \" ' # {} ```".split(" ")
)
PHRASES = st.lists(PIECES, max_size=14).map(" ".join)
CONTENT = st.lists(PIECES, max_size=6).map(" ".join)
ANY_TEXT = st.text(st.characters(codec=None), max_size=200)
NAMES = st.sampled_from(["search", "open", "python", "answer", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | CONTENT | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=10,
)
KEYS = st.sampled_from(["query", "document", "code", "answer", "x"])
ARGUMENTS = st.dictionaries(KEYS, CONTENT | JSON, max_size=2)
TAGS = st.builds("<{0}>{1}</{0}>".format, NAMES, CONTENT | ANY_TEXT)


def as_call(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def as_code(name: str, arguments: dict[str, Any]) -> str:
    inside = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"```python\n{name}({inside})\n```"


SHAPED = {
    "plain": TAGS,
    "react": st.builds("<think>{}</think>\n{}".format, ANY_TEXT, TAGS),
    "function_call": st.builds(as_call, NAMES, ARGUMENTS) | JSON.map(json.dumps),
    "code": st.builds(as_code, NAMES, ARGUMENTS) | CONTENT.map("```python\n{}\n```".format),
}


@cache
def env_of(action_format: str, compat: str | None) -> SearchQAEnv:
    return small_world.make(action_format=action_format, compat=compat, max_turns=10**9)


def play(env: SearchQAEnv, number: int, completions: list[str]) -> None:
    env.reset(options={"task_id": number})
    for turn, completion in enumerate(completions, 1):
        observation, reward, terminated, truncated, info = env.step(completion)
        assert type(observation) is str and observation
        assert type(reward) is float
        assert type(terminated) is type(truncated) is bool
        assert set(INFO_KEYS) <= set(info)
        assert info["turn"] == turn
        assert 0.0 <= info["f1"] <= 1.0
        assert reward == info["score"] == float(info["success"])
        assert type(info["is_valid_action"]) is type(info["success"]) is bool
        assert json.loads(json.dumps(info)) == info
        if terminated or truncated:
            return


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize("action_format", ACTION_FORMATS)
def test_any_text_is_answered(action_format: str, compat: str | None) -> None:
    env = env_of(action_format, compat)

    @settings(max_examples=EXAMPLES)
    @given(st.integers(0, 4), st.lists(ANY_TEXT | PHRASES, min_size=1, max_size=5))
    def answers(number: int, completions: list[str]) -> None:
        play(env, number, completions)

    answers()


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize("action_format", ACTION_FORMATS)
def test_text_in_the_format_s_shape_is_answered(action_format: str, compat: str | None) -> None:
    env = env_of(action_format, compat)

    @settings(max_examples=EXAMPLES)
    @given(st.integers(0, 4), st.lists(SHAPED[action_format], min_size=1, max_size=5))
    def answers(number: int, completions: list[str]) -> None:
        play(env, number, completions)

    answers()


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize("action_format", ACTION_FORMATS)
def test_what_breaks_parsers_elsewhere_is_answered(action_format: str, compat: str | None) -> None:
    many = 100_000
    for hostile in (
        "[" * many,
        '{"a":' * many,
        "```" * many,
        "<search>" * many,
        "<think>" * many + "</think>" * many,
        "<search>" + "Quill " * many + "</search>",
        "<open>" + "Quill | page " * many + "</open>",
        "<open>Doc " + "9" * many + "</open>",
        "<open>Quill | page " + "9" * many + "</open>",
        "<answer>" + "the " * many + "</answer>",
        "<python>" + "(" * many + "</python>",
        "<python>" + "x = 1\n" * many + "</python>",
        '{"name": "search", "arguments": {"query": "' + "9" * many + '"}}',
        "```python\nsearch(" + "'x' " * many + ")\n```",
        "```python\npython(0x" + "f" * many + ")\n```",
        "\ud800\udfff\x00\x1b[2J\u202e\u2028",
        "<search>\ud800\x00</search>",
        "<open>\ud800\x00</open>",
        "<answer>\ud800\x00</answer>",
        "<python>'\ud800\x00'</python>",
    ):
        play(env_of(action_format, compat), 0, [hostile])
