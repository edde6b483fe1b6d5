from __future__ import annotations

import pytest

pytest.importorskip("torch")

from lab.throughput.scheduler import Batches, scheduler_rows
from lab.throughput.simulated import (
    Clock,
    SimulatedEnvs,
    SimulatedSampler,
    SimulatedServer,
    World,
    play,
)
from trainers.rollout.env_slots import gathering_seconds


def test_delays_pass_without_being_waited_for_and_the_slowest_episode_ends_the_batch() -> None:
    clock = Clock()
    world = World(turns=3, mean=100.0, spread=0.0)
    envs = SimulatedEnvs(4, clock, world, seed=0)
    trajectories = play(
        envs, SimulatedSampler(clock, fixed=10.0), clock, [f"textcraft_{i}" for i in range(6)]
    )
    assert [len(one.turns) for one in trajectories] == [3] * 6
    assert all(one.success for one in trajectories)
    # Six episodes in four slots: two after another, each a reset and three turns, each with a call.
    assert 2 * (4 * 100 + 3 * 10) <= clock.now < 2 * (4 * 100 + 3 * 10) + 100


@pytest.mark.parametrize("is_server", [False, True])
def test_an_episode_whose_environment_failed_is_played_again(is_server: bool) -> None:
    clock = Clock()
    envs = SimulatedEnvs(40, clock, World(turns=5, failing=0.01), seed=0)
    policy = SimulatedServer(clock, seed=0) if is_server else SimulatedSampler(clock)
    failures: list[str] = []
    for slot in envs.slots:
        discard = slot.discard
        slot.discard = lambda discard=discard: (failures.append(""), discard())  # type: ignore[method-assign, misc]
    trajectories = play(envs, policy, clock, [f"textcraft_{i}" for i in range(40)])
    assert failures
    assert [one.status for one in trajectories] == ["terminated"] * 40
    assert [len(one.turns) for one in trajectories] == [5] * 40


def test_more_answers_are_let_gather_longer_but_never_for_long() -> None:
    assert gathering_seconds(1) < 1e-4
    assert gathering_seconds(64) < 0.002
    assert gathering_seconds(100) < gathering_seconds(1_000) < gathering_seconds(100_000) < 0.5


def test_redundant_episodes_end_a_batch_earlier_and_so_do_groups_that_are_carried_over() -> None:
    rows = list(
        scheduler_rows(
            1,
            in_flight=(20,),
            lengths=(5, 50),
            batches=Batches(groups=4, size=4, redundant=(0, 4), staleness=(1, 4), count=8),
        )
    )
    assert [row.notes["failed"] for row in rows[:2]] == [0, 0]
    short, long = rows[2:4]
    assert long.notes["tokens"] > 9 * short.notes["tokens"]
    all_kept, first_kept, soon, late = (row.notes["seconds"] for row in rows[4:])
    assert first_kept < 0.8 * all_kept
    assert late < soon < all_kept
