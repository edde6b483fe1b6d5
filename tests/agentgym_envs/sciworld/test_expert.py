"""The expert goes on from wherever an episode stands, as long as the task can be solved at all."""

from __future__ import annotations

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sciworld.env import SciWorldEnv
from agentgym_envs.sciworld.expert import gold_path
from agentgym_envs.sciworld.simulator import Simulator

FIND_NON_LIVING_THING = 3236


@pytest.fixture(scope="module")
def env() -> SciWorldEnv:
    env = gym.make("agentgym/SciWorld-v0", max_turns=500).unwrapped
    assert isinstance(env, SciWorldEnv)
    return env


def finish(env: SciWorldEnv) -> bool:
    for action in env.expert():
        *_, info = env.step(action)
    return bool(info["success"])


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(["look around", "inventory", "fly", "examine agent"], id="looks"),
        pytest.param(["open door"], id="an open question"),
        pytest.param(["open door to kitchen", "look around", "go to kitchen"], id="its own steps"),
        pytest.param(["open door to workshop", "go to workshop", "wait1"], id="a detour"),
        pytest.param(["go to kitchen", "wait", "open door"], id="a wait and a question"),
        pytest.param(["drop orange", "open door to greenhouse", "go to greenhouse"], id="another"),
    ],
)
def test_the_expert_solves_the_task_after(env: SciWorldEnv, before: list[str]) -> None:
    env.reset(options={"task_id": FIND_NON_LIVING_THING})
    for action in before:
        env.step(action)
    assert finish(env)


def test_the_expert_repairs_what_was_done_halfway(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": FIND_NON_LIVING_THING})
    for number, action in enumerate(env.expert()):
        env.step(action)
        if number == 2:
            break
    for action in ("open door to outside", "go to outside", "wait"):
        env.step(action)
    assert finish(env)


def test_an_expert_that_is_asked_twice_says_the_same(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": FIND_NON_LIVING_THING})
    assert list(env.expert()) == list(env.expert())
    assert gold_path.cache_info().hits


def test_a_solution_does_not_depend_on_what_was_solved_before() -> None:
    simulator = Simulator()
    alone = simulator.solve("test-conductivity", 605)
    simulator.solve("boil", 3)  # searches the house from the same room
    assert simulator.solve("test-conductivity", 605) == alone
    assert simulator.solve("test-conductivity", 605, tours=3) != alone
    simulator.close()


@pytest.mark.parametrize("number", [2041, pytest.param(71, marks=pytest.mark.science)])
def test_a_solution_that_fails_is_replaced_by_another(number: int) -> None:
    """The house has two shovels, and one is the wrong one; chocolate burns while it is watched."""
    env = SciWorldEnv(max_turns=500)
    env.reset(options={"task_id": number})
    assert finish(env)
    env.close()
