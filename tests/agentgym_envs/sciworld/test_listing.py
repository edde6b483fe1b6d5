"""A policy that chooses from the list can play as the expert does, and is never refused."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sciworld.answers import is_question
from agentgym_envs.sciworld.meanings import meanings
from agentgym_envs.sciworld.tasks import NUM_VARIATIONS, SciWorldTasks

BOIL, PAINT, POWER, GLASS_JARS, APPLE_TREE = 0, 4168, 1396, 1682, 4639
KITCHEN = ("open door to kitchen", "go to kitchen")
OUTSIDE = (*KITCHEN, "pick up lighter", "open door to outside", "go to outside", "pick up axe")
ART_STUDIO = ("open door to art studio", "go to art studio")
TASKS = SciWorldTasks()


@pytest.fixture(scope="module")
def listing() -> Iterator[Any]:
    env: Any = gym.make("agentgym/SciWorld-v0", max_turns=500, available_actions=True).unwrapped
    yield env
    env.close()


@pytest.fixture(scope="module")
def other() -> Iterator[Any]:
    env: Any = gym.make("agentgym/SciWorld-v0", max_turns=500).unwrapped
    yield env
    env.close()


def play(env: Any, number: int, actions: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    observation, info = env.reset(options={"task_id": number})
    for action in actions:
        observation, *_, info = env.step(action)
    return observation, info


def listed(env: Any, number: int, actions: tuple[str, ...]) -> list[str]:
    return list(play(env, number, actions)[1]["available_actions"])


@pytest.mark.full
@pytest.mark.parametrize(
    ("number", "actions"),
    [
        pytest.param(BOIL, KITCHEN, id="kitchen", marks=pytest.mark.science),
        pytest.param(BOIL, OUTSIDE, id="outside, with tools", marks=pytest.mark.science),
        pytest.param(PAINT, ART_STUDIO, id="art studio"),
        pytest.param(POWER, ("open door to workshop", "go to workshop"), id="workshop"),
    ],
)
def test_no_listed_action_is_refused(
    listing: Any, other: Any, number: int, actions: tuple[str, ...]
) -> None:
    by_verb: dict[str, list[str]] = {}
    for action in listed(listing, number, actions):
        by_verb.setdefault(action.split()[0], []).append(action)
    assert len(by_verb) >= 15
    for of_verb in by_verb.values():
        for action in of_verb[:: len(of_verb) // 2 + 1]:
            observation, info = play(other, number, (*actions, action))
            assert info["is_valid_action"], (action, observation)


@pytest.mark.full
@pytest.mark.parametrize(("number", "actions"), [(PAINT, ART_STUDIO), (BOIL, OUTSIDE)])
def test_a_listed_name_fits_one_thing(listing: Any, number: int, actions: tuple[str, ...]) -> None:
    looks = [each for each in listed(listing, number, actions) if each.startswith("look at ")]
    read = [meanings(listing.simulator, look) for look in looks]
    assert len(looks) > 10 and [len(each) for each in read] == [1] * len(looks)
    assert len({each[0] for each in read}) == len(looks)


@pytest.mark.full
def test_what_would_do_nothing_is_not_listed(listing: Any) -> None:
    actions = listed(listing, BOIL, KITCHEN)
    assert "mix counter" in actions and "pour bowl into sink" in actions
    assert "mix orange in inventory" not in actions and "mix sink" not in actions
    assert not [action for action in actions if action.startswith("pour bowl into bowl")]
    assert "use lighter on table" in actions and "use lighter on kitchen" not in actions
    assert "use thermometer on table" in actions
    tools = [action for action in listed(listing, BOIL, OUTSIDE) if action.startswith("use axe")]
    assert "use axe on lighter" in tools and "use axe on air" not in tools


@pytest.mark.full
def test_a_dunk_is_listed_in_the_order_in_which_it_is_read(listing: Any, other: Any) -> None:
    where = (*KITCHEN, "open cupboard", "activate sink", "close drain", "wait1")
    dunks = [each for each in listed(listing, BOIL, where) if each.startswith("dunk ")]
    for action in (dunks[0], dunks[-1]):
        observation, info = play(other, BOIL, (*where, action))
        assert observation.startswith("You dunk the ") and info["is_valid_action"]


def expert_is_listed(env: Any, number: int) -> dict[str, str]:
    """Play the expert's way from the list alone; return what was not valid, and its answers."""
    invalid = {}
    _, info = env.reset(options={"task_id": number})
    for action in env.expert():
        assert action in info["available_actions"], action
        observation, *_, info = env.step(action)
        if not info["is_valid_action"]:
            invalid[action] = observation
    assert info["success"], number
    return invalid


@pytest.mark.full
def test_the_experts_actions_are_listed(listing: Any) -> None:
    assert expert_is_listed(listing, PAINT) == {}


@pytest.mark.science
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("task", NUM_VARIATIONS)
def test_the_experts_actions_are_listed_in_every_task(listing: Any, task: str) -> None:
    number = next(n for n in TASKS.numbers("train") if TASKS.game(n).task == task)
    invalid = expert_is_listed(listing, number)
    # Seeds in a jar and fruits on a tree have no names of their own; asking for them is a question.
    assert all(is_question(answer) for answer in invalid.values())
    assert not invalid or task.startswith(("grow-", "mendelian-"))


@pytest.mark.full
def test_the_expert_goes_on_after_its_actions_under_listed_names(listing: Any) -> None:
    listing.reset(options={"task_id": PAINT})
    moves = listing.expert()
    renamed = 0
    for action in islice(moves, 8):
        listing.step(action)
    again = listing.expert()
    for action in moves:
        assert next(again) == action
        listing.step(action)
        renamed += " into " in action
    assert renamed, "the simulator says `pour cup in cup`"


@pytest.mark.full
def test_a_question_can_be_answered_or_dropped_from_the_list(listing: Any) -> None:
    actions = listed(listing, BOIL, ())
    after = listed(listing, BOIL, ("open door",))
    assert set(after) == {*actions, *map(str, range(6))}
    observation, *_, info = listing.step("0")
    assert (observation, info["is_valid_action"]) == ("The door is now open.", True)
    assert "0" not in info["available_actions"]


def test_the_original_reads_nothing_but_an_answer() -> None:
    env: Any = gym.make("agentgym/SciWorld-v0", compat="agentgym", available_actions=True).unwrapped
    assert listed(env, BOIL, ("open door",)) == [str(number) for number in range(6)]
    env.close()


@pytest.mark.full
def test_to_ask_what_an_action_means_changes_nothing(listing: Any) -> None:
    play(listing, POWER, ("open door to workshop", "go to workshop", "open drawer"))
    simulator = listing.simulator
    meaning = meanings(simulator, "connect battery anode to black wire terminal 1")
    assert meaning == meanings(simulator, "connect anode in battery to terminal 1 on black wire")
    assert len(meaning) == 1 and meanings(simulator, "fly") == []
    play(listing, BOIL, ("open door",))
    assert len(meanings(listing.simulator, "look at terminal")) > 6
    assert listing.step("0")[0] == "The door is now open."


def test_a_hidden_terminal_means_its_thing_where_that_would_connect_it_first(listing: Any) -> None:
    _, info = play(listing, POWER, ("open door to workshop", "go to workshop"))
    (listed_as,) = meanings(listing.simulator, "connect orange to black wire terminal 1")
    assert "connect orange to black wire terminal 1" in info["available_actions"]
    for number, is_first in ((1, True), (2, False)):
        action = f"connect orange terminal {number} to black wire terminal 1"
        (meaning,) = meanings(listing.simulator, action)
        assert (meaning == listed_as) is is_first


@pytest.mark.full
def test_things_without_names_of_their_own_need_a_question(listing: Any) -> None:
    _, info = listing.reset(options={"task_id": APPLE_TREE})
    asked = []
    for action in listing.expert():
        assert action in info["available_actions"]
        observation, *_, info = listing.step(action)
        if observation.startswith("Ambiguous request:"):
            asked.append(action)
        if action == "0":
            break
    assert asked and "seed" in asked[0] and info["is_valid_action"]
    assert observation.startswith("You move the apple seed to ")
