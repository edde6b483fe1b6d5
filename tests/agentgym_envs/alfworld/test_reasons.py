"""Why a command does nothing, and how it is written."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.tasks import alfworld_tasks

HEAT = "alfworld_2500"  # heat some cup and put it in shelf; cup 1 is in cabinet 5
WRITE = re.compile(r"Write: ([^<]*)\.$")


def answers(commands: Sequence[str], task_id: str = HEAT, **kwargs: str) -> str:
    """Return the answer to the last of the commands."""
    env = ALFWorldEnv(max_turns=99, **kwargs)
    observation, _ = env.reset(options={"task_id": task_id})
    for command in commands:
        observation, *_ = env.step(command)
    return observation


def lying(env: ALFWorldEnv, kind: str) -> tuple[str, str]:
    """Return the names of a thing of a kind and of its place."""
    return next(
        (thing.name, place.name)
        for place in env.house.places
        for thing in place.contents
        if thing.kind == kind
    )


def holding(kind: str) -> list[str]:
    """Return the commands that fetch a thing of a kind."""
    env = ALFWorldEnv()
    env.reset(options={"task_id": HEAT})
    name, place = lying(env, kind)
    return [f"go to {place}", f"open {place}", f"take {name} from {place}"]


KNIFE, CUP = holding("knife"), holding("cup")
HELD_CUP = CUP[-1].split(" from ")[0].removeprefix("take ")
HELD_KNIFE = KNIFE[-1].split(" from ")[0].removeprefix("take ")


@pytest.mark.parametrize(
    ("before", "command", "expected"),
    [
        ([], "go to fridge", "Write: go to fridge 1."),
        ([], "walk to the fridge 1", "Write: go to fridge 1."),
        ([], "move to fridge 1", "Write: go to fridge 1."),
        ([], "go to stoveburner", "Which stoveburner? There is stoveburner 1, "),
        ([], "go to fridge 2", "Which fridge? There is fridge 1."),
        ([], "go to bed 1", "There is no bed in this room."),
        ([], "go to mug 1", "That names no place there is. Write: go to <place>."),
        (["go to fridge 1"], "go to fridge 1", "You are at fridge 1 already."),
        ([], "open fridge 1", "You are not at fridge 1. Go to fridge 1 first."),
        (["go to fridge 1"], "open fridge", "Write: open fridge 1."),
        (["go to fridge 1"], "close fridge 1", "The fridge 1 is closed already."),
        (["go to fridge 1", "open fridge 1"], "open fridge 1", "The fridge 1 is open already."),
        (["go to sinkbasin 1"], "open sinkbasin 1", "The sinkbasin 1 has no door."),
        ([], "take cup 1", "Take cup 1 from where? Write: take <thing> from <place>."),
        ([], "take", "That names no thing there is."),
        (["go to fridge 1"], "take egg 1 from fridge 1", "The fridge 1 is closed. Open fridge 1"),
        (["go to sinkbasin 1"], "take bread 9 from sinkbasin 1", "You see no bread 9 in or on"),
        (KNIFE[:2], f"take {HELD_KNIFE}", f"Write: {KNIFE[-1]}."),
        (KNIFE, "take cup 1", f"You hold {HELD_KNIFE}, and one thing at a time."),
        ([], "put cup 1 in/on shelf 1", "You hold nothing. Take the thing from its place first."),
        (CUP, f"put {HELD_CUP}", f"Move {HELD_CUP} where? Write: move <thing> to <place>."),
        (CUP, "put cup 1 in/on fridge 1", "You are not at fridge 1. Go to fridge 1 first."),
        ([*CUP, "go to shelf 1"], f"put {HELD_CUP} in/on shelf 1", f"Write: move {HELD_CUP} to"),
        ([*CUP, "go to shelf 1"], "put knife 9 in shelf 1", "You do not hold knife 9: you hold"),
        ([*CUP, "go to fridge 1"], f"move {HELD_CUP} to fridge 1", "The fridge 1 is closed. Open"),
        ([*CUP, "go to stoveburner 1"], f"move {HELD_CUP} to stoveburner 1", "A cup does not"),
        (CUP, f"heat {HELD_CUP}", "You heat with a microwave. Write: heat <thing> with"),
        (CUP, f"heat {HELD_CUP} with stoveburner 1", "You heat with a microwave."),
        (CUP, f"heat {HELD_CUP} with microwave 1", "You are not at microwave 1."),
        ([*CUP, "go to microwave 1"], f"heat {HELD_CUP} in microwave", f"Write: heat {HELD_CUP}"),
        (KNIFE, f"heat {HELD_KNIFE} with microwave 1", "A knife is nothing to heat."),
        ([], "use cup 1", "A cup cannot be turned on."),
        ([], "turn on desklamp 1", "You are in the middle of the room."),
        ([], "slice apple 1", "You hold no knife. Write: slice <thing> with <knife>."),
        (KNIFE, "slice cup 1", "A cup is nothing to slice."),
        (KNIFE, f"slice apple 9 with {HELD_KNIFE}", "You see no apple 9"),
        (CUP, "examine apple 9", "You can examine the place where you are, and what you hold."),
        (CUP, "examine cup", f"Write: examine {HELD_CUP}."),
        ([], "look around", "Write: look."),
        ([], "dance", "There is no such command. Write help for those there are."),
    ],
)
def test_the_reason_is_given(before: list[str], command: str, expected: str) -> None:
    assert answers([*before, command]).startswith(f"Nothing happens. {expected}")


def test_the_original_gives_no_reason() -> None:
    for command in ("go to fridge", "take cup 1", "dance"):
        assert answers([command], compat="agentgym") == "Nothing happens."


def test_what_it_says_to_write_does_something() -> None:
    rng = random.Random(0)
    env = ALFWorldEnv(max_turns=200, turns_left=False)
    words = "go walk open close take put move heat use turn slice examine clean on in".split()
    num_written = 0
    for number in sorted(alfworld_tasks().games)[::200]:
        env.reset(options={"task_id": number})
        names = [name for place in env.house.places for name in (place.kind, place.name)]
        names += [thing.name for place in env.house.places for thing in place.contents]
        for _ in range(60):
            here = [] if env.house.at is None else [t.kind for t in env.house.at.contents]
            own = [env.house.held.kind] if env.house.held else []
            command = " ".join([rng.choice(words), *rng.sample([*names, *here, *here, *own], 2)])
            observation, *_, info = env.step(command)
            written = WRITE.search(observation)
            if written:
                num_written += 1
                assert not info["is_valid_action"]
                assert written[1] in env.house.commands, command
            if rng.random() < 0.5 and not env.is_over:
                env.step(rng.choice(env.house.commands))
            if env.is_over:
                break
    assert num_written > 50


def test_a_closed_place_is_not_given_away() -> None:
    """The same answer, whether the thing lies in the closed place or not."""
    env = ALFWorldEnv(max_turns=99)
    env.reset(options={"task_id": HEAT})
    place = next(place for place in env.house.places if place.is_closed and place.contents)
    env.step(f"go to {place.name}")
    thing = place.contents[0]
    shown = [env.step(f"take {thing.name}")[0]]
    place.contents.clear()
    shown.append(env.step(f"take {thing.name}")[0])
    assert shown[0] == shown[1]
