from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sciworld.env import SciWorldEnv
from tests.helpers import GOLDEN

RECORDS = GOLDEN / "sciworld_a.jsonl"
BOIL, LIFESPAN = 0, 4240

ORDERED_BY_CHANCE = (BOIL, "open door")
"""The one stable step whose list of choices the simulator leaves to chance: the recording's
replays happen to agree on another order than ours, which no fresh official simulator repeats."""


def make(**kwargs: Any) -> SciWorldEnv:
    env = gym.make("agentgym/SciWorld-v0", compat="agentgym", **kwargs).unwrapped
    assert isinstance(env, SciWorldEnv)
    return env


@pytest.fixture(scope="module")
def env() -> SciWorldEnv:
    return make(max_turns=500)


def in_any_order(text: str) -> str:
    """Sort a question's choices."""
    head, *choices = text.splitlines()
    assert text.startswith("Ambiguous request:")
    return "\n".join([head, *sorted(line.partition("\t")[2] for line in choices)])


@pytest.mark.skipif(not RECORDS.exists(), reason=f"no golden recordings at {GOLDEN}")
def test_every_golden_record_reproduces_as_far_as_it_is_stable(env: SciWorldEnv) -> None:
    for line in RECORDS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        observation, info = env.reset(options={"task_id": record["data_idx"]})
        assert info["goal"] == record["task_description"]
        if record["stable_entries"] == 0:
            continue
        assert observation == record["reset_observation"]
        assert info["score"] * 100 == record["reset"]["score"]
        for step in record["steps"][: (record["stable_entries"] or 1000) - 1]:
            if "error" in step:
                break
            observation, reward, terminated, _, info = env.step(step["action"])
            where = (record["data_idx"], step["action"])
            recorded = step["observation"]
            if where == ORDERED_BY_CHANCE:
                assert observation != recorded
                observation, recorded = in_any_order(observation), in_any_order(recorded)
            assert observation == recorded, where
            assert (reward, info["agentgym_score"]) == (step["reward"], step["score"]), where
            assert terminated == step["done"], where


def test_rewards_are_points_and_a_wrong_focus_takes_a_hundred_more(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": LIFESPAN})
    env.step("open door to greenhouse")
    _, reward, *_ = env.step("go to greenhouse")
    assert reward == 25
    _, reward, terminated, _, info = env.step("focus on air")
    assert (reward, terminated, info["agentgym_score"]) == (-125, True, -100)
    assert (info["score"], info["success"]) == (0.0, False)


def test_react_shows_what_the_originals_client_shows() -> None:
    env = make(action_format="react")
    observation, info = env.reset(options={"task_id": BOIL})
    assert observation.startswith(info["goal"] + "\nThis room is called the hallway.")
    observation, *_ = env.step("Thought:\nhm\n\nAction:\nopen door to kitchen")
    assert observation == "The door is now open."
    observation, *_, info = env.step("open door to kitchen")
    assert observation == "No known action matches that input."
    assert not info["is_valid_action"]
    env.close()


def test_a_completion_without_an_action_repeats_the_last_observation() -> None:
    env = make(action_format="react")
    first, _ = env.reset(options={"task_id": BOIL})
    observation, reward, *_, info = env.step("<think>")  # a thought that was cut off
    assert observation == f"Invalid Action.\n\n{first}"
    assert (reward, info["is_valid_action"]) == (0.0, False)
    env.close()


def test_a_question_is_cancelled_by_what_is_no_number(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": BOIL})
    env.step("open door")
    observation, *_, info = env.step("open door to kitchen")
    assert observation.startswith("Unknown action.  Type 'help'") and not info["is_valid_action"]


def test_the_simulators_own_words_are_answered(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": BOIL})
    observation, *_ = env.step("task")
    assert observation.startswith("Task description:\nYour task is to boil water.")
    observation, *_ = env.step("help")
    assert observation.startswith("Possible actions: \n\tactivate OBJ")
    observation, *_ = env.step("objects")
    assert observation.startswith("Possible object references: \n\tagent")


def test_the_limit_of_moves_is_the_turn_limit_and_can_be_lifted() -> None:
    env = make()
    assert env.max_turns == 100
    env.reset(options={"task_id": BOIL})
    for _ in range(9):
        *_, truncated, info = env.step("wait")
        assert not truncated
    while not truncated:
        *_, truncated, info = env.step("wait")
    assert info["truncated_by"] == "env_limit" and info["turn"] < 15
    lifted = make(max_turns=150)
    lifted.reset(options={"task_id": BOIL})
    for _ in range(12):
        *_, truncated, _ = lifted.step("wait")
        assert not truncated
    env.close()
    lifted.close()


def test_the_expert_plays_there_too(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": LIFESPAN})
    env.step("open door")  # leaves a question open
    for action in env.expert():
        *_, info = env.step(action)
    assert info["success"] and info["agentgym_score"] == 100
