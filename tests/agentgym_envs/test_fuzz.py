"""No string that a policy may send raises, and the state stays sound whatever it sends."""

from __future__ import annotations

import json
from functools import cache

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_envs import TextEnv
from agentgym_envs.actions import ACTION_FORMATS
from tests.agentgym_envs.fuzzing import any_json, any_text, as_call, as_code, play
from tests.quick import examples

ENV_IDS = tuple(
    f"agentgym/{name}-v0" for name in ("ALFWorld", "BabyAI", "Maze", "SQL", "TextCraft", "Wordle")
)
STRINGS_PER_EXAMPLE = 5
EXAMPLES = 40  # x 6 envs x 4 formats x up to 5 strings, twice: about 6000

WORDS = st.sampled_from(
    "get craft using inventory 1 2 64 -1 0 99999999999999999999 ½ ٣ , oak planks stick go to a red "
    "ball pick up pickup drop toggle open close move forward turn left right through door 1 2 key "
    "check available actions the box take cabinet mug from in/on examine heat with Thought: "
    "query answer columns orders SELECT * FROM ( ) 1=1 ; -- UNION PRAGMA posts places projects "
    "Action: \n \t ''".split(" ")
)
PHRASES = st.lists(WORDS, max_size=12).map(" ".join)
ANY_TEXT = any_text()
LONG = st.builds(lambda piece, count: piece * count, st.text(min_size=1), st.just(25_000)).map(
    lambda text: text[:25_000]
)
JSON = any_json(PHRASES)
NAMES = st.sampled_from(
    ["get", "craft", "inventory", "go_to", "pick_up", "drop", "toggle", "query", "answer", "x"]
)
KEYS = st.sampled_from(
    ["count", "item", "output", "ingredients", "object", "door", "statement", "x"]
)
ARGUMENTS = st.dictionaries(KEYS, PHRASES | JSON, max_size=3)


SHAPED = {
    "plain": PHRASES,
    "react": st.builds("Thought: {}\nAction: {}".format, ANY_TEXT, PHRASES),
    "function_call": st.builds(as_call, NAMES, ARGUMENTS) | JSON.map(json.dumps),
    "code": st.builds(as_code, NAMES, ARGUMENTS) | PHRASES.map("```python\n{}\n```".format),
}


@cache
def env_of(env_id: str, action_format: str) -> TextEnv:
    env = gym.make(env_id, action_format=action_format, max_turns=10**9).unwrapped
    assert isinstance(env, TextEnv)
    return env


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_any_text_is_answered(env_id: str, action_format: str) -> None:
    env = env_of(env_id, action_format)

    @settings(max_examples=examples(EXAMPLES))
    @given(
        st.integers(0, 50),
        st.lists(ANY_TEXT | PHRASES, min_size=1, max_size=STRINGS_PER_EXAMPLE),
    )
    def answers(seed: int, completions: list[str]) -> None:
        play(env, completions, seed=seed)

    answers()


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_text_in_the_format_s_shape_is_answered(env_id: str, action_format: str) -> None:
    env = env_of(env_id, action_format)

    @settings(max_examples=examples(EXAMPLES))
    @given(
        st.integers(0, 50),
        st.lists(SHAPED[action_format], min_size=1, max_size=STRINGS_PER_EXAMPLE),
    )
    def answers(seed: int, completions: list[str]) -> None:
        play(env, completions, seed=seed)

    answers()


@pytest.mark.full
@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_very_long_text_is_answered(env_id: str, action_format: str) -> None:
    env = env_of(env_id, action_format)

    @settings(max_examples=examples(5))
    @given(LONG, PHRASES)
    def answers(long: str, phrase: str) -> None:
        play(env, [long, f"Action: {phrase} {long}", f"```python\nget(1, {long!r})\n```"], seed=0)
        play(env, [as_call("get", {"count": 1, "item": long})], seed=0)

    answers()


@pytest.mark.full
@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_what_breaks_parsers_elsewhere_is_answered(env_id: str, action_format: str) -> None:
    deep = 100_000
    for hostile in (
        "[" * deep,
        "(" * deep + ")" * deep,
        '{"a":' * deep,
        "```" * deep,
        "get " + "9" * deep + " stick",
        "craft " + "1 stick, " * deep + "using " + "1 stick, " * deep,
        "Action: " * deep,
        "```python\nget(" + "-" * deep + "1, 'x')\n```",
        "```python\nget(" + "'x' " * deep + ")\n```",
        "```python\nget(0x" + "f" * deep + ", 'x')\n```",
        '{"name": "get", "arguments": {"count": ' + "9" * 4300 + ', "item": "stick"}}',
        '{"name": "get", "arguments": {"count": "' + "9" * deep + '", "item": "stick"}}',
        "\ud800\udfff\x00\x1b[2J\u202e\u2028",
    ):
        play(env_of(env_id, action_format), [hostile], seed=0)
