"""Success alone is paid."""

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401, registers the environments
from wrappers import SuccessReward

OPTIONS = ["click[ochre]", "click[2.5l]"]


@pytest.mark.parametrize(("left_out", "pays"), [([], 1.0), (OPTIONS, 0.0)])
def test_a_purchase_that_is_nearly_right_pays_nothing(left_out: list[str], pays: float) -> None:
    pytest.importorskip("rapidfuzz")
    own = gym.make("agentgym/WebShop-v0", action_format="plain")
    env = SuccessReward(own)
    task = "webshop_6804"
    env.reset(options={"task_id": task})
    actions = list_of_expert(own)
    assert set(OPTIONS) <= set(actions)
    env.reset(options={"task_id": task})
    rewards, score = [], 0.0
    for action in actions:
        if action not in left_out:
            _, reward, terminated, _, info = env.step(action)
            rewards.append(reward)
            score = info["score"]
    assert terminated
    assert rewards == [0.0] * (len(rewards) - 1) + [pays]
    assert score == pytest.approx(1.0) if not left_out else 0.0 < score < 1.0


def list_of_expert(env: gym.Env[str, str]) -> list[str]:
    """Play the expert; return what it did."""
    actions = []
    for action in env.unwrapped.expert():
        env.step(action)
        actions.append(action)
    return actions
