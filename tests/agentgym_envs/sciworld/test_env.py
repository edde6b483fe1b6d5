from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sciworld.env import SciWorldEnv

BOIL, FIND_ANIMAL, TERTIARY_PAINT = 0, 3836, 4218


def make(**kwargs: Any) -> SciWorldEnv:
    env = gym.make("agentgym/SciWorld-v0", **{"max_turns": 500, **kwargs}).unwrapped
    assert isinstance(env, SciWorldEnv)
    return env


@pytest.fixture(scope="module")
def env() -> SciWorldEnv:
    return make()


def start(env: SciWorldEnv, number: int) -> tuple[str, dict[str, Any]]:
    return env.reset(options={"task_id": number})


def test_the_first_observation_states_the_task_and_the_room(env: SciWorldEnv) -> None:
    observation, info = start(env, BOIL)
    assert observation.startswith(f"{info['goal']}\nThis room is called the ")
    assert info["goal"].startswith("Your task is to boil water.")
    assert (info["task_name"], info["variation"]) == ("boil", 0)
    assert info["source"] == "scienceworld/1.2.3"


def test_the_turn_limit_is_the_papers_and_can_be_lifted() -> None:
    assert make(max_turns=None).max_turns == 30
    assert make(max_turns=180).max_turns == 180


def test_reward_is_the_increase_of_the_score(env: SciWorldEnv) -> None:
    _, info = start(env, FIND_ANIMAL)
    score, rewards = info["score"], []
    for action in env.expert():
        _, reward, terminated, _, info = env.step(action)
        assert reward == pytest.approx(info["score"] - score)
        score = info["score"]
        rewards.append(reward)
    assert terminated and info["success"] and score == 1.0
    assert sum(rewards) == pytest.approx(1.0)


def test_points_for_where_it_starts_are_in_the_first_score(env: SciWorldEnv) -> None:
    _, info = start(env, TERTIARY_PAINT)
    assert info["score"] == 0.13
    _, reward, *_ = env.step("inventory")
    assert reward == 0.0


def test_a_wrong_focus_ends_the_episode_as_a_failure(env: SciWorldEnv) -> None:
    start(env, FIND_ANIMAL)
    for action in ("open door to greenhouse", "go to greenhouse"):
        *_, info = env.step(action)
    earned = info["score"]
    assert earned > 0
    _, reward, terminated, _, info = env.step("focus on air")
    assert terminated and not info["success"]
    assert (info["score"], reward) == (0.0, -earned)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("fly away", "Actions are: look around; inventory;"),
        ("open", "The form is: open <thing>. You can name here: agent, "),
        ("open door to kichen", "Names like yours here: door to kitchen"),
        ("go to bathroom", "The form is: go to <place>. Next door: art studio, bedroom, "),
        ("look around now", "The form is: look around."),
        ("x" * 1000, "An action has at most 400 characters, yours has 1000."),
    ],
)
def test_an_unknown_action_says_what_would_be_valid(
    env: SciWorldEnv, action: str, message: str
) -> None:
    start(env, BOIL)
    observation, reward, terminated, truncated, info = env.step(action)
    assert observation.startswith("No known action matches that input. ")
    assert message in observation
    assert (reward, terminated, truncated, info["is_valid_action"]) == (0.0, False, False, False)


def test_an_ambiguous_action_is_a_question_that_a_number_answers(env: SciWorldEnv) -> None:
    start(env, BOIL)
    observation, *_, info = env.step("open door")
    assert observation.startswith("Ambiguous request: ")
    *choices, hint = observation.splitlines()[1:]
    assert choices[0].startswith("0:\topen door between ") and not info["is_valid_action"]
    assert hint.startswith("To be more specific, say where it is or leads to: 'door to ")
    observation, *_, info = env.step("look at terminal")
    *choices, hint = observation.splitlines()[1:]
    assert len(choices) == 10 and hint.startswith("Choices 10 to ")
    env.step("open door")
    observation, *_, info = env.step("0")
    assert (observation, info["is_valid_action"]) == ("The door is now open.", True)


def test_a_number_out_of_range_is_told_the_range(env: SciWorldEnv) -> None:
    start(env, BOIL)
    env.step("open door")
    observation, *_, info = env.step("99")
    assert "they were 0 to 5. Nothing was done." in observation
    assert not info["is_valid_action"]


def test_another_action_takes_a_questions_place(env: SciWorldEnv) -> None:
    start(env, BOIL)
    env.step("open door")
    observation, *_, info = env.step("open door to kitchen")
    assert (observation, info["is_valid_action"]) == ("The door is now open.", True)


@pytest.mark.full
def test_valid_actions_are_listed_for_those_who_ask_and_change_nothing() -> None:
    asking, other = make(available_actions=True), make()
    _, info = start(asking, FIND_ANIMAL)
    start(other, FIND_ANIMAL)
    for action in other.expert():
        assert info["available_actions"] and "look around" in info["available_actions"]
        message, silent = asking.step(action), other.step(action)
        info = message[-1]
        assert message[:-1] == silent[:-1]
        assert silent[-1]["available_actions"] is None
    asking.close()


@pytest.mark.full
def test_listed_actions_are_valid() -> None:
    env = make(available_actions=True)
    _, info = start(env, BOIL)
    for action in [a for a in info["available_actions"] if not a.startswith("focus")][::30]:
        start(env, BOIL)
        *_, info = env.step(action)
        assert info["is_valid_action"], action
    env.close()


@pytest.mark.full
@pytest.mark.parametrize("action_format", ["react", "function_call", "code"])
def test_every_format_plays_the_same_game(env: SciWorldEnv, action_format: str) -> None:
    other = make(action_format=action_format)
    start(env, TERTIARY_PAINT)
    start(other, TERTIARY_PAINT)
    completions = list(other.expert())
    for plain, completion in zip(list(env.expert()), completions, strict=True):
        step, same = env.step(plain), other.step(completion)
        assert step[1:4] == same[1:4]
        if step[2]:
            break
    assert step[2] and step[4]["success"]
    other.close()


@pytest.mark.full
def test_an_episode_depends_on_nothing_that_others_play(env: SciWorldEnv) -> None:
    def play(*, among: list[SciWorldEnv]) -> list[Any]:
        for each in among:
            start(each, 4639 + 126 + 70)
        message: list[Any] = [start(env, 4639 + 126)]  # grow fruit: bees fly about at random
        for action in ["open door to greenhouse", "go to greenhouse", *["wait"] * 3, "look around"]:
            for each in among:
                _, _, terminated, truncated, _ = each.step("wait")
                each.available_actions()
                if terminated or truncated:
                    start(each, 4639 + 126 + 70)
            message.append(env.step(action))
        return message

    others = [make(available_actions=True), make()]
    assert play(among=[]) == play(among=others) == play(among=others[:1])
    for each in others:
        each.close()


def test_a_closed_environment_can_be_reset(env: SciWorldEnv) -> None:
    env.close()
    env.close()
    observation, _ = start(env, BOIL)
    assert observation


def test_a_timeout_must_be_positive() -> None:
    for wrong in (0, -1.5, float("inf"), float("nan"), "x", "5", None, True):
        with pytest.raises(ValueError, match=f"call_timeout must be > 0 seconds, got {wrong!r}"):
            make(call_timeout=wrong)


def test_the_possible_actions_need_a_reset() -> None:
    for lists in (True, False):
        with pytest.raises(ResetNeeded, match="call reset"):
            make(available_actions=lists).available_actions()


@pytest.mark.full
def test_without_the_extra_the_remedy_is_named() -> None:
    program = (
        "import sys; sys.modules['scienceworld'] = None\n"
        "import gymnasium as gym, agentgym_envs\n"
        "gym.make('agentgym/SciWorld-v0')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert 'pip install "agentgym-envs[science]"' in done.stderr.splitlines()[-1]
