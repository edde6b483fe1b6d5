"""What a walk through a maze shows, pays and refuses."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs.maze.env import MazeEnv
from agentgym_envs.maze.layouts import (
    DIRECTIONS,
    FARTHEST,
    HEIGHT,
    NEAREST,
    ROOMS,
    ROOMS_DETOUR,
    ROOMS_FARTHEST,
    WIDTH,
    distances,
    moved,
)
from agentgym_envs.maze.tasks import CORRIDORS, DOUBLE_T, MazeTasks

START = (
    "The goal is at position 8, 6. Your current position is at position 1, 1. "
    "There are walls to your left, above you, below you."
)
TASKS = MazeTasks()
EVERY = [n for split in ("train", "validation", "test") for n in TASKS.numbers(split)]


def begun(task_id: str | int = "maze_0", **kwargs: Any) -> MazeEnv:
    env = gym.make("agentgym/Maze-v0", disable_env_checker=True, **kwargs).unwrapped
    assert isinstance(env, MazeEnv)
    env.reset(options={"task_id": task_id})
    return env


def test_an_episode_begins_with_the_goal_the_position_and_the_walls() -> None:
    observation, info = begun().reset(options={"task_id": 0})
    assert observation == START
    assert info["goal"] == "Reach the goal at position 8, 6."
    assert info["available_actions"] == ["move right"]


def test_a_cell_without_walls_says_so() -> None:
    env = begun()
    env.game.maze = type(env.game.maze)(
        frozenset((5, c) for c in range(1, 9)) | {(4, 5), (6, 5)}, (5, 5), (5, 8)
    )
    env.game.position = (5, 4)
    observation, *_ = env.step("move right")
    assert observation.endswith("position 5, 5. There are no walls near you.")


def test_the_goal_pays_1_and_ends_the_episode() -> None:
    env = begun(18)
    observation, reward, terminated, truncated, info = env.step("move down")
    assert observation == "You reached the goal."
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert info["available_actions"] == []


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ("move up", "There is a wall above you, so you stay where you are. " + START),
        ("up", "'up' is no move; a move is one of: move left, move right, move up, move down. "),
        ("", "'' is no move; "),
        ("move north", "'move north' is no move; "),
    ],
)
def test_what_cannot_be_done_is_said(action: str, answer: str) -> None:
    env = begun()
    observation, reward, terminated, _, info = env.step(action)
    assert observation.startswith(answer) and observation.endswith(START)
    assert (reward, terminated, info["is_valid_action"]) == (0.0, False, False)


def test_capitals_and_spaces_do_not_matter() -> None:
    assert begun().step(" Move  right\n")[0] == begun().step("move right")[0]


def test_agentgym_s_tasks_are_its_25_starts() -> None:
    tests = TASKS.numbers("test")
    double_t = [number for number in tests if TASKS.describe(number)[0] == DOUBLE_T]
    assert double_t == list(range(25))
    starts = [TASKS.maze(number).start for number in double_t]
    assert len(set(starts)) == 25
    assert (starts[0], starts[5], starts[10], starts[24]) == ((1, 1), (1, 7), (2, 3), (2, 9))
    assert len(TASKS.maze(0).free) == 26


@pytest.mark.parametrize("number", [25, 26, 999])
def test_the_start_that_is_the_goal_is_no_task(number: int) -> None:
    with pytest.raises(ValueError, match=f"unknown task_id 'maze_{number}'"):
        begun(number)


def test_the_mazes_are_trees_whose_goal_is_not_straight_ahead() -> None:
    for number in EVERY[::7]:
        maze = TASKS.maze(number)
        far = distances(maze.free, maze.goal)
        assert set(far) == maze.free
        edges = sum(not maze.is_wall(cell, way) for cell in maze.free for way in DIRECTIONS) // 2
        assert edges == len(maze.free) - 1
        assert all(0 < r < HEIGHT - 1 and 0 < c < WIDTH - 1 for r, c in maze.free)
        straight = abs(maze.start[0] - maze.goal[0]) + abs(maze.start[1] - maze.goal[1])
        if TASKS.describe(number)[0] != DOUBLE_T:
            assert NEAREST <= far[maze.start] <= FARTHEST and far[maze.start] > straight


@pytest.mark.full
def test_no_maze_of_the_tests_is_trained_on() -> None:
    mazes = {split: {TASKS.maze(n) for n in TASKS.numbers(split)} for split in TASKS.splits}
    assert {split: len(found) for split, found in mazes.items()} == {
        **{"train": 3000, "validation": 75, "test": 175, "rooms": 200},
    }
    assert not mazes["test"] & (mazes["train"] | mazes["validation"])
    assert not mazes["validation"] & mazes["train"]


def test_subtasks_say_how_many_corridors_there_are() -> None:
    for number in range(2000, 2030):
        subtask, _ = TASKS.describe(number)
        assert subtask in {f"corridors {count}" for count in CORRIDORS}
    env = begun(2000, tasks=["corridors 8"])
    assert {env.reset(seed=seed)[1]["subtask"] for seed in range(5)} == {"corridors 8"}


def test_moving_there_and_back_leads_back() -> None:
    for way, back in (("left", "right"), ("up", "down")):
        assert moved(moved((3, 4), way), back) == (3, 4)


def test_a_number_means_the_maze_that_it_always_meant() -> None:
    """Fails when mazes are drawn otherwise: raise VERSION if that is meant."""
    mazes = [TASKS.maze(number) for number in EVERY[::10]]
    shown = [(sorted(maze.free), maze.start, maze.goal) for maze in mazes]
    assert sha256(repr(shown).encode()).hexdigest()[:16] == "5adf0fd0929deb79"
    rooms = [TASKS.maze(number) for number in TASKS.numbers("rooms")]
    shown = [(sorted(maze.free), maze.start, maze.goal) for maze in rooms]
    assert sha256(repr(shown).encode()).hexdigest()[:16] == "3177d5f653d89162"


def test_rooms_are_joined_by_doors_without_loops_and_the_goal_asks_for_a_detour() -> None:
    for number in TASKS.numbers("rooms")[::5]:
        maze = TASKS.maze(number)
        far = distances(maze.free, maze.goal)
        assert set(far) == maze.free
        assert len(maze.free) == ROOMS**4 + ROOMS**2 - 1  # cells of rooms, and doors of a tree
        assert all(0 < r < maze.height - 1 and 0 < c < maze.width - 1 for r, c in maze.free)
        straight = abs(maze.start[0] - maze.goal[0]) + abs(maze.start[1] - maze.goal[1])
        assert straight + ROOMS_DETOUR <= far[maze.start] <= ROOMS_FARTHEST
