"""The baseline of SciWorld: its reading of goals, and that it knows no answer."""

from __future__ import annotations

import gymnasium as gym
import pytest

from agentgym_envs.sciworld.baselines import _room_of, _steps

MEASURE = (
    "Your task is to measure the melting point of tin, which is located around the kitchen. First, "
    "focus on the thermometer. Next, focus on the tin. If the melting point of tin is above 10.0 "
    "degrees celsius, focus on the blue box. If the melting point of tin is below 10.0 degrees "
    "celsius, focus on the orange box. The boxes are located around the workshop."
)


@pytest.mark.parametrize(("alternative", "box"), [(0, "blue box"), (1, "orange box")])
def test_orders_are_read_with_one_alternative(alternative: int, box: str) -> None:
    things = ["thermometer", "tin", box]
    assert list(_steps(MEASURE, alternative)) == [("focus on", thing) for thing in things]


def test_a_thing_is_sought_in_the_room_that_the_goal_names() -> None:
    assert _room_of("tin", MEASURE) == "kitchen"
    assert _room_of("blue box", MEASURE) == "workshop"
    assert _room_of("thermometer", MEASURE) == "kitchen"
    assert _room_of("red box in the art studio", "Move it to the red box in the art studio.") == (
        "art studio"
    )
    assert _room_of("violet paint", "Focus on the violet paint.") == ""


def test_a_baseline_plays_in_the_originals_words() -> None:
    env = gym.make(
        "agentgym/SciWorld-v0",
        compat="agentgym",
        action_format="plain",
        disable_env_checker=True,
    ).unwrapped
    env.reset(options={"task_id": env.task_ids("paper_test")[0]})
    assert [env.step(action)[-1] for action in env.baseline("first_alternative")]
    env.close()


def test_one_of_the_two_alternatives_is_right() -> None:
    env = gym.make("agentgym/SciWorld-v0", disable_env_checker=True).unwrapped
    task_id = next(
        task_id
        for task_id in env.task_ids("paper_test")
        if env.task_set.game(int(task_id.split("_")[1])).task
        == "measure-melting-point-unknown-substance"
    )
    scores = []
    for name in env.baselines:
        env.reset(options={"task_id": task_id})
        infos = [env.step(action)[-1] for action in env.baseline(name)]
        scores.append((infos[-1]["success"], infos[-1]["score"]))
    env.close()
    assert sorted(scores) == [(False, 0.0), (True, 1.0)]
