"""Wordle's expert knows the marks and the list, and finds nearly every word."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import NoExpert
from agentgym_envs.checking.checks import ShownText
from agentgym_envs.wordle.env import WordleEnv
from agentgym_envs.wordle.expert import best_guess
from agentgym_envs.wordle.game import Guess, candidates, guess_marks
from agentgym_envs.wordle.lists import shipped_lists
from tests.helpers import FORMATS_AND_COMPATS

WORDS = tuple(shipped_lists().listed.words)


def made(**kwargs: Any) -> WordleEnv:
    env = gym.make("agentgym/Wordle-v0", disable_env_checker=True, **kwargs).unwrapped
    assert isinstance(env, WordleEnv)
    return env


def solves(env: WordleEnv, actions: Any) -> bool:
    info: dict[str, Any] = {"success": False}
    for action in actions:
        *_, terminated, _, info = env.step(action)
        if terminated:
            break
    return bool(info["success"])


@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
def test_the_expert_finds_every_listed_word(action_format: str, compat: str | None) -> None:
    env = made(action_format=action_format, compat=compat)
    for number in range(60):
        env.reset(options={"task_id": number})
        assert solves(env, env.expert())


def test_the_expert_finds_the_words_that_are_not_shown() -> None:
    env = made()
    for task_id in env.task_ids("test")[25::10]:
        env.reset(options={"task_id": task_id})
        assert solves(env, env.expert()), task_id


def test_the_best_guess_leaves_the_fewest_words_on_average() -> None:
    def left_on_average(word: str) -> float:
        sizes = Counter(guess_marks(word, hidden) for hidden in WORDS)
        return sum(size * size for size in sizes.values()) / len(WORDS)

    best = best_guess(WORDS, WORDS, 6)
    assert left_on_average(best) == min(map(left_on_average, WORDS))


def test_the_last_guess_may_be_the_word() -> None:
    left = candidates(WORDS, [Guess("snoop", guess_marks("snoop", "brick"))])
    assert len(left) > 2
    assert best_guess(WORDS, tuple(left), 1) in left


def test_games_that_look_alike_get_the_same_guess() -> None:
    env = made()
    first = set()
    for number in range(20):
        env.reset(options={"task_id": number})
        first.add(next(env.expert()))
    assert len(first) == 1


def test_the_expert_goes_on_from_any_state_with_a_guess_left() -> None:
    env = made()
    for number in range(40):
        env.reset(options={"task_id": number})
        assert env.game.hidden is not None
        wrong = [word for word in WORDS if word != env.game.hidden]
        env.step("no word")
        env.step(wrong[number % len(wrong)])
        assert solves(env, env.expert())


def test_thoughts_say_what_the_marks_told() -> None:
    env = made(action_format="react")
    for number in (*range(5), 10_003, 10_162):
        observation, _ = env.reset(options={"task_id": number})
        shown = ShownText(env, observation)
        for move in env.expert_moves():
            assert move.thought
            shown.check(move.thought)
            if not env.game.words.is_shown:
                assert move.action.replace(" ", "") not in move.thought
                assert not re.search(r"[0-9]+ words? fit", move.thought)
            env.step(env.parser.format(move.action, move.thought))


def test_the_privileged_expert_needs_one_guess() -> None:
    env = made()
    env.reset(options={"task_id": 10_003})
    assert solves(env, [next(env.expert(privileged=True))])
    original = made(compat="agentgym")
    original.reset(options={"task_id": 3})
    with pytest.raises(NoExpert, match="drawn at each guess"):
        next(original.expert(privileged=True))


@pytest.mark.parametrize(
    ("baseline", "least", "most"), [("list_order", 5, 30), ("first_fit", 90, 100)]
)
def test_baselines_end_and_reach_what_they_can(baseline: str, least: int, most: int) -> None:
    env = made()
    solved = 0
    for number in range(100):
        env.reset(options={"task_id": number})
        solved += solves(env, env.baseline(baseline))
    assert least <= solved <= most
