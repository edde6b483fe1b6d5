"""Groups that are played until enough of them are complete."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import EnvFailure
from tests.helpers import COUNTING_ID, FragileEnv, register_helpers
from trainers.policies.scripted import ExpertPolicy
from trainers.rollout.carried import CarriedGroups
from trainers.rollout.policy import Episode, Policy, Reply
from trainers.rollout.rollout import Rollout
from wrappers import FailureRules, TextVectorEnv

register_helpers()
SHORT, LONG = ("counting_2", "counting_4", "counting_8"), ("counting_30", "counting_39")
"""Tasks that the expert solves in one turn, and in four."""


class Noting(ExpertPolicy):
    """Notes with which weights it began, and what it was told to free."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[int] = []
        self.suspended: list[list[str]] = []

    def begin_batch(self, *, global_step: int = 0, **_: Any) -> None:
        self.begun.append(global_step)

    def suspend(self, episodes: Sequence[Episode]) -> None:
        self.suspended.append([episode.trajectory.task_id for episode in episodes])


def vector(slots: int = 8) -> TextVectorEnv:
    return TextVectorEnv([partial(gym.make, COUNTING_ID, disable_env_checker=True)] * slots)


def ask(groups: CarriedGroups, *tasks: str, size: int = 2) -> None:
    groups.request([{"prompt": task, "number": n} for task in tasks for n in range(size)])


def test_complete_groups_are_taken_and_the_others_go_on_until_they_are_due() -> None:
    policy = Noting()
    with vector() as env:
        groups = CarriedGroups(Rollout(env, policy), 2)
        ask(groups, LONG[0], SHORT[0], LONG[1], SHORT[1])
        rows, episodes = groups.take(2, oldest=-2, global_step=0)
        assert [row["prompt"] for row in rows] == [task for task in SHORT[:2] for _ in range(2)]
        assert [row["number"] for row in rows] == [0, 1] * 2
        assert [one.task_id for one in episodes] == [row["prompt"] for row in rows]
        assert policy.suspended == [[LONG[0]] * 2 + [LONG[1]] * 2]
        assert (len(groups), groups.began_at, groups.is_under_way) == (2, [0, 0], True)
        ask(groups, SHORT[2], "counting_15")
        _, episodes = groups.take(2, oldest=0, global_step=1)
        assert [one.task_id for one in episodes] == [SHORT[2]] * 2 + ["counting_15"] * 2
        ask(groups, SHORT[0], SHORT[1])
        _, episodes = groups.take(2, oldest=1, global_step=2)
        assert [one.task_id for one in episodes] == [LONG[0]] * 2 + [LONG[1]] * 2
        assert [len(one.turns) for one in episodes] == [4] * 4
        assert {one.global_step for one in episodes} == {0}
        _, episodes = groups.take(2, oldest=2, global_step=3)
        assert {one.global_step for one in episodes} == {2}
    assert policy.begun == [0, 1, 2, 3]
    assert len(groups) == 0


def test_what_has_had_no_slot_has_not_begun() -> None:
    with vector(slots=2) as env:
        groups = CarriedGroups(Rollout(env, Noting()), 2)
        ask(groups, SHORT[0], LONG[0], LONG[1])
        groups.take(1, oldest=0, global_step=0)
        assert groups.began_at == []
        groups.take(1, oldest=0, global_step=5)
        assert groups.began_at == []
        _, (first, _) = groups.take(1, oldest=0, global_step=6)
        assert (first.task_id, first.global_step) == (LONG[1], 0)


def test_the_end_of_what_is_under_way_leaves_it_to_be_taken() -> None:
    with vector() as env:
        groups = CarriedGroups(Rollout(env, Noting()), 2)
        ask(groups, LONG[0], SHORT[0])
        groups.take(1, oldest=0, global_step=0)
        groups.end(global_step=1)
        assert not groups.is_under_way
        env.reset(options={"task_id": ["counting_3"] * 8})  # an evaluation's
        _, episodes = groups.take(1, oldest=0, global_step=2)
    assert [len(one.turns) for one in episodes] == [4, 4]
    assert episodes[0].success


def test_groups_that_were_given_up_are_played_from_the_start() -> None:
    with vector() as env:
        groups = CarriedGroups(Rollout(env, Noting()), 2)
        ask(groups, LONG[0], SHORT[0])
        groups.take(1, oldest=0, global_step=0)
        groups.stop()
        assert [row["prompt"] for row in groups.rows] == [LONG[0]] * 2
        _, episodes = groups.take(1, oldest=0, global_step=7)
    assert [(len(one.turns), one.global_step) for one in episodes] == [(4, 7)] * 2


def test_more_groups_than_were_asked_for_are_refused() -> None:
    with vector() as env, pytest.raises(ValueError, match="2 groups are to be taken, and 0 were"):
        CarriedGroups(Rollout(env, Noting()), 2).take(2, oldest=0, global_step=0)


class Breaking(Policy):
    """Breaks the environments of some tasks."""

    name = "breaking"

    def __init__(self, *broken: str) -> None:
        self._broken = broken

    def act(self, episodes: Sequence[Episode]) -> list[Reply]:
        return [
            Reply("say break" if one.trajectory.task_id in self._broken else "look")
            for one in episodes
        ]


def test_a_place_forgets_the_failures_of_the_episode_before() -> None:
    with TextVectorEnv([FragileEnv] * 8) as env:
        policy = Breaking(SHORT[0])
        rollout = Rollout(env, policy, failure_rules=FailureRules(retries=1, min_failed=3))
        groups = CarriedGroups(rollout, 2)
        ask(groups, SHORT[0], SHORT[1])
        _, episodes = groups.take(1, oldest=0, global_step=0)
        assert [(one.task_id, one.status) for one in episodes] == [(SHORT[0], "failed")] * 2
        ask(groups, SHORT[2])
        _, episodes = groups.take(2, oldest=0, global_step=1)
    assert [one.status for one in episodes] == ["truncated"] * 4


def test_too_many_failures_stop_the_run_and_leave_the_groups_asked_for() -> None:
    with TextVectorEnv([FragileEnv] * 8) as env:
        rollout = Rollout(env, Breaking(*SHORT), failure_rules=FailureRules(retries=0))
        groups = CarriedGroups(rollout, 2)
        ask(groups, *SHORT, LONG[0])
        with pytest.raises(EnvFailure, match="6 of 8 episodes failed"):
            groups.take(2, oldest=0, global_step=0)
        groups.stop()
    assert len(groups.rows) == 8
