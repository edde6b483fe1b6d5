from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.babyai.levels import AGENTGYM_LEVELS, FURTHER_LEVELS

NUMBERS = {
    **{name: number for number, name in enumerate(AGENTGYM_LEVELS)},
    **{name: 4_000_000 + number for number, name in enumerate(FURTHER_LEVELS)},
}


def pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_copy_in_the_middle_of_an_episode_plays_on_identically(name: str, copied):
    env: Any = gym.make("agentgym/BabyAI-v0", max_turns=400).unwrapped
    env.reset(options={"task_id": NUMBERS[name]})
    twin = copied(env)
    for turn, move in enumerate(env.privileged_expert_moves()):
        if turn == 2:
            twin = copied(env)
        answer = env.step(move.action)
        assert twin.step(move.action) == answer
    assert answer[2] and answer[4]["success"]


@pytest.mark.parametrize("level", [7, 14, 27, 38])
def test_a_copy_of_the_original_game_plays_on_identically(level: int):
    env: Any = gym.make("agentgym/BabyAI-v0", max_turns=400, compat="agentgym").unwrapped
    env.reset(options={"task_id": level})
    env.step("turn left")
    twin = copy.deepcopy(env)
    for move in env.privileged_expert_moves():
        assert twin.step(move.action) == env.step(move.action)
    assert twin.game.memory.map.codes == env.game.memory.map.codes
