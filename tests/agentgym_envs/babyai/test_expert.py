from __future__ import annotations

import copy
import random
from itertools import islice, product
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.babyai.levels import AGENTGYM_LEVELS, FURTHER_LEVELS
from agentgym_envs.babyai.sight import UNKNOWN


def make(**kwargs: Any):
    return gym.make("agentgym/BabyAI-v0", max_turns=400, **kwargs).unwrapped


def play_expert(env, task_id: int, *, privileged: bool = False) -> dict[str, Any]:
    _, info = env.reset(options={"task_id": task_id})
    return continue_with_expert(env, info, privileged=privileged)


def continue_with_expert(env, info: dict[str, Any], *, privileged: bool = False) -> dict[str, Any]:
    for move in env.privileged_expert_moves() if privileged else env.expert_moves():
        assert move.action in info["available_actions"]
        assert move.thought
        _, _, terminated, truncated, info = env.step(move.action)
        if terminated or truncated:
            break
    return info


@pytest.mark.parametrize("privileged", [False, True], ids=["by what it saw", "privileged"])
@pytest.mark.parametrize("level", range(40), ids=AGENTGYM_LEVELS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (7, 45))])
def test_the_expert_solves_every_level_of_agentgym(seed: int, level: int, privileged: bool):
    assert play_expert(make(), level + 40 * seed, privileged=privileged)["success"]


@pytest.mark.slow
@pytest.mark.parametrize("level", range(40), ids=AGENTGYM_LEVELS)
def test_the_expert_solves_at_least_nineteen_of_twenty_seeds(level: int):
    env = make()
    assert sum(play_expert(env, level + 40 * seed)["success"] for seed in range(20)) >= 19


@pytest.mark.parametrize("privileged", [False, True], ids=["by what it saw", "privileged"])
@pytest.mark.parametrize("index", range(len(FURTHER_LEVELS)), ids=FURTHER_LEVELS)
def test_the_expert_solves_the_further_levels(index: int, privileged: bool):
    assert play_expert(make(), 4_000_000 + index, privileged=privileged)["success"]


def test_the_privileged_expert_needs_at_most_twenty_turns_on_the_test_split():
    env = gym.make("agentgym/BabyAI-v0").unwrapped
    test = env.task_ids("test")
    assert [n for n in test if not play_expert(env, n, privileged=True)["success"]] == []


@pytest.mark.slow
def test_the_expert_seldom_needs_more_than_twenty_turns_on_the_test_split():
    env = gym.make("agentgym/BabyAI-v0").unwrapped
    test = env.task_ids("test")
    failed = [n for n in test if not play_expert(env, n)["success"]]
    assert len(failed) <= len(test) // 10, failed


@pytest.mark.parametrize("compat", [None, pytest.param("agentgym", marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", range(40), ids=AGENTGYM_LEVELS)
def test_the_expert_does_the_same_whatever_it_has_not_seen(level: int, compat: str | None):
    env = make(compat=compat)
    env.reset(options={"task_id": level + 80})
    for move in islice(env.expert_moves(), 8):
        blind = copy.deepcopy(env)
        empty_what_is_unseen(blind)
        assert next(blind.expert_moves()) == next(env.expert_moves())
        _, _, terminated, *_ = env.step(move.action)
        if terminated:
            break


def empty_what_is_unseen(env) -> None:
    """Clear every cell that no view has shown, walls and the goal's things included."""
    grid, seen = env.level.grid, env.game.memory.map
    for x, y in product(range(grid.width), range(grid.height)):
        if seen.codes[seen.cell(x, y)] == UNKNOWN:
            grid.set(x, y, None)


@pytest.mark.parametrize("task_id", [426, 664])
def test_a_key_in_the_way_to_its_own_door_is_not_put_aside(task_id: int):
    env = make()
    env.reset(options={"task_id": task_id})
    moves = []
    for move in env.expert_moves():
        moves.append(move)
        *_, terminated, truncated, info = env.step(move.action)
        if terminated or truncated:
            break
    assert info["success"]
    assert not any("was in the way" in move.thought for move in moves)
    taken = [move.action for move in moves if "pick up" in move.action]
    assert len(taken) == len(set(taken))


def thoughts_on(task_id: int) -> list[str]:
    env = make()
    env.reset(options={"task_id": task_id})
    thoughts = []
    for move in env.expert_moves():
        thoughts.append(move.thought)
        if env.step(move.action)[2]:
            break
    return thoughts


def test_a_thought_says_why_an_open_door_is_closed():
    thoughts = thoughts_on(1157)  # "..., then pick up the grey box and open the red door"
    assert thoughts[-2:] == [
        "The red open door is to be opened again, so I close it; it is in view.",
        "The goal says to open the red door, and the red closed door fits; it is in view.",
    ]


def test_a_thought_names_what_is_put_down():
    thoughts = thoughts_on(437)  # MiniBossLevel: a ball before the place for the key
    assert "The yellow ball is in the way, and I carry the green key, so I put it down." in thoughts
    assert "The green key belongs next to the green closed door, so I put it down." in thoughts


@pytest.mark.parametrize(
    ("task_id", "thought"),
    [
        (881, "The goal says to go to the red ball; it is in view."),
        (1379, "The goal says to pick up the key, and the blue key fits; it is in view."),
        (835, "The goal says to open a green door, and the green closed door fits; it is in view."),
    ],
)
def test_a_thought_says_of_the_goal_what_the_goal_says(task_id: int, thought: str):
    assert thoughts_on(task_id)[-1] == thought


def test_the_expert_goes_on_from_any_state():
    env = make()
    chance = random.Random(0)
    for task_id in range(0, 400, 33):
        _, info = env.reset(options={"task_id": task_id})
        for _ in range(8):
            # Opening boxes may destroy the goal, and strict levels are lost by one wrong door.
            actions = [a for a in info["available_actions"] if "open" not in a and a != "toggle"]
            _, _, terminated, truncated, info = env.step(chance.choice(actions))
            if terminated or truncated:
                break
        else:
            assert continue_with_expert(env, info)["success"], task_id


@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
def test_the_expert_writes_in_the_envs_own_format(action_format: str):
    env = make(action_format=action_format)
    env.reset(options={"task_id": 27})
    for action in env.expert():
        _, _, terminated, _, info = env.step(action)
        assert info["is_valid_action"], action
        if terminated:
            break
    assert info["success"]
