"""`TextVectorEnv`'s own cost per step: the same actions in a plain loop and each backend.

The environment, TextCraft, is about the cheapest there is, so what is left is the vector's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym

from lab.throughput.measure import Row, Side, Stopwatch, Workload, compare
from wrappers.vector.backends import LOCAL_BACKENDS
from wrappers.vector.env import TextVectorEnv
from wrappers.vector.ray_slot import RayActors, connect

_ENV_ID = "agentgym/TextCraft-v0"
_ACTION = "inventory"
_TURNS = 200


def vector_rows(repeats: int, *, num_envs: int = 8) -> Iterator[Row]:
    """Measure every backend against a loop over the same environments."""
    envs = [
        gym.make(_ENV_ID, disable_env_checker=True, max_turns=_TURNS + 1) for _ in range(num_envs)
    ]
    task_ids = envs[0].unwrapped.task_ids("test")[:num_envs]  # type: ignore[attr-defined]
    for backend in LOCAL_BACKENDS:
        with TextVectorEnv(_ENV_ID, num_envs, backend=backend, max_turns=_TURNS + 1) as vector:  # type: ignore[arg-type]
            row = compare(
                "vector",
                Side(
                    f"TextVectorEnv, {backend}, {num_envs} slots",
                    "steps",
                    _vector_steps(vector, task_ids),
                ),
                Side("a loop over the same environments", "steps", _loop_steps(envs, task_ids)),
                repeats=repeats,
            )
        assert row.baseline_rate is not None
        own = 1e6 / row.rate - 1e6 / row.baseline_rate
        row.notes["own_microseconds_per_step"] = round(own, 1)
        yield row
    for env in envs:
        env.close()


def ray_rows(repeats: int, *, num_envs: int = 8) -> Iterator[Row]:
    """Measure slots in actors of a Ray that is started here against slots in worker processes.

    Raises:
        MissingExtra: Ray is not installed.
    """
    ray = connect("local", "throughput --only ray")
    try:
        for envs in (1, num_envs):
            actors = RayActors(envs=envs, options={"num_cpus": 0})
            with (
                TextVectorEnv(
                    _ENV_ID, num_envs, backend="ray", ray=actors, max_turns=_TURNS + 1
                ) as over_ray,
                TextVectorEnv(
                    _ENV_ID, num_envs, backend="process", max_turns=_TURNS + 1
                ) as in_processes,
            ):
                task_ids = over_ray.call("task_ids", "test")[0][:num_envs]
                row = compare(
                    "ray",
                    Side(
                        f"TextVectorEnv, ray, {num_envs} slots, {envs} an actor",
                        "steps",
                        _vector_steps(over_ray, task_ids),
                    ),
                    Side(
                        f"TextVectorEnv, process, {num_envs} slots",
                        "steps",
                        _vector_steps(in_processes, task_ids),
                    ),
                    repeats=repeats,
                )
            assert row.baseline_rate is not None
            row.notes["microseconds_per_step"] = round(1e6 / row.rate, 1)
            row.notes["those_of_processes"] = round(1e6 / row.baseline_rate, 1)
            yield row
    finally:
        ray.shutdown()


def _vector_steps(vector: TextVectorEnv, task_ids: list[str]) -> Workload:
    actions = [_ACTION] * vector.num_envs

    def work(watch: Stopwatch) -> None:
        vector.reset(options={"task_id": task_ids})
        with watch.running():
            for _ in range(_TURNS):
                vector.step(actions)
        watch.units += _TURNS * vector.num_envs

    return work


def _loop_steps(envs: list[gym.Env[Any, Any]], task_ids: list[str]) -> Workload:
    def work(watch: Stopwatch) -> None:
        for env, task_id in zip(envs, task_ids, strict=True):
            env.reset(options={"task_id": task_id})
        with watch.running():
            for _ in range(_TURNS):
                for env in envs:
                    env.step(_ACTION)
        watch.units += _TURNS * len(envs)

    return work
