"""What a game of Wordle tells, pays and refuses."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs.wordle.env import EXAMPLE, WordleEnv
from agentgym_envs.wordle.game import Game, Guess, candidates, guess_marks
from agentgym_envs.wordle.lists import WordList, shipped_lists


def begun(task_id: str | int = "wordle_3", **kwargs: Any) -> WordleEnv:
    env = gym.make("agentgym/Wordle-v0", disable_env_checker=True, **kwargs).unwrapped
    assert isinstance(env, WordleEnv)
    env.reset(options={"task_id": task_id})
    return env


def others(env: WordleEnv) -> list[str]:
    """Words of the game that are not the hidden one."""
    return [word for word in env.game.words.words if word != env.game.hidden]


@pytest.mark.parametrize(
    ("word", "hidden", "marks"),
    [
        ("shire", "shire", "ggggg"),
        ("panic", "felon", "bbybb"),
        ("felon", "frown", "gbbyg"),
        ("radar", "cargo", "ygbyy"),  # each letter by itself, as the instructions say
        ("geese", "those", "byygg"),
    ],
)
def test_each_letter_is_marked_by_itself(word: str, hidden: str, marks: str) -> None:
    assert guess_marks(word, hidden) == marks


def test_the_example_can_be_guessed_and_is_never_hidden() -> None:
    lists = begun(10_003).lists
    example = EXAMPLE.replace(" ", "")
    assert lists.common is not None and example in lists.common.allowed
    assert example not in {*lists.hidden, *lists.common.words, *lists.listed.words}


def test_the_hidden_word_pays_1_and_ends_the_game() -> None:
    env = begun()
    assert env.game.hidden is not None
    observation, reward, terminated, truncated, info = env.step(" ".join(env.game.hidden))
    assert observation == "g g g g g\nYou found the word."
    assert (reward, terminated, truncated, info["success"], info["score"]) == (
        *(1.0, True, False, True, 1.0),
    )
    assert info["available_actions"] == []


def test_the_sixth_wrong_guess_ends_the_game_and_tells_the_word() -> None:
    env = begun()
    hidden = env.game.hidden
    assert hidden is not None
    for turn, word in enumerate(others(env)[:6], 1):
        observation, reward, terminated, truncated, info = env.step(word)
        assert (reward, terminated, truncated) == (0.0, turn == 6, False)
        assert observation.startswith(" ".join(guess_marks(word, hidden)))
    told = "That was the last guess. The word was: " + " ".join(hidden)
    assert observation.endswith(told) and not info["success"]


@pytest.mark.parametrize(
    ("task_id", "action", "answer"),
    [
        (3, "", "'' is not a word of 5 letters from a to z; write one such as: s n o o p"),
        (10_003, "a", "'a' is not a word of 5 letters from a to z; write one such as: a d i e u"),
        (3, "the word", "'the word' is not a word of 5 letters from a to z"),
        (3, "é t u d e", "'é t u d e' is not a word of 5 letters"),
        (3, "z e b r a", "zebra is not one of the 40 words."),
        (10_003, "q w e r t", "qwert is not a word of this game; guess a common English word."),
    ],
)
def test_what_is_no_word_of_the_game_is_said_and_costs_a_guess(
    task_id: int, action: str, answer: str
) -> None:
    env = begun(task_id)
    observation, reward, terminated, _, info = env.step(action)
    assert observation.startswith(answer)
    assert (reward, terminated, info["is_valid_action"]) == (0.0, False, False)
    assert env.game.num_left == 5


def test_an_answer_without_an_action_costs_a_guess_too() -> None:
    env = begun(action_format="function_call")
    observation, *_ = env.step("snoop")
    assert "JSON" in observation
    assert env.game.num_left == 5


@pytest.mark.parametrize("spelling", ["s n o o p", "snoop", " S n o o p\n"])
def test_spaces_and_capitals_do_not_matter(spelling: str) -> None:
    env = begun()
    observation, *_ = env.step(spelling)
    assert observation == begun().step("s n o o p")[0]


def test_the_words_are_shown_where_they_are_few() -> None:
    env = gym.make("agentgym/Wordle-v0", disable_env_checker=True)
    observation, info = env.reset(options={"task_id": 3})
    words = shipped_lists().listed.words
    assert observation == (
        f"Let's start Wordle! The hidden word is one of these 40:\n{', '.join(words)}"
    )
    assert info["available_actions"] == [" ".join(word) for word in words]
    observation, info = env.reset(options={"task_id": 10_003})
    assert observation == "Let's start Wordle! The hidden word is a common English one."
    assert info["available_actions"] is None


def test_forms_of_words_can_be_guessed_and_are_never_hidden() -> None:
    common = shipped_lists().common
    assert common is not None
    assert "boats" in common.allowed and "boats" not in common.words
    assert set(shipped_lists().listed.words) <= common.allowed
    env = begun(10_003)
    assert env.step("b o a t s")[4]["is_valid_action"]


@pytest.mark.full
def test_the_word_is_the_numbers() -> None:
    words = {begun(10_000 + place).game.hidden for place in range(100)}
    assert len(words) == 100
    assert {begun(number).game.hidden for number in range(300)} == set(shipped_lists().listed.words)


def test_a_hidden_word_fits_its_own_marks_and_few_others_do() -> None:
    words = shipped_lists().listed.words
    rng = random.Random(0)
    for _ in range(200):
        hidden, *guessed = rng.sample(list(words), 4)
        guesses = [Guess(word, guess_marks(word, hidden)) for word in guessed]
        left = candidates(words, guesses)
        assert hidden in left and not set(guessed) & set(left)


def test_a_word_that_is_drawn_anew_stays_one_that_fits() -> None:
    words = WordList(("aabbb", "aaccc", "ddddd"))
    game = Game(words, seed=0, redraws=True)
    seen = set()
    for seed in range(50):
        game = Game(words, seed=seed, redraws=True)
        seen.add(game.guess("ddddd"))
        assert game.hidden is None and game.candidates()
    assert seen == {"bbbbb", "ggggg"}


def test_a_file_of_words_stands_for_the_words_that_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("felon\nfrown\npanic\n\nsixletters\n")
    env = begun(7, words_file=path)
    assert env.lists.listed.words == ("felon", "frown", "panic")
    assert env.task_set.spec(0).subtask == "listed"
    assert env.source.startswith("wordle-words (")
    assert env.source != begun(7).source
    with pytest.raises(ValueError, match="unknown task_id 'wordle_10003'"):
        env.reset(options={"task_id": 10_003})


@pytest.mark.parametrize("text", ["", "six letters\n", "felon\nfelon\n", "Felon\n", "fel n\n"])
def test_a_file_without_words_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "words.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"words_file .*words\.txt' must hold words of 5 small"):
        WordleEnv(words_file=path)
    with pytest.raises(ValueError, match="cannot be read"):
        WordleEnv(words_file=tmp_path / "none.txt")
