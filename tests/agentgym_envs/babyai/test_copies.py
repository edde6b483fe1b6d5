"""A game's objects hold on to each other; a copy of it must hold on to its own."""

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


def pickled(game: Any) -> Any:
    return pickle.loads(pickle.dumps(game))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_copied_game_plays_on_identically(name: str, copied):
    env: Any = gym.make("agentgym/BabyAI-v0", max_turns=400).unwrapped
    env.reset(options={"task_id": NUMBERS[name]})
    twin = copied(env.game)
    for turn, move in enumerate(env.privileged_expert_moves(), 1):
        outcome = twin.act(move.action)
        observation, reward, terminated, _, info = env.step(move.action)
        assert outcome.observation == observation
        assert (outcome.reward, outcome.terminated) == (reward, terminated)
        if turn == 1:
            twin = copied(env.game)
    assert terminated and info["success"]
