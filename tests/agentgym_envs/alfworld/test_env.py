"""What an episode shows, and what the commands do.

The texts are those that TextWorld's engine gives on `alfworld` 0.4.2's domain and grammar, which
`test_real_engine.py` plays beside ours.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.rules import rules
from agentgym_envs.alfworld.tasks import SUBTASKS, alfworld_tasks

HEAT = "alfworld_2500"
LOOK = "alfworld_3"


def begun(task_id: str = HEAT, **kwargs: Any) -> ALFWorldEnv:
    env = ALFWorldEnv(**kwargs)
    env.reset(options={"task_id": task_id})
    return env


def answer(env: ALFWorldEnv, command: str) -> str:
    return env.step(command)[0]


def where(env: ALFWorldEnv, kind: str) -> tuple[str, str]:
    """Return the names of a thing of a kind and of the place it is in, which is not the goal's."""
    for place in env.house.places:
        for thing in place.contents:
            if thing.kind == kind and place.kind != env.house.task.target:
                return thing.name, place.name
    raise LookupError(kind)


def fetch(env: ALFWorldEnv, kind: str) -> str:
    """Take a thing of a kind, wherever it is."""
    name, place = where(env, kind)
    env.step(f"go to {place}")
    env.step(f"open {place}")
    assert env.step(f"take {name} from {place}")[4]["is_valid_action"]
    return name


def test_an_episode_begins_with_the_places_and_the_task() -> None:
    env = ALFWorldEnv()
    observation, info = env.reset(options={"task_id": LOOK})
    assert observation == (
        "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly "
        "around you, you see a bed 2, a bed 1, a desk 1, a drawer 3, a drawer 2, a drawer 1, a "
        "garbagecan 1, a laundryhamper 1, and a shelf 1.\n\nYour task is to: look at alarmclock "
        "under the desklamp."
    )
    assert info["goal"] == "look at alarmclock under the desklamp"
    assert info["game"].startswith("look_at_obj_in_light-AlarmClock-None-DeskLamp-304/trial_")


def test_things_of_a_kind_are_numbered_without_gaps() -> None:
    env = ALFWorldEnv()
    for number in sorted(alfworld_tasks().games)[::20]:
        env.reset(options={"task_id": number})
        numbers: dict[str, set[int]] = {}
        for place in env.house.places:
            for thing in place.contents:
                numbers.setdefault(thing.kind, set()).add(thing.number)
        assert all(found == set(range(1, len(found) + 1)) for found in numbers.values())


def test_doors_are_opened_and_closed() -> None:
    env = begun()
    refused = "Nothing happens. You are not at fridge 1. Go to fridge 1 first."
    assert answer(env, "open fridge 1") == refused
    assert answer(env, "go to fridge 1") == "You arrive at fridge 1. The fridge 1 is closed."
    assert answer(env, "close fridge 1") == "Nothing happens. The fridge 1 is closed already."
    opened = answer(env, "open fridge 1")
    assert opened.startswith("You open the fridge 1. The fridge 1 is open. In it, you see a ")
    assert answer(env, "examine fridge 1") == opened.removeprefix("You open the fridge 1. ")
    assert answer(env, "close fridge 1") == "You close the fridge 1."
    assert answer(env, "go to fridge 1") == "Nothing happens. You are at fridge 1 already."


def test_one_thing_is_held_at_a_time() -> None:
    env = begun(max_turns=99)
    assert answer(env, "inventory") == "You are not carrying anything."
    name = fetch(env, "cup")
    assert answer(env, "inventory") == f"You are carrying: a {name}."
    assert answer(env, "examine " + name) == f"This is a normal {name}. In it, you see nothing."
    other, place = where(env, "knife")
    env.step(f"go to {place}")
    assert answer(env, f"take {other} from {place}").startswith("Nothing happens. You hold cup")
    assert not any(c.startswith("take") for c in env.available_actions() or [])


def test_a_thing_is_heated_cooled_cleaned_and_sliced() -> None:
    env = begun(max_turns=99)
    name = fetch(env, "apple")
    assert answer(env, f"examine {name}") == f"There's nothing special about {name}."
    steps = [("microwave 1", "heat", "hot"), ("sinkbasin 1", "clean", "hot and clean")]
    for place, verb, state in [*steps, ("fridge 1", "cool", "cool and clean")]:
        env.step(f"go to {place}")
        assert answer(env, f"{verb} {name} with {place}") == (
            f"You {verb} the {name} using the {place}."
        )
        assert answer(env, f"examine {name}") == f"This is a {state} {name}."
    env.step("open fridge 1")
    assert answer(env, f"move {name} to fridge 1") == f"You move the {name} to the fridge 1."
    knife = fetch(env, "knife")
    env.step("go to fridge 1")
    assert answer(env, f"slice {name} with {knife}") == f"You sliced the {name} with the {knife}."


def test_a_place_takes_only_what_belongs_there() -> None:
    env = begun(max_turns=99)
    name = fetch(env, "cup")
    env.step("go to stoveburner 1")
    assert answer(env, f"move {name} to stoveburner 1").startswith("Nothing happens. A cup does")
    assert env.house.held is not None


def test_looking_around() -> None:
    env = begun()
    middle = answer(env, "look")
    assert middle.startswith("You are in the middle of a room.") and "a fridge 1" in middle
    env.step("go to fridge 1")
    assert answer(env, "look") == "You are facing the fridge 1. Next to it, you see nothing."
    assert answer(env, "help").startswith("Available commands:\n  look:")


@pytest.mark.parametrize("lamp_first", [False, True])
def test_a_thing_is_looked_at_under_a_lamp_in_either_order(lamp_first: bool) -> None:
    env = begun(LOOK)
    lamp, place = where(env, "desklamp")
    if lamp_first:
        env.step(f"go to {place}")
        assert answer(env, f"use {lamp}") == f"You turn on the {lamp}."
        *_, terminated, _, info = env.step("look")
        assert not terminated
    fetch(env, "alarmclock")
    if env.house.at is None or env.house.at.name != place:
        env.step(f"go to {place}")
    info = {"success": env.house.is_won} if lamp_first else env.step(f"use {lamp}")[4]
    assert info["success"]


def test_every_lamp_can_be_lit_in_every_task() -> None:
    env, lit = ALFWorldEnv(), set()
    for number in sorted(alfworld_tasks().games)[::7]:
        env.reset(options={"task_id": number})
        lamps = [
            (thing.name, place.name)
            for place in env.house.places
            for thing in place.contents
            if thing.kind == "desklamp"
        ]
        for lamp, place in lamps:
            assert f"use {lamp}" not in env.house.commands
            env.step(f"go to {place}")
            observation, *_, info = env.step(f"use {lamp}")
            assert observation == f"You turn on the {lamp}." and not info["success"]
            lit.add(info["subtask"])
    assert lit == {"Look", "Pick", "Pick2"}  # bedrooms and living rooms have no other tasks


def test_two_things_must_be_in_one_place() -> None:
    number = next(
        number
        for number, game in alfworld_tasks().games.items()
        if (game.subtask, game.target) == ("Pick2", "drawer")
        and rules().scenes[game.scene].places["drawer"] > 1
    )
    env = begun(f"alfworld_{number}", max_turns=99)
    thing = env.house.task.thing
    drawers = [place.name for place in env.house.places if place.kind == "drawer"]
    for drawer in drawers[:2]:
        name = fetch(env, thing)
        env.step(f"go to {drawer}")
        env.step(f"open {drawer}")
        *_, info = env.step(f"move {name} to {drawer}")
        assert info["is_valid_action"] and not info["success"]
    env.step(f"take {name} from {drawer}")
    env.step(f"go to {drawers[0]}")
    assert env.step(f"move {name} to {drawers[0]}")[4]["success"]


def put(env: ALFWorldEnv, name: str, kind: str) -> tuple[str, dict[str, Any]]:
    """Put what is held on the first place of a kind; return its name and the turn's info."""
    place = next(place.name for place in env.house.places if place.kind == kind)
    env.step(f"go to {place}")
    env.step(f"open {place}")
    return place, env.step(f"move {name} to {place}")[4]


@pytest.mark.parametrize("subtask", sorted(SUBTASKS.values()))
def test_a_near_miss_is_not_paid_and_can_be_mended(subtask: str) -> None:
    number = next(n for n, game in alfworld_tasks().games.items() if game.subtask == subtask)
    env = begun(f"alfworld_{number}", max_turns=200)
    task = env.house.task
    for info in near_misses(env, task.thing, task.target):
        assert info["is_valid_action"] and not info["success"]
    for action in env.expert():
        *_, info = env.step(action)
    assert info["success"]


def near_misses(env: ALFWorldEnv, thing: str, target: str) -> Iterator[dict[str, Any]]:
    """Play what nearly reaches the goal; yield the info of the turns that may not be paid."""
    subtask = env.house.task.subtask
    if subtask == "Look":  # the lamp is lit over another thing
        lamp, place = where(env, target)
        fetch(env, another(env, [*rules().holds["desk"]]))
        env.step(f"go to {place}")
        yield env.step(f"use {lamp}")[4]
    elif subtask == "Pick":  # another thing there, and the thing at another place
        yield put(env, fetch(env, another(env, [*rules().holds[target]])), target)[1]
        kinds = [place.kind for place in env.house.places if place.kind != target]
        elsewhere = next(kind for kind in kinds if thing in rules().holds[kind])
        yield put(env, fetch(env, thing), elsewhere)[1]
    elif subtask == "Pick2":  # one thing twice
        name = fetch(env, thing)
        place, info = put(env, name, target)
        yield info
        env.step(f"take {name} from {place}")
        yield env.step(f"move {name} to {place}")[4]
    else:  # the thing as it is, or heated and cooled in the wrong order
        name = fetch(env, thing)
        for verb in {"Heat": ("heat", "cool"), "Cool": ("cool", "heat"), "Clean": ()}[subtask]:
            tool = {"heat": "microwave 1", "cool": "fridge 1"}[verb]
            env.step(f"go to {tool}")
            assert env.step(f"{verb} {name} with {tool}")[4]["is_valid_action"]
        yield put(env, name, target)[1]


def another(env: ALFWorldEnv, kinds: Sequence[str]) -> str:
    """Return one of the kinds that the task is not about, of which a thing lies about."""
    task = env.house.task
    lying = [
        thing.kind
        for place in env.house.places
        if place.kind != task.target
        for thing in place.contents
    ]
    return next(kind for kind in lying if kind in kinds and kind != task.thing)


def test_success_pays_once_and_ends_the_episode() -> None:
    env = begun()
    rewards, info = [], {}
    for action in env.expert():
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
    assert rewards[-1] == 1.0 and sum(rewards) == 1.0
    assert (terminated, truncated, info["score"]) == (True, False, 1.0)


def test_what_is_listed_is_what_does_something() -> None:
    env = ALFWorldEnv(max_turns=60)
    rng = random.Random(0)
    tried = 0
    for number in sorted(alfworld_tasks().games)[::150]:
        _, info = env.reset(options={"task_id": number})
        known: set[str] = set()
        for _ in range(30):
            listed = info["available_actions"]
            assert listed == sorted(set(listed))
            known.update(listed)
            state = snapshot(env)
            unlisted = sorted(known.difference(listed))
            if unlisted:
                tried += 1
                observation, *_, info = env.step(rng.choice(unlisted))
                assert observation.startswith("Nothing happens.") and not info["is_valid_action"]
                assert snapshot(env) == state
            observation, _, terminated, _, info = env.step(rng.choice(listed))
            assert info["is_valid_action"]
            if terminated:
                break
    assert tried > 300


def snapshot(env: ALFWorldEnv) -> Any:
    house = env.house
    return (
        [
            (place.name, place.is_open, [thing.name for thing in place.contents])
            for place in house.places
        ],
        house.at and house.at.name,
        house.held and house.held.name,
    )


def test_the_list_is_shown_where_it_is_asked_for() -> None:
    env = ALFWorldEnv(list_actions=True)
    observation, info = env.reset(options={"task_id": LOOK})
    assert observation.endswith('"inventory", "look"]')
    assert "\nAvailable actions: [" in env.step("go to desk 1")[0]
    with pytest.raises(ValueError, match="leave one of them out"):
        ALFWorldEnv(list_actions=True, compat="agentgym")


def test_case_and_spaces_do_not_matter() -> None:
    env = begun()
    assert env.step("Go to  Fridge 1")[4]["is_valid_action"]
    assert not begun(compat="agentgym").step("Go to fridge 1")[4]["is_valid_action"]


def test_the_original_s_wording_is_that_of_version_0_3_3() -> None:
    react = ALFWorldEnv(compat="agentgym", action_format="react")
    observation, info = react.reset(options={"task_id": HEAT})
    env = ALFWorldEnv(compat="agentgym", max_turns=99)
    of_the_server = observation.partition("\nAVAILABLE ACTIONS: ")[0]
    assert env.reset(options={"task_id": HEAT})[0] == of_the_server
    assert observation.startswith("You are in the middle of a room. Looking quickly around you, ")
    assert (
        "\nYour task is to: heat some cup and put it in shelf.\nAVAILABLE ACTIONS: " in observation
    )
    assert observation.endswith(",inventory,look") and "help" not in info["available_actions"]
    assert answer(env, "go to fridge 1") == "The fridge 1 is closed."
    assert answer(env, "help") == "Nothing happens."
    name = fetch(env, "cup")
    env.step("go to fridge 1")
    env.step("open fridge 1")
    assert answer(env, f"put {name} in/on fridge 1") == f"You put the {name} in/on the fridge 1."
    assert answer(begun(compat="agentgym"), "look").endswith("you see nothing.")


def test_the_original_s_client_repeats_what_was_shown_when_it_cannot_read() -> None:
    env = begun(compat="agentgym", action_format="react")
    env.step("Thought:\nI go there.\n\nAction:\ngo to fridge 1")
    observation, *_, info = env.step("<think>")  # a thought that was cut off
    assert observation.startswith("Invalid Action.\n\nThe fridge 1 is closed.\nAVAILABLE ACTIONS: ")
    assert not info["is_valid_action"]
