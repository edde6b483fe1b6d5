"""No string that a policy may send raises, in any format, and the answer keeps the contract."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_envs.searchqa.env import SearchQAEnv
from tests.agentgym_envs.fuzzing import (
    any_json,
    any_text,
    as_call,
    as_code,
    play,
    success_pays_one,
)
from tests.agentgym_envs.searchqa import small_world
from tests.helpers import FORMATS_AND_COMPATS
from tests.quick import examples

COMPATS = (None, "agentgym")
EXAMPLES = 60

PIECES = st.sampled_from(
    "<search> </search> <open> </open> <python> </python> <answer> </answer> <think> </think> "
    "Orla Venn Quill Ivo Brann | page 1 2 99999999 -1 ½ ٣ Doc 1 Doc the a Ashe river print(1) 1/0 "
    "x=1 import os \n \t \0 \" ' # {} ```".split(" ")
)
PHRASES = st.lists(PIECES, max_size=14).map(" ".join)
CONTENT = st.lists(PIECES, max_size=6).map(" ".join)
ANY_TEXT = any_text()
JSON = any_json(CONTENT)
NAMES = st.sampled_from(["search", "open", "python", "answer", "x"])
KEYS = st.sampled_from(["query", "document", "code", "answer", "x"])
ARGUMENTS = st.dictionaries(KEYS, CONTENT | JSON, max_size=2)
TAGS = st.builds("<{0}>{1}</{0}>".format, NAMES, CONTENT | ANY_TEXT)


SHAPED = {
    "plain": TAGS,
    "react": st.builds("<think>{}</think>\n{}".format, ANY_TEXT, TAGS),
    "function_call": st.builds(as_call, NAMES, ARGUMENTS) | JSON.map(json.dumps),
    "code": st.builds(as_code, NAMES, ARGUMENTS) | CONTENT.map("```python\n{}\n```".format),
}


@cache
def env_of(action_format: str, compat: str | None) -> SearchQAEnv:
    return small_world.make(action_format=action_format, compat=compat, max_turns=10**9)


def pays_the_exact_match(before: float, reward: float, info: dict[str, Any]) -> None:
    success_pays_one(before, reward, info)
    assert reward == info["score"]
    assert 0.0 <= info["f1"] <= 1.0


def play_task(env: SearchQAEnv, number: int, completions: list[str]) -> None:
    play(env, completions, check=pays_the_exact_match, options={"task_id": number})


@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
def test_any_text_is_answered(action_format: str, compat: str | None) -> None:
    env = env_of(action_format, compat)

    @settings(max_examples=examples(EXAMPLES))
    @given(st.integers(0, 4), st.lists(ANY_TEXT | PHRASES, min_size=1, max_size=5))
    def answers(number: int, completions: list[str]) -> None:
        play_task(env, number, completions)

    answers()


@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
def test_text_in_the_format_s_shape_is_answered(action_format: str, compat: str | None) -> None:
    env = env_of(action_format, compat)

    @settings(max_examples=examples(EXAMPLES))
    @given(st.integers(0, 4), st.lists(SHAPED[action_format], min_size=1, max_size=5))
    def answers(number: int, completions: list[str]) -> None:
        play_task(env, number, completions)

    answers()


@pytest.mark.full
@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
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
        play_task(env_of(action_format, compat), 0, [hostile])
