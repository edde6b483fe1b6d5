from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from tests.helpers import COUNTING_ID, CountingEnv, FragileEnv, register_helpers
from wrappers import (
    FixedHorizon,
    HorizonCurriculum,
    ScalingInter,
    TextVectorEnv,
)

register_helpers()


def one(schedule: Any, **kwargs: Any) -> Any:
    return HorizonCurriculum(CountingEnv(**kwargs), schedule)


def test_horizon_truncates_but_never_terminates() -> None:
    env = one(FixedHorizon(2))
    _, info = env.reset(options={"task_id": 30})
    assert info["horizon"] == 2
    assert env.step("add 1")[2:4] == (False, False)
    _, _, terminated, truncated, info = env.step("add 1")
    assert (terminated, truncated) == (False, True)
    assert (info["truncated_by"], info["horizon"], info["turn"]) == ("horizon", 2, 2)
    with pytest.raises(ResetNeeded, match="over"):
        env.step("add 1")
    env.reset(options={"task_id": 30})
    assert env.step("add 1")[3] is False


def test_success_on_the_horizon_s_last_turn_is_no_truncation() -> None:
    env = one(FixedHorizon(1))
    env.reset(options={"task_id": 4})
    _, reward, terminated, truncated, info = env.step("add 5")
    assert (reward, terminated, truncated, info["truncated_by"]) == (1.0, True, False, None)


def test_the_env_s_own_limit_comes_first() -> None:
    env = one(FixedHorizon(2), max_turns=2)
    env.reset(options={"task_id": 30})
    env.step("add 1")
    assert env.step("add 1")[4]["truncated_by"] == "max_turns"


def test_global_step_sets_the_horizon_at_the_start_of_an_episode_only() -> None:
    env = one(ScalingInter((1, 3), every=10))
    assert env.reset()[1]["horizon"] == 1
    assert env.reset(options={"global_step": 10, "task_id": 30})[1]["horizon"] == 3
    assert env.step("add 1")[4]["horizon"] == 3
    assert env.reset()[1]["horizon"] == 3
    assert env.reset(options={"global_step": 9})[1]["horizon"] == 1


@pytest.mark.parametrize("global_step", [-1, 1.5, "3", True])
def test_a_global_step_that_is_none_is_refused(global_step: object) -> None:
    with pytest.raises(ValueError, match="global_step.* must be >= 0"):
        one(FixedHorizon(2)).reset(options={"global_step": global_step})


def test_around_an_env_it_is_a_gymnasium_wrapper_with_a_spec() -> None:
    env = HorizonCurriculum(gym.make(COUNTING_ID), ScalingInter((2, 4), every=5))
    assert isinstance(env, gym.Wrapper)
    assert isinstance(env, HorizonCurriculum)
    assert env.spec is not None
    again = gym.make(env.spec)
    assert again.reset(options={"global_step": 5})[1]["horizon"] == 4


def test_a_copy_keeps_the_horizon_of_its_episode() -> None:
    env = one(ScalingInter((2, 4), every=5))
    env.reset(options={"global_step": 5})
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert isinstance(copied, HorizonCurriculum)
        assert [copied.step("say a")[3] for _ in range(4)] == [False, False, False, True]
        assert copied.reset()[1]["horizon"] == 4
    assert env.step("say a")[3] is False


@pytest.fixture
def vector() -> Any:
    with HorizonCurriculum(TextVectorEnv([FragileEnv] * 3), ScalingInter((2, 4), every=10)) as env:
        yield env
    with pytest.raises(ClosedEnvironmentError):
        env.step([None] * 3)


def test_every_slot_keeps_the_horizon_its_episode_began_with(vector: Any) -> None:
    _, infos = vector.reset(options={"task_id": [30, 31, 32]})
    assert [info["horizon"] for info in infos] == [2, 2, 2]
    vector.step(["add 1", "add 1", None])
    _, infos = vector.reset(options={"task_id": [33, None, None], "global_step": 10})
    assert [info["horizon"] for info in infos] == [4, 2, 2]
    _, _, terminated, truncated, infos = vector.step(["add 1", "add 1", "add 1"])
    assert terminated == [False] * 3
    assert truncated == [False, True, False]
    assert [info["truncated_by"] for info in infos] == [None, "horizon", None]


def test_a_truncated_slot_repeats_itself_and_takes_no_action(vector: Any) -> None:
    vector.reset(options={"task_id": [30, 31, 32]})
    vector.step(["add 1", None, None])
    last = vector.step(["add 1", None, None])
    assert vector.expert_actions() == [None, "add 9", "add 9"]
    assert vector.step([None, None, None]) == last
    assert last[3] == [True, False, False]
    with pytest.raises(ResetNeeded, match="slot 0 is over"):
        vector.step(["add 1", "add 1", "add 1"])
    assert vector.get("counter") == [2, 0, 0]


def test_a_failed_slot_keeps_its_failure_and_the_others_their_turns(vector: Any) -> None:
    vector.reset(options={"task_id": [30, 31, 32]})
    *_, infos = vector.step(["say break", "add 1", "add 1"])
    assert infos[0] == {"failure": "the simulator broke"}
    _, _, _, truncated, infos = vector.step(["add 1", "add 1", "add 1"])
    assert truncated == [False, True, True]
    assert infos[0] == {"failure": "the simulator broke"}


def test_a_vector_without_slots_of_ours_is_refused() -> None:
    stock = gym.make_vec(COUNTING_ID, num_envs=2, vectorization_mode="sync")
    with pytest.raises(TypeError, match=r"gymnasium\.Env or a TextVectorEnv"):
        HorizonCurriculum(stock, FixedHorizon(2))  # type: ignore[call-overload]
    stock.close()


def test_a_refused_reset_leaves_a_slot_s_horizon_as_it_was(vector: Any) -> None:
    vector.reset(options={"task_id": [30, 31, 32]})
    vector.step(["add 1", None, None])
    with pytest.raises(ValueError, match="no such task"):
        vector.reset(options={"task_id": ["no such task", None, None], "global_step": 10})
    _, _, _, truncated, infos = vector.step(["add 1", None, None])
    assert (truncated[0], infos[0]["truncated_by"], infos[0]["horizon"]) == (True, "horizon", 2)


def test_an_environment_that_does_not_count_turns_is_refused() -> None:
    with pytest.raises(TypeError, match="TextEnv"):
        HorizonCurriculum(gym.make("CartPole-v1"), FixedHorizon(2))


@pytest.mark.parametrize("horizon", [0, -1, 1.5, "3", True])
def test_a_horizon_that_is_no_number_of_turns_is_refused(horizon: object) -> None:
    with pytest.raises(ValueError, match="horizon.* must be >= 1 or None"):
        CountingEnv().reset(options={"horizon": horizon})


def test_a_schedule_may_be_written_as_on_the_command_line() -> None:
    assert one("scaling:2,5@10").schedule == ScalingInter((2, 5), 10)
    assert one(3).schedule == FixedHorizon(3)
    with pytest.raises(ValueError, match="cannot read the horizon 'soon'"):
        one("soon")
    with pytest.raises(TypeError, match=r"schedule must be a function of the step, .* got 2\.5"):
        one(2.5)
