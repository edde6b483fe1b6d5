"""The expert goes on from wherever an episode stands, as long as the task can be solved at all."""

from __future__ import annotations

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sciworld.env import SciWorldEnv
from agentgym_envs.sciworld.expert import ShownNames, gold_path
from agentgym_envs.sciworld.simulator import Simulator
from agentgym_envs.sciworld.tasks import NUM_VARIATIONS, SciWorldTasks

FIND_NON_LIVING_THING = 3236
TASKS = SciWorldTasks()

LOOKED_FOR = (
    "lifespan-longest-lived",
    "lifespan-longest-lived-then-shortest-lived",
    "find-animal",
    "chemistry-mix",
    "use-thermometer",
    "freeze",
    "identify-life-stages-1",
)
"""Experiments whose solution names things that it has not looked for, and one that looks itself."""

NAMED_OTHERWISE = (
    *("power-component-renewable-vs-nonrenewable-energy", "grow-fruit"),
    *("mendelian-genetics-known-plant", "mendelian-genetics-unknown-plant"),
)
"""Their solutions say `component`, `plant`, `ceramic cup` for what no text calls so."""


@pytest.fixture(scope="module")
def env() -> SciWorldEnv:
    env = gym.make("agentgym/SciWorld-v0", max_turns=500).unwrapped
    assert isinstance(env, SciWorldEnv)
    return env


def finish(env: SciWorldEnv) -> bool:
    for action in env.expert():
        *_, info = env.step(action)
    return bool(info["success"])


@pytest.mark.full
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


@pytest.mark.full
def test_the_expert_repairs_what_was_done_halfway(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": FIND_NON_LIVING_THING})
    for number, action in enumerate(env.expert()):
        env.step(action)
        if number == 2:
            break
    for action in ("open door to outside", "go to outside", "wait"):
        env.step(action)
    assert finish(env)


def first_training_task(task: str) -> int:
    return next(n for n in TASKS.numbers("train") if TASKS.game(n).task == task)


@pytest.mark.full
@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=() if task in LOOKED_FOR else pytest.mark.science)
        for task in NUM_VARIATIONS
        if task not in NAMED_OTHERWISE
    ],
)
def test_the_expert_names_no_thing_that_no_text_has_shown(env: SciWorldEnv, task: str) -> None:
    text, info = env.reset(options={"task_id": first_training_task(task)})
    shown = ShownNames([text])
    for action in env.expert():
        assert shown.missing(action) == [], action
        text, *_, info = env.step(action)
        shown.add(text)
    assert info["success"]


@pytest.mark.parametrize("looks", [True, False], ids=["it has looked", "it has not"])
def test_the_expert_looks_once_before_it_names_what_it_has_not_seen(
    env: SciWorldEnv, looks: bool
) -> None:
    """Who is asked at every turn sees its own look, and who has none goes on without it."""
    env.reset(options={"task_id": first_training_task("lifespan-longest-lived")})
    while (action := next(iter(env.expert()))) != "look around":
        env.step(action)
    if looks:
        env.step(action)
        assert next(iter(env.expert())).startswith("focus on ")
    else:
        named = list(env.expert())[1]
        *_, info = env.step(named)
        assert info["success"]


@pytest.mark.full
def test_after_a_detour_the_expert_still_looks(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": first_training_task("lifespan-longest-lived")})
    for action in ("open door to workshop", "go to workshop", "wait1"):
        env.step(action)
    actions = list(env.expert())
    focus = next(n for n, action in enumerate(actions) if action.startswith("focus on "))
    assert actions[focus - 1] == "look around"
    assert finish(env)


def test_an_expert_that_is_asked_twice_says_the_same(env: SciWorldEnv) -> None:
    env.reset(options={"task_id": FIND_NON_LIVING_THING})
    assert list(env.expert()) == list(env.expert())
    assert gold_path.cache_info().hits


@pytest.mark.full
def test_a_solution_does_not_depend_on_what_was_solved_before() -> None:
    simulator = Simulator()
    alone = simulator.solve("test-conductivity", 605)
    simulator.solve("boil", 3)  # searches the house from the same room
    assert simulator.solve("test-conductivity", 605) == alone
    assert simulator.solve("test-conductivity", 605, tours=3) != alone
    simulator.close()


@pytest.mark.full
@pytest.mark.parametrize("number", [2041, pytest.param(71, marks=pytest.mark.science)])
def test_a_solution_that_fails_is_replaced_by_another(number: int) -> None:
    """The house has two shovels, and one is the wrong one; chocolate burns while it is watched."""
    env = SciWorldEnv(max_turns=500)
    env.reset(options={"task_id": number})
    assert finish(env)
    env.close()
