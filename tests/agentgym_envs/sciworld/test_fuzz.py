"""No string that a policy may send raises, and the state stays sound whatever it sends."""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_envs import TextEnv
from agentgym_envs.actions import ACTION_FORMATS
from tests.agentgym_envs.fuzzing import any_text, as_call, as_code, play
from tests.quick import examples

EXAMPLES = 12  # x 4 formats x up to 6 strings
TASKS = (0, 1416, 3236, 4168, 4639 + 126)

WORDS = st.sampled_from(
    "look around at in open close door to kitchen go pick up drop move pour into dunk mix use "
    "thermometer on activate deactivate connect battery anode black wire terminal 1 disconnect "
    "read eat flush focus air task inventory wait wait1 help objects reset 0 1 99 -1 ٣ the a agent "
    "orange substance picture , . ' Thought: Action: \n \t".split(" ")
)
PHRASES = st.lists(WORDS, max_size=8).map(" ".join)
ANY_TEXT = any_text()
NAMES = st.sampled_from(["open", "go_to", "move", "connect", "use", "choose", "task", "x"])
KEYS = st.sampled_from(["thing", "place", "container", "terminal", "other", "number", "x"])
ARGUMENTS = st.dictionaries(KEYS, PHRASES | ANY_TEXT | st.integers(), max_size=3)


SHAPED = {
    "plain": PHRASES,
    "react": st.builds("Thought: {}\nAction: {}".format, ANY_TEXT, PHRASES),
    "function_call": st.builds(as_call, NAMES, ARGUMENTS),
    "code": st.builds(as_code, NAMES, ARGUMENTS),
}


@cache
def env_of(action_format: str, compat: str | None = None) -> TextEnv:
    env = gym.make(
        "agentgym/SciWorld-v0", action_format=action_format, compat=compat, max_turns=10**9
    ).unwrapped
    assert isinstance(env, TextEnv)
    return env


def pays_its_increase(before: float, reward: float, info: dict[str, Any]) -> None:
    assert reward == pytest.approx(info["score"] - before)


def play_task(env: TextEnv, number: int, completions: list[str]) -> None:
    check = pays_its_increase if env.compat is None else lambda *_: None  # raw points there
    play(env, completions, check=check, options={"task_id": number})


@pytest.mark.parametrize(
    "action_format",
    [
        # Formats are read before the game; the other environments' tests try them all.
        pytest.param(name, marks=() if name in ("plain", "function_call") else pytest.mark.science)
        for name in ACTION_FORMATS
    ],
)
def test_any_text_is_answered(action_format: str) -> None:
    @settings(max_examples=examples(EXAMPLES))
    @given(
        st.sampled_from(TASKS),
        st.lists(ANY_TEXT | SHAPED[action_format], min_size=1, max_size=6),
    )
    def answers(number: int, completions: list[str]) -> None:
        play_task(env_of(action_format), number, completions)

    answers()


def test_any_text_is_answered_in_the_originals_mode() -> None:
    @settings(max_examples=examples(EXAMPLES))
    @given(st.sampled_from(TASKS), st.lists(ANY_TEXT | PHRASES, min_size=1, max_size=6))
    def answers(number: int, completions: list[str]) -> None:
        play_task(env_of("plain", "agentgym"), number, completions)

    answers()


@pytest.mark.parametrize("compat", [None, "agentgym"])
def test_what_breaks_parsers_elsewhere_is_answered(compat: str | None) -> None:
    deep = 100_000
    hostile = [
        "open " * deep,
        "connect agent to " * 20,
        "move orange to agent in agent in agent in agent in agent",
        "\x00",
        "\\",
        "\\n\\",
        "e\ne\ns\n",
        "\ud800\udfff\x00\x1b[2J\u202e\u2028",
        "open (.*",
        "$1 \\1 [a-z]+",
        "open door",
        "9" * 300,
        "open door",
        "-1",
        "open door",
        "٣",
        "open door",
        "",
        "take agent",
        "move agent to picture",
        "eat agent",
        "close hallway",
    ]
    play_task(env_of("plain", compat), 0, hostile)
