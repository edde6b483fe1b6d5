from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded

from agentgym_envs import EnvFailure, TextEnv, Trajectory, restore
from agentgym_envs.core.snapshots import Snapshot
from tests.helpers import EMBEDDED, CountingEnv, unless_missing
from wrappers import FixedHorizon, HorizonCurriculum, RecordTrajectories

Copy = Callable[[TextEnv], TextEnv]


def restored(env: TextEnv) -> TextEnv:
    other = env._text_env.make()
    other.restore(pickle.loads(pickle.dumps(env.snapshot())))
    return other


COPIES: dict[str, Copy] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "snapshot": restored,
}


def begun(env_id: str, turns: int, **kwargs: Any) -> TextEnv:
    env = gym.make(env_id, **kwargs).unwrapped
    assert isinstance(env, TextEnv)
    env.reset(seed=3)
    for action in itertools.islice(env.expert(), turns):
        env.step(action)
    return env


KWARGS: dict[str, dict[str, Any]] = {
    "agentgym/BabyAI-v0": {
        "split": "other_levels",
        "tasks": ["BabyAI-SynthSeq-v0"],
        "max_turns": 60,
    },
    "agentgym/WebShop-v0": {"split": "test", "tasks": ["webshop_6804"]},
}
"""BabyAI's missions in order hold on to the things of their own grid; WebShop's expert reaches this
goal, which it does not always."""


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("env_id", [*map(unless_missing, EMBEDDED)])
def test_a_copy_plays_on_as_the_original(env_id: str, duplicate: Copy) -> None:
    env = begun(env_id, turns=1, **KWARGS.get(env_id, {}))
    other = duplicate(env)
    for action in env.expert():
        expected = env.step(action)
        assert other.step(action) == expected
        if expected[2] or expected[3]:
            break
    assert expected[4]["success"]
    assert env.reset()[1]["task_id"] == other.reset()[1]["task_id"]
    env.close()
    other.close()


def test_a_copy_has_a_life_of_its_own() -> None:
    env = CountingEnv(max_turns=9)
    env.reset(options={"task_id": 30, "horizon": 4})
    env.step("add 1")
    other = copy.deepcopy(env)
    other.step("add 2")
    assert env.step("add 5")[0].startswith("The counter is 6.")
    assert (other.max_turns, other.step("add 1")[4]["turn"]) == (9, 3)
    assert other.step("add 1")[4]["truncated_by"] == "horizon"


@pytest.mark.parametrize("options", [{"task_id": "counting_x"}, {"task_id": 1, "horizon": 0}])
def test_after_a_refused_reset_the_episode_is_still_copied(options: dict[str, Any]) -> None:
    env = CountingEnv(max_turns=9)
    env.reset(options={"task_id": 30})
    env.step("add 1")
    with pytest.raises(ValueError):
        env.reset(options=options)
    env.step("add 1")
    assert copy.deepcopy(env).step("add 5")[0] == env.step("add 5")[0]


def test_an_environment_is_copied_before_its_first_reset_too() -> None:
    env = CountingEnv()
    env.reset(seed=4)
    fresh = copy.deepcopy(CountingEnv())
    assert fresh.reset(seed=4) == env.reset(seed=4)


def test_options_of_an_environment_s_own_are_copied_too() -> None:
    env = begun("agentgym/TextCraft-v0", turns=0)
    env.reset(options={"goal": "end stone bricks"})
    assert copy.deepcopy(env).goal == env.goal


def test_a_snapshot_goes_back_in_time() -> None:
    env = CountingEnv()
    env.reset(options={"task_id": 30})
    env.step("add 1")
    snapshot = env.snapshot()
    after = [env.step(action) for action in ("add 2", "add 3")]
    env.restore(snapshot)
    assert [env.step(action) for action in ("add 2", "add 3")] == after


def test_a_snapshot_of_before_the_first_reset_leaves_no_episode() -> None:
    env = gym.make("agentgym/TextCraft-v0", disable_env_checker=True).unwrapped
    before = env.snapshot()
    env.reset(seed=1)
    env.restore(before)
    with pytest.raises(ResetNeeded):
        env.step("inventory")
    with pytest.raises(ResetNeeded):
        _ = env.task
    assert env.snapshot() == before
    env.reset(seed=1)
    env.step("inventory")


def test_a_snapshot_of_other_data_is_refused() -> None:
    snapshot = begun("agentgym/TextCraft-v0", turns=1).snapshot()
    with pytest.raises(ValueError, match="restore it in an environment of the same data"):
        CountingEnv().restore(snapshot)


def test_an_environment_that_plays_differently_is_no_silent_copy() -> None:
    env = CountingEnv()
    env.reset(options={"task_id": 30})
    env.step("add 1")
    snapshot = env.snapshot()._replace(observation="The counter is 7.")
    with pytest.raises(EnvFailure, match="played again came to 'The counter is 1.'"):
        env.restore(snapshot)


def restore_unwrapped(env: gym.Env[str, str], snapshot: Snapshot) -> None:
    env.unwrapped.restore(snapshot)  # type: ignore[attr-defined]


@pytest.mark.parametrize("call", [restore, restore_unwrapped])
def test_a_snapshot_is_played_on_in_a_fresh_environment_of_gym_make(
    call: Callable[[gym.Env[str, str], Snapshot], None],
) -> None:
    env = begun("agentgym/TextCraft-v0", turns=2)
    fresh = gym.make("agentgym/TextCraft-v0")
    call(fresh, env.snapshot())
    for action in env.expert():
        assert fresh.step(action) == env.step(action)


def test_wrappers_know_of_a_restored_episode() -> None:
    def make() -> gym.Env[str, str]:
        limited = gym.make("agentgym/TextCraft-v0", max_episode_steps=4)
        return RecordTrajectories(HorizonCurriculum(limited, FixedHorizon(9)), records.append)

    records: list[Trajectory] = []
    env = make()
    env.reset(seed=3)
    env.step("get 1 oak log")
    snapshot = env.unwrapped.snapshot()  # type: ignore[attr-defined]
    other = make()
    restore(other, snapshot)
    for _ in range(3):
        *_, truncated, info = other.step("inventory")
    assert truncated and info["truncated_by"] == "time_limit"
    assert [turn.action for turn in records[-1].turns][0] == "get 1 oak log"


def test_a_step_before_any_reset_is_still_refused() -> None:
    with pytest.raises(ResetNeeded):
        gym.make("agentgym/TextCraft-v0").step("inventory")


def test_other_libraries_environments_are_refused() -> None:
    snapshot = begun("agentgym/TextCraft-v0", turns=1).snapshot()
    with pytest.raises(ValueError, match="env must be a text environment"):
        restore(gym.make("CartPole-v1"), snapshot)
