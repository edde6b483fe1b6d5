"""The cost of the rollout's own loop with thousands of episodes, long ones, stragglers.

Environments and samplers are simulated (`simulated`): their delays pass without being waited for,
so the processor's time is the loop's, and a few microseconds of the simulation.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentgym_envs.trajectories.trajectory import Trajectory
from lab.throughput.measure import Row
from lab.throughput.simulated import (
    Clock,
    SimulatedEnvs,
    SimulatedGroups,
    SimulatedSampler,
    SimulatedServer,
    World,
    play,
)
from lab.warm_start.tiny import build_tokenizer
from trainers.policies.model import ModelPolicy
from trainers.rollout.policy import Policy
from trainers.rollout.rollout import Rollout
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Generated, Sampling
from trainers.trl_bridge.batch import make_rows

IN_FLIGHT = (100, 1_000, 10_000)
WORLD = World(straggling=0.01, failing=0.001)
LENGTHS = (50, 100, 250, 500)
_TOKENS_PER_TURN = 200


@dataclass(frozen=True)
class Batches:
    """Batches whose ends are compared: all waited for, with redundant episodes, carried over.

    Attributes:
        groups, size: groups of a batch, and episodes of each that are kept.
        redundant: further episodes of each group.
        staleness: steps that groups may be carried over.
        count: batches.
    """

    groups: int = 16
    size: int = 8
    redundant: tuple[int, ...] = (0, 1, 2, 4)
    staleness: tuple[int, ...] = (1, 2, 4)
    count: int = 100


def scheduler_rows(
    repeats: int,
    *,
    in_flight: Sequence[int] = IN_FLIGHT,
    lengths: Sequence[int] = LENGTHS,
    batches: Batches | None = None,
) -> Iterator[Row]:
    """Measure each once: a simulation has no noise but the processor's."""
    for is_server in (False, True):
        for num in in_flight:
            yield _in_flight_row(num, is_server=is_server)
    for turns in lengths:
        yield _length_row(turns)
    yield from _straggler_rows(batches or Batches())
    yield from _carried_rows(batches or Batches())


# Many episodes --------------------------------------------------------------------------------


def _in_flight_row(num: int, *, is_server: bool) -> Row:
    seconds, trajectories = _play(num, is_server=is_server)
    tracemalloc.start()
    _play(num, is_server=is_server, turns=2)
    short = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    turns = sum(len(one.turns) for one in trajectories)
    name = "answers of a server, one by one" if is_server else "a sampler's calls"
    row = Row("scheduler", f"{num:,} episodes in flight, {name}", "turns", turns / seconds)
    row.notes["microseconds_per_turn"] = round(1e6 * seconds / turns)
    row.notes["kilobytes_per_episode"] = round(short / num / 1024, 1)
    row.notes["failed"] = sum(one.status == "failed" for one in trajectories)
    return row


def _play(num: int, *, is_server: bool, turns: int = 10) -> tuple[float, list[Trajectory]]:
    """Return the processor's seconds, and the trajectories."""
    clock = Clock()
    world = World(turns, straggling=WORLD.straggling, failing=WORLD.failing)
    envs = SimulatedEnvs(num, clock, world, seed=0)
    policy: Policy = SimulatedServer(clock, seed=1) if is_server else SimulatedSampler(clock)
    start = time.process_time()
    trajectories = play(envs, policy, clock, [f"textcraft_{place}" for place in range(num)])
    return time.process_time() - start, trajectories


# Long episodes --------------------------------------------------------------------------------


class _FixedBackend:
    """A `Backend` that samples the same ids at once."""

    max_length: int | None = None

    def __init__(self, turn: Generated) -> None:
        self._turn = turn

    def generate(self, prompts: Sequence[list[int]], *_: Any, **__: Any) -> list[Generated]:
        return [self._turn for _ in prompts]

    def finish(self, keys: Sequence[int]) -> None:
        return

    def reseed(self, seed: int) -> None:
        return

    def sync_weights(self, global_step: int) -> None:
        return


def _length_row(turns: int, *, episodes: int = 4) -> Row:
    """Measure a batch of long episodes, up to its rows for the update."""
    tokenizer = build_tokenizer(["door ", "look"])
    chat = ChatFormat.from_tokenizer(tokenizer)
    sampled = tokenizer.encode("look", add_special_tokens=False)
    observation = "door " * _TOKENS_PER_TURN
    turn = Generated(sampled, [-1.0] * len(sampled), False)
    policy = ModelPolicy(_FixedBackend(turn), chat, sampling=Sampling(len(sampled)))
    clock = Clock()
    envs = SimulatedEnvs(episodes, clock, World(turns, observation=observation), seed=0)
    start = time.process_time()
    trajectories = play(envs, policy, clock, [f"textcraft_{one}" for one in range(episodes)])
    seconds = time.process_time() - start
    start = time.process_time()
    make_rows(trajectories, filler_id=0, multiple_of=1, mask_truncated=False)
    rows = time.process_time() - start
    tokens = len(trajectories[0].trace.ids)
    row = Row("scheduler", f"episodes of {turns} turns", "turns", episodes * turns / seconds)
    row.notes["tokens"] = tokens
    row.notes["microseconds_per_turn"] = round(1e6 * seconds / episodes / turns)
    row.notes["microseconds_per_turn_to_rows"] = round(1e6 * rows / episodes / turns)
    return row


# Stragglers -----------------------------------------------------------------------------------


def _straggler_rows(batches: Batches) -> Iterator[Row]:
    for redundant in batches.redundant:
        ends = [_end_of(batches, redundant, seed) for seed in range(batches.count)]
        mean, last = float(np.mean(ends)), float(np.percentile(ends, 99))
        name = f"batches of {batches.groups} x {batches.size}"
        name += f" of {batches.size + redundant}, the first kept" if redundant else ""
        row = Row("scheduler", name, "batches", 1 / mean, repeats=batches.count)
        row.notes["seconds"] = round(mean, 1)
        row.notes["seconds_99th_percentile"] = round(last, 1)
        yield row


def _end_of(batches: Batches, redundant: int, seed: int) -> float:
    """Return the time at which all groups of a batch have their episodes."""
    clock = Clock()
    size = batches.size + redundant
    envs = SimulatedEnvs(batches.groups * size, clock, WORLD, seed=seed)
    ends: dict[str, list[float]] = {}
    start = clock.now
    play(
        envs,
        SimulatedSampler(clock),
        clock,
        [f"textcraft_{group}" for group in range(batches.groups) for _ in range(size)],
        on_trajectory=lambda one: ends.setdefault(one.task_id, []).append(clock.now - start),
    )
    return max(sorted(group)[batches.size - 1] for group in ends.values())


def _carried_rows(batches: Batches) -> Iterator[Row]:
    """Measure steps that begin when half of the groups under way are complete."""
    for staleness in batches.staleness:
        clock = Clock()
        episodes = batches.groups * batches.size
        envs = SimulatedEnvs(2 * episodes, clock, WORLD, seed=0)
        rollout = Rollout(envs, SimulatedSampler(clock), overlap=True)
        groups = SimulatedGroups(rollout, batches.size, clock)
        seconds: list[float] = []
        for step in range(batches.count):
            for _ in range(1 if step else 2):
                groups.request([{"prompt": f"textcraft_{step}"}] * episodes)
            start = clock.now
            groups.take(batches.groups, oldest=step + 1 - staleness, global_step=step)
            seconds.append(clock.now - start)
        groups.stop()
        mean, last = float(np.mean(seconds)), float(np.percentile(seconds, 99))
        name = f"batches of {batches.groups} x {batches.size}, carried over {staleness} at most"
        row = Row("scheduler", name, "batches", 1 / mean, repeats=batches.count)
        row.notes["seconds"] = round(mean, 1)
        row.notes["seconds_99th_percentile"] = round(last, 1)
        yield row
