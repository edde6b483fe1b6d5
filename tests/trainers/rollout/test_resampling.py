"""Dynamic sampling: which groups are replaced, by what, and how much is played at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentgym_envs import Trajectory, Turn
from trainers.rollout.resampling import DynamicSampling

SIZE = 3


class Play:
    """Pays the episodes of a task by a rule: groups of even numbers vary, others are all lost."""

    def __init__(self) -> None:
        self.played: list[list[str]] = []
        self.streams: list[Any] = []

    def __call__(self, task_ids: Sequence[str], *, stream: Any, **_: Any) -> list[Trajectory]:
        self.played.append(list(task_ids))
        self.streams.append(stream)
        return [
            Trajectory("e", task, turns=[Turn("", "", self.reward(task, place), True, 0.0)])
            for place, task in enumerate(task_ids)
        ]

    def reward(self, task: str, place: int) -> float:
        return float(place % SIZE == 0 and int(task.partition("_")[2]) % 2 == 0)


def run(
    tasks: Sequence[str], batch: Sequence[str], most: float, **options: Any
) -> tuple[list[str], list[Trajectory], Play]:
    sampling = DynamicSampling(
        tasks,
        group_size=SIZE,
        most=most,
        rewards_of=lambda group: [t.episode_return for t in group],
        seed=5,
    )
    play = Play()
    repeated = [task for task in batch for _ in range(SIZE)]
    trajectories, surplus = sampling.run(play, repeated, **{"stream": (1, 2), **options})
    groups = [trajectories[n : n + SIZE] for n in range(0, len(trajectories), SIZE)]
    assert all(len({t.task_id for t in group}) == 1 for group in groups)
    assert len(trajectories) + len(surplus) == sum(map(len, play.played))
    return [group[0].task_id for group in groups], surplus, play


ALL = [f"a_{n}" for n in range(40)]


def test_groups_without_variance_are_replaced_until_all_vary() -> None:
    tasks, surplus, play = run(ALL, ["a_0", "a_1", "a_2", "a_3"], most=10.0)
    assert tasks[0] == "a_0" and tasks[2] == "a_2"
    assert all(int(task[2:]) % 2 == 0 for task in tasks)
    assert all(int(t.task_id[2:]) % 2 for t in surplus)  # what taught nothing
    assert play.played[0] == [task for task in ("a_0", "a_1", "a_2", "a_3") for _ in range(SIZE)]
    further = [task for part in play.played[1:] for task in part[::SIZE]]
    assert len(set(further)) == len(further) and not set(further) & {"a_0", "a_1", "a_2", "a_3"}


def test_what_is_played_is_bounded_and_groups_without_variance_stay() -> None:
    odd = [f"a_{n}" for n in range(1, 60, 2)]
    tasks, surplus, play = run(odd, odd[:4], most=1.5)
    assert tasks == odd[:4]
    assert sum(map(len, play.played)) == 6 * SIZE and len(surplus) == 2 * SIZE


def test_a_batch_that_varies_is_played_once() -> None:
    _, surplus, play = run(ALL, ["a_0", "a_2"], most=4.0)
    assert surplus == [] and len(play.played) == 1


def test_where_no_task_is_left_it_ends() -> None:
    tasks, _, play = run(["a_1", "a_3", "a_5"], ["a_1", "a_3"], most=50.0)
    assert tasks == ["a_1", "a_3"] and len(play.played) == 2


def test_an_environments_tasks_are_replaced_by_its_own() -> None:
    both = [*ALL, *(f"b_{n}" for n in range(40))]
    tasks, *_ = run(both, ["a_1", "b_1", "b_3"], most=20.0)
    assert [task[0] for task in tasks] == ["a", "b", "b"]


def test_the_draws_follow_from_the_seed_and_the_batch_alone() -> None:
    first, again = (run(ALL, ["a_1", "a_3"], most=9.0) for _ in range(2))
    assert first[2].played == again[2].played
    other = run(ALL, ["a_1", "a_3"], most=9.0, stream=(1, 3))
    assert other[2].played != first[2].played
    assert len(set(first[2].streams)) == len(first[2].streams)


@pytest.mark.parametrize("paid", [float("nan"), 0.0, 1e-16])
def test_episodes_that_do_not_count_make_no_variance(paid: float) -> None:
    sampling = DynamicSampling(
        ["a_0"], group_size=2, most=2.0, rewards_of=lambda group: [0.7 + paid, 0.7], seed=0
    )
    group = [Trajectory("e", "a_0")] * 2
    kept, surplus = sampling.run(lambda ids, **_: list(group), ["a_0"] * 2)
    assert (kept, surplus) == (group, [])
