"""Our environments as SkyRL's, with the real package."""

from __future__ import annotations

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids

skyrl_gym = pytest.importorskip(
    "skyrl_gym", reason="skyrl-gym is missing: make test-partner NAME=adapters"
)

from wrappers.adapters.skyrl import SKYRL_ID, SkyRLEnv, register_with_skyrl  # noqa: E402


def test_an_expert_plays_an_episode_that_skyrl_made() -> None:
    register_with_skyrl()
    row = {"task_id": "textcraft_1", "env_kwargs": {"max_turns": 20}}
    env = skyrl_gym.make(SKYRL_ID, env_config={"env": "TextCraft"}, extras=row)
    ours = gym.make("agentgym/TextCraft-v0", max_turns=20).unwrapped
    first, _ = ours.reset(options={"task_id": "textcraft_1"})
    messages, info = env.init([])
    assert messages == [
        {"role": "system", "content": ours.system_prompt},
        {"role": "user", "content": first},
    ]
    assert (env.max_turns, info["task_id"]) == (20, "textcraft_1")
    for action in ours.expert():
        observation, reward, terminated, _, _ = ours.step(action)
        output = env.step(action)
        assert (output["reward"], output["done"]) == (reward, terminated)
        assert output["metadata"]["last_observation"] == observation
        if not terminated:
            assert output["observations"] == [{"role": "user", "content": observation}]
    assert output["done"] and output["observations"] == []
    assert env.get_metrics() == {"success": 1.0, "score": 1.0}
    assert SkyRLEnv.aggregate_metrics([env.get_metrics()])
    env.close()


def test_a_rows_own_messages_stand_behind_the_instruction() -> None:
    env = SkyRLEnv({"env": "BabyAI"}, {"task_id": "babyai_0"})
    roles = [m["role"] for m in env.init([{"role": "user", "content": "Be quick."}])[0]]
    assert roles == ["system", "user", "user"]
    env.close()


def test_a_row_without_an_environment_is_refused() -> None:
    with pytest.raises(ValueError, match="no environment is named"):
        SkyRLEnv({}, {"task_id": "babyai_0"})
