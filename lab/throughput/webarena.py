"""Steps and resets per second of WebArena on its embedded sites, in process and in Chromium.

The expert's actions are recorded once on each backend, since the two may number a page's elements
otherwise, and then played again in turns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

from agentgym_envs.webarena.env import WebArenaEnv
from lab.throughput.measure import Row, Side, Stopwatch, Workload, compare
from lab.throughput.sciworld import memory_megabytes

_MANY = 1000

Play = tuple[str, list[str]]
"""A task id and the actions that solve it."""


def webarena_rows(
    repeats: int,
    *,
    num_tasks: int = 40,
    num_parallel: int = 64,
    task_ids: Sequence[str] | None = None,
    with_chromium: bool | None = None,
) -> Iterator[Row]:
    """Measure steps and resets on the test split, and many episodes at once.

    Args:
        repeats: timed runs of each side.
        num_tasks: tasks whose episodes are played, evenly over the split.
        num_parallel: episodes at once.
        task_ids: play these instead.
        with_chromium: compare with the Chromium backend; None does where it is installed.
    """
    if with_chromium is None:
        with_chromium = has_chromium()
    env = WebArenaEnv(max_turns=_MANY)
    listed = env.task_ids("test")
    chosen = list(task_ids or listed[:: max(1, len(listed) // num_tasks)][:num_tasks])
    plays = _recorded(env, chosen)
    other = WebArenaEnv(max_turns=_MANY, backend="chromium") if with_chromium else None
    yield compare(
        "webarena",
        Side("WebArena, expert's actions", "steps", _steps(env, plays)),
        None
        if other is None
        else Side("in Chromium", "steps", _steps(other, _recorded(other, chosen))),
        repeats=repeats,
        tasks=len(plays),
    )
    yield compare(
        "webarena",
        Side("WebArena, resets", "resets", _resets(env, chosen)),
        None if other is None else Side("in Chromium", "resets", _resets(other, chosen)),
        repeats=repeats,
    )
    for each in (env, other):
        if each is not None:
            each.close()
    yield _parallel_row(plays, num_parallel, repeats)


def _parallel_row(plays: list[Play], num_parallel: int, repeats: int) -> Row:
    """Measure many episodes that are played turn by turn at once, and their memory."""
    before = memory_megabytes(os.getpid())
    envs = [WebArenaEnv(max_turns=_MANY) for _ in range(num_parallel)]
    assigned = [plays[index % len(plays)] for index in range(num_parallel)]
    peak = before

    def work(watch: Stopwatch) -> None:
        nonlocal peak
        for env, (task_id, _) in zip(envs, assigned, strict=True):
            env.reset(options={"task_id": task_id})
        for turn in range(max(len(actions) for _, actions in assigned)):
            for env, (_, actions) in zip(envs, assigned, strict=True):
                if turn < len(actions):
                    with watch.running():
                        env.step(actions[turn])
                    watch.units += 1
        peak = max(peak, memory_megabytes(os.getpid()))

    side = Side(f"WebArena, {num_parallel} episodes at once", "steps", work)
    row = compare("webarena", side, repeats=repeats)
    row.notes["megabytes_per_episode"] = round((peak - before) / num_parallel, 1)
    for env in envs:
        env.close()
    return row


def has_chromium() -> bool:
    """Return whether the Chromium backend can be measured here."""
    if find_spec("playwright") is None or find_spec("uvicorn") is None:
        return False
    from agentgym_envs.browsing.chromium.pool import find_executable

    return find_executable() is not None


def _recorded(env: WebArenaEnv, task_ids: Sequence[str]) -> list[Play]:
    """Return the expert's actions on the tasks."""
    plays: list[Play] = []
    for task_id in task_ids:
        env.reset(options={"task_id": task_id})
        actions = []
        for action in env.expert():
            actions.append(action)
            _, _, terminated, _, info = env.step(action)
            if terminated:
                break
        if not info["success"]:
            raise RuntimeError(f"the expert did not solve {task_id} ({env.backend}): {env.verdict}")
        plays.append((task_id, actions))
    return plays


def _steps(env: WebArenaEnv, plays: Sequence[Play]) -> Workload:
    def work(watch: Stopwatch) -> None:
        for task_id, actions in plays:
            env.reset(options={"task_id": task_id})
            with watch.running():
                for action in actions:
                    env.step(action)
            watch.units += len(actions)

    return work


def _resets(env: WebArenaEnv, task_ids: Sequence[str]) -> Workload:
    def work(watch: Stopwatch) -> None:
        with watch.running():
            for task_id in task_ids:
                env.reset(options={"task_id": task_id})
        watch.units += len(task_ids)

    return work
