"""Steps per second and memory of SciWorld against ScienceWorld's own Python wrapper.

Both sides play the simulator's own solutions of the same tasks. The wrapper is used as it comes, a
Java process for each environment; SciWorld's environments share one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sciworld.expert import gold_path
from agentgym_envs.sciworld.jvm import close_jvm, installation, shared_jvm
from agentgym_envs.sciworld.tasks import NUM_VARIATIONS, SciWorldTasks, TaskVariation
from lab.throughput.measure import Row, Side, Stopwatch, Workload, compare

NUM_ENVS = 16
_SLOW = ("grow-", "inclined-plane-", "mendelian-")
_LONGEST = 30
_ONE_EACH = 3


@dataclass(frozen=True)
class Walkthrough:
    """A task and its solution.

    Attributes:
        number: the task's.
        game: what the simulator loads.
        actions: the solution.
    """

    number: int
    game: TaskVariation
    actions: tuple[str, ...]


def sciworld_rows(repeats: int, *, num_tasks: int = 12, num_envs: int = NUM_ENVS) -> Iterator[Row]:
    """Measure steps, resets and memory against the official wrapper.

    Args:
        repeats: timed runs per side.
        num_tasks: how many tasks are played; one variation each.
        num_envs: environments whose memory is measured.
    """
    tasks = list(_walkthroughs(num_tasks))
    env = gym.make("agentgym/SciWorld-v0", max_turns=10**6, disable_env_checker=True).unwrapped
    with _official() as wrapper:
        yield compare(
            "sciworld",
            Side("SciWorld, expert's actions", "steps", _our_steps(env, tasks)),
            Side("ScienceWorldEnv.step, the same", "steps", _official_steps(wrapper, tasks)),
            repeats=repeats,
            tasks=len(tasks),
        )
        yield compare(
            "sciworld",
            Side("SciWorld, resets", "resets", _our_resets(env, tasks)),
            Side("ScienceWorldEnv load and look", "resets", _official_resets(wrapper, tasks)),
            repeats=repeats,
        )
    env.close()
    close_jvm()
    yield _memory_row(tasks, num_envs)


def _walkthroughs(count: int) -> Iterator[Walkthrough]:
    """Solve one training variation of each of the first tasks whose solution is short enough."""
    tasks = SciWorldTasks()
    first = {tasks.game(number).task: number for number in reversed(tasks.numbers("train"))}
    for name in [name for name in NUM_VARIATIONS if not name.startswith(_SLOW)]:
        game = tasks.game(first[name])
        actions = gold_path(*game).actions
        if len(actions) <= _LONGEST and count > 0:
            count -= 1
            yield Walkthrough(first[name], game, actions)


@contextmanager
def _official() -> Iterator[Any]:
    """Make the official wrapper, with our Java if there is no other."""
    from scienceworld import ScienceWorldEnv

    before = os.environ["PATH"]
    os.environ["PATH"] = os.pathsep.join((str(installation().java.parent), before))
    try:
        wrapper = ScienceWorldEnv(envStepLimit=10**6)
    finally:
        os.environ["PATH"] = before
    process = wrapper._gateway.java_process
    try:
        yield wrapper
    finally:
        wrapper.close()
        process.wait()
        # The wrapper leaves these behind, and its __del__ would talk to the dead process again.
        wrapper._obj_tree_tempdir.cleanup()
        wrapper._gateway.shutdown_callback_server()
        for pipe in (process.stdin, process.stdout):
            pipe.close()
        wrapper.close = _nothing


def _nothing() -> None:
    """Close nothing."""


# Workloads ----------------------------------------------------------------------------------------


def _our_steps(env: Any, tasks: Sequence[Walkthrough]) -> Workload:
    def work(watch: Stopwatch) -> None:
        for task in tasks:
            env.reset(options={"task_id": task.number})
            with watch.running():
                for action in task.actions:
                    *_, terminated, _, info = env.step(action)
                    watch.units += 1
                    if terminated:
                        break
            if not info["success"]:
                raise RuntimeError(f"sciworld_{task.number} is not solved by its solution")

    return work


def _official_steps(wrapper: Any, tasks: Sequence[Walkthrough]) -> Workload:
    def work(watch: Stopwatch) -> None:
        for task in tasks:
            wrapper.load(*task.game)
            wrapper.step("look around")
            with watch.running():
                for action in task.actions:
                    *_, is_completed, info = wrapper.step(action)
                    watch.units += 1
                    if is_completed:
                        break
            if info["score"] != 100:
                raise RuntimeError(f"{task.game} is not solved in the official wrapper")

    return work


def _our_resets(env: Any, tasks: Sequence[Walkthrough]) -> Workload:
    def work(watch: Stopwatch) -> None:
        with watch.running():
            for task in tasks:
                env.reset(options={"task_id": task.number})
        watch.units += len(tasks)

    return work


def _official_resets(wrapper: Any, tasks: Sequence[Walkthrough]) -> Workload:
    def work(watch: Stopwatch) -> None:
        with watch.running():
            for task in tasks:
                wrapper.load(*task.game)
                wrapper.step("look around")
        watch.units += len(tasks)

    return work


# Memory -------------------------------------------------------------------------------------------


def _memory_row(tasks: Sequence[Walkthrough], num_envs: int) -> Row:
    """Measure the memory of many environments in mid-episode, with one Java and with one each."""
    watch = Stopwatch()
    with ExitStack() as stack:
        envs = [
            stack.enter_context(
                closing(gym.make("agentgym/SciWorld-v0", max_turns=10**6).unwrapped)
            )
            for _ in range(num_envs)
        ]
        started = time.perf_counter()
        for index, env in enumerate(envs):
            _our_steps(env, [tasks[index % len(tasks)]])(watch)
        seconds = time.perf_counter() - started
        ours = memory_megabytes(shared_jvm().pid)
    close_jvm()
    theirs = []
    for index in range(_ONE_EACH):
        with _official() as wrapper:
            _official_steps(wrapper, [tasks[index % len(tasks)]])(Stopwatch())
            theirs.append(memory_megabytes(wrapper._gateway.java_process.pid))
    return Row(
        "sciworld",
        f"SciWorld, first episodes of {num_envs} environments",
        "steps",
        watch.units / seconds,
        notes={
            "environments": num_envs,
            "megabytes_together": round(ours),
            "megabytes_of_one_official": round(sum(theirs) / len(theirs)),
            "megabytes_of_as_many_official": round(num_envs * sum(theirs) / len(theirs)),
        },
    )


def memory_megabytes(pid: int) -> float:
    """Return a process's memory in MB. Shared pages count in proportion."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("Pss:")) / 1024
