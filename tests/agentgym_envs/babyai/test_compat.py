from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from tests.helpers import GOLDEN

RECORDS = GOLDEN / "babyai_a.jsonl"


def make(**kwargs: Any):
    return gym.make("agentgym/BabyAI-v0", compat="agentgym", max_turns=10_000, **kwargs).unwrapped


@pytest.mark.skipif(not RECORDS.exists(), reason=f"no golden recordings at {GOLDEN}")
def test_every_golden_record_reproduces_byte_for_byte_up_to_the_first_done():
    env = make()
    for line in RECORDS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        observation, _ = env.reset(options={"task_id": record["data_idx"]})
        assert observation == record["reset_observation"]
        for step in record["steps"]:
            observation, reward, terminated, _, info = env.step(step["action"])
            assert (observation, reward, terminated) == (
                step["observation"],
                step["reward"],
                step["done"],
            ), (record["data_idx"], step["action"])
            assert info["agentgym_score"] == pytest.approx(step["score"])
            if terminated:
                break


def test_order_words_become_and():
    env = make()
    env.reset(options={"task_id": 7 + 40 * 1})
    default = gym.make("agentgym/BabyAI-v0").unwrapped
    default.reset(options={"task_id": 7 + 40 * 1})
    assert ", then " in default.goal or " after you " in default.goal
    assert " then " not in env.goal and " after you " not in env.goal


def test_react_is_read_as_the_originals_client_reads_it():
    env = make(action_format="react")
    env.reset(options={"task_id": 1})
    observation, _, _, _, info = env.step("Thought: hm\nAction:\n  [Turn] left!")
    assert info["is_valid_action"] and "Available actions" in observation
    observation, reward, _, _, info = env.step("Action: turn left\nAction: turn right")
    assert observation.startswith("Error: Only one 'Action' is allowed")
    assert (reward, info["is_valid_action"]) == (0.0, False)
    observation, _, _, _, info = env.step("no action")
    assert observation.startswith("No change in state.") and not info["is_valid_action"]


def test_pick_up_in_two_words_is_unknown_there():
    env = make()
    _, info = env.reset(options={"task_id": 0})
    pickup = next(action for action in info["available_actions"] if action.startswith("pickup"))
    observation, *_, info = env.step(pickup.replace("pickup", "pick up"))
    assert observation.startswith("The action is not recognized.") and not info["is_valid_action"]
    *_, info = env.step(pickup)
    assert info["is_valid_action"]


@pytest.mark.parametrize(("privileged", "most"), [(True, 20), (False, 60)])
@pytest.mark.parametrize("level", [0, 5, 11, 16, 21, 23, 27, 32, 35])
def test_the_expert_plays_by_the_originals_actions(level: int, privileged: bool, most: int):
    env = make()
    _, info = env.reset(options={"task_id": level + 40})
    for action in env.expert(privileged=privileged):
        assert action in info["available_actions"]
        _, _, terminated, _, info = env.step(action)
        if terminated:
            break
    assert info["success"] and info["turn"] <= most
