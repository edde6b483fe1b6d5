"""Our houses against TextWorld's own engine, where it and `alfworld` are installed."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.tasks import SUBTASKS, alfworld_tasks
from tests.agentgym_envs.alfworld.real_engine import data_folder, real_game

pytestmark = pytest.mark.skipif(
    data_folder() is None,
    reason="needs TextWorld's engine: make test-partner NAME=textworld",
)
GAMES = 60
TURNS = 40


def games() -> list[int]:
    """Return so many tasks of each kind, in as many scenes as there are."""
    numbers = sorted(alfworld_tasks().games)
    chosen: list[int] = []
    for subtask in SUBTASKS.values():
        own = [n for n in numbers if alfworld_tasks().games[n].subtask == subtask]
        chosen += own[:: len(own) // (GAMES // 6)][: GAMES // 6]
    return chosen


def commands(env: ALFWorldEnv, number: int) -> Iterator[str]:
    """Yield the expert's and random commands in turn, some of which do nothing."""
    rng = random.Random(number)
    seen = ["take mug 1 from cabinet 1", "open fridge 1", "examine knife 1", "Look", "go to moon"]
    while True:
        possible = env.available_actions() or []
        seen += possible
        expert = next(env.expert(), "look")
        yield rng.choice([expert, expert, rng.choice(possible), rng.choice(seen)])


@pytest.mark.slow
@pytest.mark.parametrize("number", games())
def test_a_game_gives_what_the_engine_gives(number: int) -> None:
    env = ALFWorldEnv(max_turns=TURNS, turns_left=False)
    observation, info = env.reset(options={"task_id": number})
    real = real_game(env.house, env.goal)
    state = real.reset()
    assert state.feedback == observation
    won = False
    for command in commands(env, number):
        assert state["admissible_commands"] == info["available_actions"]
        command = command.lower()
        in_the_middle = command == "look" and env.house.at is None
        observation, _, terminated, truncated, info = env.step(command)
        state, _, won = real.step(command)
        if not info["is_valid_action"]:  # the engine does not say why
            assert observation.startswith(f"{state.feedback} ")
        elif not in_the_middle:  # the engine sees nothing there
            assert state.feedback == observation, command
        assert won == terminated == info["success"]
        if won or truncated:
            break
