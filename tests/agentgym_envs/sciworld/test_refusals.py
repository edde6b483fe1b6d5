"""What the simulator does not do is invalid; what it does is valid, however its answer sounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sciworld.answers import is_refusal

BOIL, POWER = 0, 1396
KITCHEN = ("open door to kitchen", "go to kitchen")
OUTSIDE = (*KITCHEN, "open door to outside", "go to outside")


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    env: Any = gym.make("agentgym/SciWorld-v0", max_turns=500).unwrapped
    yield env
    env.close()


def played(env: Any, *actions: str, number: int = BOIL) -> tuple[str, bool]:
    """Return the last action's answer, and whether it was valid."""
    env.reset(options={"task_id": number})
    for action in actions:
        observation, *_, info = env.step(action)
    return observation, info["is_valid_action"]


@pytest.mark.parametrize(
    ("actions", "answer"),
    [
        (["go to kitchen"], "The door is not open."),
        (["go to door to kitchen"], "The door is not open."),
        (["go to hallway"], "It's not clear how to get there from here."),
        (["go to agent"], "Its not clear how to go to/through a agent."),
        ([KITCHEN[0], KITCHEN[0]], "The door is already open."),
        (["close door to kitchen"], "The door is already closed."),
        (["open picture"], "The picture is not openable."),
        (["look in air"], "It's not clear how to look inside of that."),
        (["look at terminal 1 in picture"], "<ERROR: Could not retrieve object description>"),
        ([*KITCHEN, "look in fridge"], "The fridge isn't open, so you can't see inside."),
        (["read picture"], "It's not clear how to read that."),
        (["activate picture"], "The picture is not something that can be activated."),
        ([*KITCHEN, "deactivate sink"], "The sink is already deactivated."),
        (["flush picture"], "It's not clear how to flush that."),
        (["pick up agent"], "The agent is not moveable."),
        (["move picture to picture"], "You can't move something into itself."),
        (["move picture to orange"], "That can't be moved there."),
        (["pick up air"], "You can't pick up a gas directly."),
        ([*KITCHEN, "move orange in inventory to fridge"], "because the fridge isn't open."),
        ([*OUTSIDE, "pick up water"], "You can't pick up a liquid directly. Try pouring it "),
        (["pour orange into agent"], "The inventory the orange is in is not movable."),
        ([*KITCHEN, "pour table into table"], "You can't move something into itself."),
        ([*KITCHEN, "dunk glass cup into sink"], "does not contain any liquids to dunk into."),
        ([*KITCHEN, "mix sink"], "That container is empty, so there are no items to mix."),
        (["mix inventory"], "There is only one thing (orange)"),
        (["use orange on agent"], "I'm not sure how to use the orange."),
        ([*OUTSIDE, "use axe on air"], "I'm not sure how to use those two things together."),
        ([*KITCHEN, "use lighter on kitchen"], "It's not clear how to use those items together."),
        (["eat picture"], "The picture is not edible."),
        (["connect orange to orange"], "Something can't be connected to itself."),
        (
            ["disconnect terminal 1 in orange"],
            "You must disconnect entire objects (such as orange)",
        ),
        (["help", "connect agent to orange"] * 3, "is already connected, and must be disconnected"),
    ],
)
def test_a_refusal_is_invalid(env: Any, actions: list[str], answer: str) -> None:
    observation, is_valid = played(env, *actions)
    assert answer in observation and not is_valid


def test_contacts_of_electrical_parts_must_be_named(env: Any) -> None:
    workshop = ["open door to workshop", "go to workshop"]
    for action in ("connect battery to agent", "connect black wire to agent"):
        observation, is_valid = played(env, *workshop, action, number=POWER)
        assert observation.startswith("Connections must specify specific points of contact on ")
        assert not is_valid


@pytest.mark.parametrize(
    ("actions", "answer"),
    [
        (["disconnect orange"], "orange has been disconnected"),  # though reported as a failure
        (["mix hallway"], "does not appear to produce anything new."),
        ([*KITCHEN, "use thermometer on kitchen"], "doesn't appear to have a temperature"),
        (["pick up orange"], "You move the orange to the inventory."),  # it is there already
        (["look at door to kitchen"], "A door to the kitchen (that is closed)"),
    ],
)
def test_what_is_done_is_valid(env: Any, actions: list[str], answer: str) -> None:
    observation, is_valid = played(env, *actions)
    assert answer in observation and is_valid


@pytest.mark.parametrize(
    "text",
    [
        "The stove appears broken, and can't be activated or deactivated.",
        "The door is now open.",
        "The orange was delicious.",
        "a fridge. The fridge door is closed.",
        "The recipe reads:\nThe door is not open.",
        "The door is not open.\nYou move to the kitchen.",
        "In your inventory, you see:\n\tan orange",
        "No known action matches that input.",
        "",
    ],
)
def test_a_refusal_is_the_whole_answer(text: str) -> None:
    assert not is_refusal(text)


def test_the_originals_flags_stay_as_they_are() -> None:
    env: Any = gym.make("agentgym/SciWorld-v0", compat="agentgym").unwrapped
    observation, is_valid = played(env, "go to kitchen")
    assert (observation, is_valid) == ("The door is not open.", True)
    env.close()
