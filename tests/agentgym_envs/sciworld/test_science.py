"""The long checks: every task to its end, and thousands of episodes in a row.

`make test-science`; AGENTGYM_EPISODES sets how many episodes the last one plays.
"""

from __future__ import annotations

import gc
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sciworld.gateway import JavaObject, static
from agentgym_envs.sciworld.jvm import shared_jvm
from agentgym_envs.sciworld.tasks import NUM_VARIATIONS, SciWorldTasks
from wrappers import TextVectorEnv

EPISODES = int(os.environ.get("AGENTGYM_EPISODES", "320"))
SLOTS = 16
WALK = (
    *("look around", "open door to hallway", "go to hallway", "open door to kitchen"),
    *("go to kitchen", "open cupboard", "pick up thermometer", "activate sink", "inventory"),
    *("fly", "open door", "0", "wait1", "objects"),
)
TASKS = SciWorldTasks()
QUICK = ("find-plant", "lifespan-longest-lived", "chemistry-mix-paint-secondary-color")


def numbers_of(task: str, split: str, count: int) -> list[int]:
    numbers = [n for n in TASKS.numbers(split) if TASKS.game(n).task == task]
    return [numbers[i * (len(numbers) - 1) // max(1, count - 1)] for i in range(count)]


def solves(numbers: list[int]) -> None:
    env: Any = gym.make("agentgym/SciWorld-v0", max_turns=300).unwrapped
    for number in numbers:
        env.reset(options={"task_id": number})
        for action in env.expert():
            _, _, terminated, _, info = env.step(action)
        assert terminated and info["success"] and info["score"] == 1.0, number
    env.close()


@pytest.mark.full
@pytest.mark.parametrize("task", QUICK)
@pytest.mark.parametrize("split", ["train", "test"])
def test_the_expert_solves_a_quick_task(task: str, split: str) -> None:
    solves(numbers_of(task, split, 1))


@pytest.mark.full
def test_java_keeps_nothing_of_episodes_that_are_over() -> None:
    env: Any = gym.make("agentgym/SciWorld-v0", available_actions=True, max_turns=300).unwrapped

    def episode() -> int:
        env.reset(options={"task_id": 3236})
        for action in ("fly", "open door", "help", *list(env.expert())[:2]):
            env.step(action)
        return num_java_objects()

    episode()  # routes and classes are looked up once
    assert episode() == episode()
    env.close()


@pytest.mark.science
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("task", NUM_VARIATIONS)
def test_the_expert_solves_every_task(task: str, split: str) -> None:
    solves(sorted(set(numbers_of(task, split, 3))))


def num_java_objects() -> int:
    """Count the objects that Java keeps for us."""
    with shared_jvm().calling() as gateway:
        server = gateway.call(JavaObject("GATEWAY_SERVER"), "getGateway", timeout=60)
        bindings = gateway.call(server, "getBindings", timeout=60)  # type: ignore[arg-type]
        count = gateway.call(bindings, "size", timeout=60)  # type: ignore[arg-type]
        for each in (server, bindings):
            gateway.delete(each, timeout=60)  # type: ignore[arg-type]
        gateway.call(static("java.lang.System"), "gc", timeout=60)
    return int(count)  # type: ignore[arg-type]


def measure() -> dict[str, int]:
    """Count what may grow."""
    gc.collect()
    java_objects = num_java_objects()
    java = shared_jvm().pid
    pages = {
        name: int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        for name, pid in (("python_kb", "self"), ("java_kb", java))
    }
    return {
        **{name: count * os.sysconf("SC_PAGE_SIZE") // 1024 for name, count in pages.items()},
        "java_objects": java_objects,
        "threads": threading.active_count(),
        "java_threads": len(os.listdir(f"/proc/{java}/task")),
        "handles": len(os.listdir("/proc/self/fd")),
        "java_handles": len(os.listdir(f"/proc/{java}/fd")),
        "temporary_files": len(os.listdir(tempfile.gettempdir())),
    }


def play(env: TextVectorEnv, task_ids: list[str]) -> None:
    """Walk through the house; every slot takes the next task as soon as it is free."""
    waiting = list(reversed(task_ids))
    turns: list[int | None] = [None] * SLOTS
    while waiting or any(turn is not None for turn in turns):
        tasks = [waiting.pop() if turn is None and waiting else None for turn in turns]
        if any(tasks):
            _, infos = env.reset(options={"task_id": tasks})
            assert not any("failure" in info for info in infos)
        turns = [0 if task is not None else turn for task, turn in zip(tasks, turns, strict=True)]
        _, _, terminated, truncated, infos = env.step(
            [None if turn is None else WALK[turn] for turn in turns]
        )
        assert not any("failure" in info for info in infos)
        ended = [a or b for a, b in zip(terminated, truncated, strict=True)]
        turns = [
            None if turn is None or over else turn + 1
            for turn, over in zip(turns, ended, strict=True)
        ]


@pytest.mark.science
@pytest.mark.timeout(7200)
def test_thousands_of_episodes_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other programs write to the machine's own folder of temporary files.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    train = TASKS.numbers("train")
    task_ids = [f"sciworld_{train[i * 7 % len(train)]}" for i in range(EPISODES + 200)]
    task_ids = [t for t in task_ids if "mendelian" not in TASKS.game(TASKS.spec(t).number).task]
    began = time.monotonic()
    with TextVectorEnv("SciWorld", SLOTS, backend="thread", max_turns=len(WALK)) as env:
        play(env, task_ids[:200])
        before = measure()
        play(env, task_ids[200:])
        after = measure()
    print(f"{len(task_ids)} episodes in {time.monotonic() - began:.0f} s: {before} -> {after}")
    for name in ("java_objects", "threads", "handles", "java_handles", "temporary_files"):
        assert after[name] <= before[name], name
    assert after["java_threads"] <= before["java_threads"] + 2
    assert after["python_kb"] <= before["python_kb"] + 20_000
    assert after["java_kb"] <= before["java_kb"] + 150_000
