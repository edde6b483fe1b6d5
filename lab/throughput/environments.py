"""Steps and resets per second of the environments, one at a time in this process.

BabyAI is measured against minigrid itself: the low-level moves that the text environment made are
recorded once and played again on the bare simulator from the same seeds.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.babyai.tasks import BabyAITasks
from lab.throughput.measure import Row, Side, Stopwatch, Workload, compare

_SEED = 0


@dataclass
class Episode:
    """One recorded episode.

    Attributes:
        task_id: the task.
        actions: what was sent to the text environment.
        moves: the low-level moves that came of it, in minigrid's numbers; empty for TextCraft.
        terminated: the last step's flag.
    """

    task_id: str
    actions: list[str]
    moves: list[int]
    terminated: bool = False


def babyai_rows(repeats: int, *, num_tasks: int = 90) -> Iterator[Row]:
    """Measure BabyAI on the test split: an expert's episodes, random ones, and resets."""
    env = gym.make("agentgym/BabyAI-v0", disable_env_checker=True)
    tasks = BabyAITasks()
    names = {n: tasks.level(n) for n in tasks.numbers("test")}
    # Levels that minigrid has renamed since have no bare counterpart by that name.
    task_ids = [f"babyai_{n}" for n, (name, _) in names.items() if name in gym.registry][:num_tasks]
    for policy, choose in (("expert's actions", expert_actions), ("random actions", _random)):
        episodes = [_record_babyai(env, task_id, choose) for task_id in task_ids]
        bare = [_bare_level(episode) for episode in episodes]
        num_moves = sum(len(e.moves) for e in episodes)
        num_actions = sum(len(e.actions) for e in episodes)
        yield compare(
            "babyai",
            Side(f"BabyAI, {policy}", "steps", _text_steps(env, episodes)),
            Side("minigrid, the same moves", "moves", _bare_steps(bare, episodes)),
            repeats=repeats,
            moves_per_step=round(num_moves / num_actions, 2),
        )
    yield compare(
        "babyai",
        Side("BabyAI, resets", "resets", text_resets(env, task_ids)),
        Side("minigrid, resets to the same seeds", "resets", _bare_resets(bare)),
        repeats=repeats,
    )
    env.close()


def textcraft_rows(repeats: int) -> Iterator[Row]:
    """Measure TextCraft and its deep books: the expert's test episodes, and resets."""
    env = gym.make("agentgym/TextCraft-v0", disable_env_checker=True)
    yield from _crafting_rows("TextCraft", env, ("train", "validation", "test"), repeats)
    env.close()
    env = gym.make("agentgym/TextCraft-v0", disable_env_checker=True, book="deep")
    # As many tasks as its cache holds.
    yield from _crafting_rows("TextCraft, deep books", env, ("test",), repeats)
    env.close()


def _crafting_rows(
    name: str, env: gym.Env[str, str], splits: Sequence[str], repeats: int
) -> Iterator[Row]:
    base: Any = env.unwrapped
    tasks = [task_id for split in splits for task_id in base.task_ids(split)]
    yield compare(
        "textcraft",
        Side(f"{name}, first reset to a task", "resets", text_resets(env, tasks)),
        repeats=1,
        warm_up=False,
    )
    yield compare(
        "textcraft",
        Side(f"{name}, resets", "resets", text_resets(env, tasks * 10)),
        repeats=repeats,
    )
    episodes = [
        record_episode(env, task_id, expert_actions) for task_id in base.task_ids("test")
    ] * 10
    yield compare(
        "textcraft",
        Side(f"{name}, expert's actions", "steps", _text_steps(env, episodes)),
        repeats=repeats,
    )


def alfworld_rows(repeats: int) -> Iterator[Row]:
    """Measure ALFWorld on the test split: the expert's episodes, random ones, and resets."""
    env = gym.make("agentgym/ALFWorld-v0", disable_env_checker=True)
    base: Any = env.unwrapped
    task_ids = base.task_ids("test")
    for policy, choose in (("expert's actions", expert_actions), ("random actions", _random)):
        episodes = [record_episode(env, task_id, choose) for task_id in task_ids]
        yield compare(
            "alfworld",
            Side(f"ALFWorld, {policy}", "steps", _text_steps(env, episodes)),
            repeats=repeats,
        )
    yield compare(
        "alfworld",
        Side("ALFWorld, resets", "resets", text_resets(env, task_ids)),
        repeats=repeats,
    )
    env.close()


def sql_rows(repeats: int) -> Iterator[Row]:
    """Measure SQL: the expert's episodes on the test split, and resets."""
    yield from _steps_and_resets("agentgym/SQL-v0", "sql", "SQL", repeats)


def webshop_rows(repeats: int) -> Iterator[Row]:
    """Measure WebShop: the expert's episodes on the test split, and resets."""
    yield from _steps_and_resets("agentgym/WebShop-v0", "webshop", "WebShop", repeats)


def _steps_and_resets(env_id: str, group: str, name: str, repeats: int) -> Iterator[Row]:
    env = gym.make(env_id, disable_env_checker=True)
    task_ids = env.unwrapped.task_ids("test")  # type: ignore[attr-defined]
    yield compare(
        group,
        Side(f"{name}, resets", "resets", text_resets(env, task_ids * 10)),
        repeats=repeats,
    )
    episodes = [record_episode(env, task_id, expert_actions) for task_id in task_ids]
    yield compare(
        group,
        Side(f"{name}, expert's actions", "steps", _text_steps(env, episodes)),
        repeats=repeats,
    )
    env.close()


def maze_rows(repeats: int) -> Iterator[Row]:
    """Measure Maze: the expert's episodes on the test split, and resets."""
    yield from _game_rows("Maze", repeats)


def wordle_rows(repeats: int) -> Iterator[Row]:
    """Measure Wordle: the expert's episodes on every ninth test, and resets."""
    yield from _game_rows("Wordle", repeats, every=9)


def _game_rows(name: str, repeats: int, *, every: int = 1) -> Iterator[Row]:
    env = gym.make(f"agentgym/{name}-v0", disable_env_checker=True)
    task_ids = env.unwrapped.task_ids("test")  # type: ignore[attr-defined]
    yield compare(
        name.lower(),
        Side(f"{name}, resets", "resets", text_resets(env, task_ids * 10)),
        repeats=repeats,
    )
    episodes = [record_episode(env, task_id, expert_actions) for task_id in task_ids[::every]] * 10
    yield compare(
        name.lower(),
        Side(f"{name}, expert's actions", "steps", _text_steps(env, episodes)),
        repeats=repeats,
    )
    env.close()


# Policies: how to choose the next action ----------------------------------------------------------

Chooser = Callable[[Any, np.random.Generator], Iterator[str]]


def expert_actions(base: Any, rng: np.random.Generator) -> Iterator[str]:
    """Give the expert's actions, one by one."""
    return iter(base.expert())


def _random(base: Any, rng: np.random.Generator) -> Iterator[str]:
    while True:
        yield str(rng.choice(base.available_actions()))


# Recording ----------------------------------------------------------------------------------------


def record_episode(env: gym.Env[str, str], task_id: str, choose: Chooser) -> Episode:
    """Play a task from its start with the actions of `choose`."""
    episode = Episode(task_id, [], [])
    env.reset(options={"task_id": task_id})
    return _play_through(env, episode, choose)


def _record_babyai(env: gym.Env[str, str], task_id: str, choose: Chooser) -> Episode:
    episode = Episode(task_id, [], [])
    env.reset(options={"task_id": task_id})
    base: Any = env.unwrapped
    step = base.level.step

    def recording_step(move: int) -> Any:
        episode.moves.append(int(move))
        return step(move)

    base.level.step = recording_step
    return _play_through(env, episode, choose)


def _play_through(env: gym.Env[str, str], episode: Episode, choose: Chooser) -> Episode:
    rng = np.random.default_rng(_SEED)
    for action in choose(env.unwrapped, rng):
        episode.actions.append(action)
        _, _, episode.terminated, truncated, _ = env.step(action)
        if episode.terminated or truncated:
            break
    return episode


# Workloads ----------------------------------------------------------------------------------------


def _text_steps(env: gym.Env[str, str], episodes: list[Episode]) -> Workload:
    def work(watch: Stopwatch) -> None:
        for episode in episodes:
            env.reset(options={"task_id": episode.task_id})
            with watch.running():
                for action in episode.actions:
                    env.step(action)
            watch.units += len(episode.actions)

    return work


def text_resets(env: gym.Env[str, str], task_ids: list[str]) -> Workload:
    """Return the work of resetting to each task."""

    def work(watch: Stopwatch) -> None:
        with watch.running():
            for task_id in task_ids:
                env.reset(options={"task_id": task_id})
        watch.units += len(task_ids)

    return work


BareLevel = tuple[Any, int]
"""minigrid's own environment without wrappers, and the seed of the layout."""


def _bare_level(episode: Episode) -> BareLevel:
    tasks = BabyAITasks()
    name, seed = tasks.level(tasks.spec(episode.task_id).number)
    return gym.make(name, disable_env_checker=True).unwrapped, seed


def _bare_steps(levels: list[BareLevel], episodes: list[Episode]) -> Workload:
    def work(watch: Stopwatch) -> None:
        for (level, seed), episode in zip(levels, episodes, strict=True):
            _reset_bare(level, seed)
            terminated = False
            with watch.running():
                for move in episode.moves:
                    _, _, terminated, _, _ = level.step(move)
            watch.units += len(episode.moves)
            if terminated != episode.terminated:
                raise RuntimeError(f"{episode.task_id} ends otherwise on the bare simulator")

    return work


def _bare_resets(levels: list[BareLevel]) -> Workload:
    def work(watch: Stopwatch) -> None:
        with watch.running(), redirect_stdout(io.StringIO()):
            for level, seed in levels:
                level.reset(seed=seed)
        watch.units += len(levels)

    return work


def _reset_bare(level: Any, seed: int) -> None:
    with redirect_stdout(io.StringIO()):  # minigrid prints every layout that it rejects
        level.reset(seed=seed)
