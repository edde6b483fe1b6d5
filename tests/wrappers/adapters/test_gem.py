"""Our environments as GEM's, with the real package."""

from __future__ import annotations

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids

gem = pytest.importorskip("gem", reason="gem-llm is missing: make test-partner NAME=adapters")

from wrappers.adapters.gem import GemEnv, register_with_gem  # noqa: E402


@pytest.fixture(scope="module")
def names() -> list[str]:
    return register_with_gem()


def test_an_expert_plays_a_game_that_gem_made(names: list[str]) -> None:
    assert "agentgym:TextCraft" in names
    env = gem.make("agentgym:TextCraft", max_turns=20)
    ours = gym.make("agentgym/TextCraft-v0", max_turns=20).unwrapped
    first, _ = ours.reset(options={"task_id": "textcraft_1"})
    observation, info = env.reset(task_id="textcraft_1")
    assert observation == f"{ours.system_prompt}\n\n{first}"
    for action in ours.expert():
        assert env.step(action)[:4] == ours.step(action)[:4]
    assert ours.step  # both are over
    with pytest.raises(gym.error.ResetNeeded):
        env.step("inventory")


def test_a_seed_draws_the_same_task(names: list[str]) -> None:
    env = gem.make("agentgym:BabyAI")
    assert env.reset(seed=3)[0] == env.reset(seed=3)[0]
    listed = env.step(env.sample_random_action())[4]
    assert listed["is_valid_action"]


def test_a_vector_of_gem_plays_ours(names: list[str]) -> None:
    envs = gem.make_vec(["agentgym:TextCraft"] * 2, seed=5)
    observations, _ = envs.reset()
    assert len(set(observations)) == 2
    observations, rewards, *_ = envs.step(["inventory", "inventory"])
    assert len(observations) == len(rewards) == 2


def test_a_spawned_copy_is_in_the_same_state_or_new() -> None:
    env = GemEnv("TextCraft", max_turns=3)
    env.reset(task_id="textcraft_0")
    env.step("inventory")
    copied = env.spawn(same_state=True)
    assert copied.step("inventory") == env.step("inventory")
    with pytest.raises(gym.error.ResetNeeded):
        env.spawn(max_turns=5).step("inventory")
