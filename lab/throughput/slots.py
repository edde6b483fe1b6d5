"""Steps per second and memory of each environment with 64, 128 and 256 slots in one process.

The expert plays the first turns of the first test tasks. SciWorld's takes seconds to find a
solution, and MiniWoB has one for few tasks, so there every slot does the same.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentgym_envs.registration.registry import short_env_name
from lab.throughput.measure import Row
from lab.throughput.sciworld import memory_megabytes
from lab.throughput.webarena import has_chromium
from wrappers.vector.backends import Backend
from wrappers.vector.env import TextVectorEnv

ENV_IDS = (
    "BabyAI",
    "TextCraft",
    "ALFWorld",
    "SciWorld",
    "SearchQA",
    "SQL",
    "WebArena",
    "WebShop",
    "Maze",
    "Wordle",
    "MiniWoB",
)
SLOTS = (64, 128, 256)
_TURNS = 5
_FIXED = {"SciWorld": "look around", "MiniWoB": "press [Tab]"}
_NEEDS_CHROMIUM = ("MiniWoB",)
_MOST_PAGES = 64


def slot_rows(
    repeats: int, *, env_ids: Sequence[str] = ENV_IDS, slots: Sequence[int] = SLOTS
) -> Iterator[Row]:
    """Measure each environment with each number of slots, in threads.

    What needs Chromium is measured with 64 slots at most, one after the other in this thread: so
    many pages that load at once are more than a browser on a few cores answers in time.

    Args:
        repeats: batches of short episodes, after one that does not count.
        env_ids: the environments; one that needs Chromium is left out where there is none.
        slots: how many.
    """
    for env_id in env_ids:
        in_chromium = env_id in _NEEDS_CHROMIUM
        if in_chromium and not has_chromium():
            continue
        for num_envs in slots:
            if not in_chromium or num_envs <= _MOST_PAGES:
                yield slot_row(env_id, num_envs, repeats)


def slot_row(env_id: str, num_envs: int, repeats: int = 1, *, turns: int = _TURNS) -> Row:
    """Play batches of the first turns of episodes, all slots at once.

    Returns:
        Turns per second, resets not counted; notes: resets per second, failed slots, and the
        megabytes of this process and all below it at the end.
    """
    steps = num_failed = 0
    step_seconds = reset_seconds = 0.0
    backend: Backend = "sync" if env_id in _NEEDS_CHROMIUM else "thread"
    with TextVectorEnv(env_id, num_envs, backend=backend) as env:
        tasks = env.call("task_ids", "test")[0]
        task_ids = [tasks[index % len(tasks)] for index in range(num_envs)]
        for repeat in range(repeats + 1):
            started = time.perf_counter()
            _, infos = env.reset(options={"task_id": task_ids})
            begun = time.perf_counter()
            counted = 0
            for _ in range(turns):
                actions = _actions(env, env_id, infos)
                *_, infos = env.step(actions)
                counted += sum(action is not None for action in actions)
            num_failed += sum("failure" in info for info in infos)
            if repeat:
                steps += counted
                reset_seconds += begun - started
                step_seconds += time.perf_counter() - begun
        megabytes = sum(_megabytes(pid) for pid in _family(os.getpid()))
    return Row(
        "slots",
        f"{short_env_name(env_id)}, {num_envs} slots",
        "steps",
        steps / step_seconds,
        repeats=repeats,
        notes={
            "resets_per_second": round(repeats * num_envs / reset_seconds, 1),
            "failed": num_failed,
            "megabytes": round(megabytes),
        },
    )


def _actions(
    env: TextVectorEnv, env_id: str, infos: Sequence[dict[str, object]]
) -> list[str | None]:
    action = _FIXED.get(short_env_name(env_id))
    if action is None:
        return env.expert_actions()
    return [None if "failure" in info else action for info in infos]


def _megabytes(pid: int) -> float:
    try:
        return memory_megabytes(pid)
    except (FileNotFoundError, StopIteration):  # it has ended
        return 0.0


def _family(pid: int) -> Iterator[int]:
    """Yield a process and all below it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            listed = children.read_text(encoding="ascii").split()
        except FileNotFoundError:  # a thread that has ended
            continue
        for child in listed:
            yield from _family(int(child))
