"""Maze's expert knows the walls that it has stood beside, and comes to every goal."""

from __future__ import annotations

import itertools
import random
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs.checking.checks import ShownText
from agentgym_envs.maze.env import MazeEnv
from agentgym_envs.maze.layouts import distances, moved


def made(**kwargs: Any) -> MazeEnv:
    env = gym.make("agentgym/Maze-v0", disable_env_checker=True, **kwargs).unwrapped
    assert isinstance(env, MazeEnv)
    return env


def num_turns(env: MazeEnv, actions: Any) -> int:
    """Play actions until the goal; return how many there were."""
    for action in actions:
        *_, terminated, _, info = env.step(action)
        assert info["is_valid_action"]
        if terminated:
            return int(info["turn"])
    raise AssertionError(f"{env.task.task_id} was not solved")


def test_the_expert_comes_to_every_goal_of_the_tests() -> None:
    env = made(max_turns=100)
    turns = []
    for task_id in env.task_ids("test"):
        env.reset(options={"task_id": task_id})
        turns.append(num_turns(env, env.expert()))
    assert max(turns[:25]) <= 15  # AgentGym's
    assert sum(turn <= 15 for turn in turns) >= 160


def test_the_privileged_expert_takes_the_shortest_way() -> None:
    env = made()
    for task_id in env.task_ids("validation"):
        env.reset(options={"task_id": task_id})
        far = distances(env.game.maze.free, env.game.maze.goal)[env.game.maze.start]
        assert num_turns(env, env.expert(privileged=True)) == far


@pytest.mark.parametrize("compat", [None, "agentgym"])
@pytest.mark.parametrize("privileged", [False, True])
def test_the_expert_goes_on_from_any_state(compat: str | None, privileged: bool) -> None:
    env = made(max_turns=300, compat=compat)
    for number in (*range(0, 25, 4), *range(2000, 2150, 10)):
        rng = random.Random(number)
        _, info = env.reset(options={"task_id": number})
        for _ in range(15):
            *_, terminated, _, info = env.step(rng.choice(info["available_actions"]))
            if terminated:
                break
        else:
            num_turns(env, env.expert(privileged=privileged))


def test_the_expert_does_not_know_what_it_has_not_seen() -> None:
    """Two mazes that look alike so far get the same move, wherever the ways lead."""
    env = made()
    for number in range(2000, 2150, 5):
        env.reset(options={"task_id": number})
        first = next(env.expert())
        near = {
            env.game.position,
            *(moved(env.game.position, way) for way in env.game.seen[env.game.position]),
        }
        env.game.maze = type(env.game.maze)(
            frozenset(near), env.game.maze.start, env.game.maze.goal
        )
        assert next(env.expert()) == first


def test_thoughts_say_what_was_seen() -> None:
    env = made(action_format="react", max_turns=100)
    for number in (0, 4, 2011, 2038):
        observation, _ = env.reset(options={"task_id": number})
        shown = ShownText(env, observation)
        for move in env.expert_moves():
            assert move.thought.startswith("The goal is ")
            shown.check(move.thought)
            is_back = moved(env.game.position, move.action.removeprefix("move ")) in env.game.seen
            assert ("leads back" in move.thought) is is_back
            observation, *_ = env.step(env.parser.format(move.action, move.thought))
            shown.add(observation)


@pytest.mark.parametrize(
    ("number", "turn", "thought"),
    [
        (4000, 0, "but there are walls to the left and above: I go round."),
        (4000, 1, "but there is a wall to the left: I go round."),
        (2018, 2, "but the shortest way that remains leads back to the left."),
        (1025, 2, "but the shortest way that remains leads back down."),
    ],
)
def test_a_thought_says_why_the_way_leads_away(number: int, turn: int, thought: str) -> None:
    env = made()
    env.reset(options={"task_id": number})
    for move in itertools.islice(env.expert_moves(), turn):
        env.step(move.action)
    assert next(env.expert_moves()).thought.endswith(thought)


def test_an_expert_whose_moves_are_not_played_ends() -> None:
    env = made()
    env.reset(options={"task_id": 0})
    assert set(env.expert()) == {"move right"}


@pytest.mark.full
def test_the_right_hand_comes_to_every_goal_and_straight_on_does_not() -> None:
    env = made(max_turns=100)
    reached = {"right_hand": 0, "toward_goal": 0}
    for number in range(2000, 2150):
        for baseline in reached:
            env.reset(options={"task_id": number})
            for action in env.baseline(baseline):
                *_, info = env.step(action)
            reached[baseline] += info["success"]
    assert reached["right_hand"] == 150
    assert 0 < reached["toward_goal"] < 40


@pytest.mark.full
def test_rules_that_do_not_plan_stay_clearly_below_the_expert_in_rooms() -> None:
    env = made(max_turns=60)
    task_ids = env.task_ids("rooms")[::4]
    reached = {name: 0 for name in ("expert", "nearest_unvisited", "best_first", "right_hand")}
    for task_id in task_ids:
        for name in reached:
            env.reset(options={"task_id": task_id})
            for action in env.expert() if name == "expert" else env.baseline(name):
                *_, terminated, truncated, info = env.step(action)
                if terminated or truncated:
                    break
            reached[name] += info["success"]
    best = max(count for name, count in reached.items() if name != "expert")
    assert reached["expert"] - best >= 0.2 * len(task_ids)


def test_the_nearest_unvisited_cell_is_sought_through_cells_that_were_seen() -> None:
    env = made(max_turns=100)
    for number in (4, 2011, 7003):
        env.reset(options={"task_id": number})
        for action in itertools.islice(env.baseline("nearest_unvisited"), 30):
            before = set(env.game.seen)
            *_, terminated, _, info = env.step(action)
            assert info["is_valid_action"]
            if terminated:
                break
            near = {moved(env.game.position, way) for way in env.game.seen[env.game.position]}
            assert env.game.position not in before or near & before
