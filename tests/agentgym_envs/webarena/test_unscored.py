"""What nobody can score counts neither as a success nor as a failure."""

from __future__ import annotations

import pytest

from agentgym_envs import Outcome, Trajectory
from agentgym_envs.core import UNSCORED
from tests.helpers import CountingEnv
from wrappers import RecordTrajectories, TextVectorEnv


class Undecided(CountingEnv):
    """Says of every end that nobody knows how it was."""

    def apply(self, action: str) -> Outcome:
        outcome = super().apply(action)
        if not outcome.terminated:
            return outcome
        info = {**outcome.info, "success": False, "score": 0.0, "unscored": True}
        return outcome._replace(reward=0.0, info=info)


def test_a_recorded_episode_is_failed_and_says_why() -> None:
    trajectories: list[Trajectory] = []
    env = RecordTrajectories(Undecided(), trajectories.append)
    env.reset(options={"task_id": 3})
    env.step("add 4")
    (record,) = trajectories
    assert (record.status, record.error, record.success) == ("failed", UNSCORED, False)


def test_a_played_episode_is_failed_and_played_once() -> None:
    scripted = pytest.importorskip("trainers.policies.scripted")
    vector = TextVectorEnv([Undecided])
    (record,) = scripted.play(vector, ["counting_3"], lambda _: "add 4")
    assert (record.status, record.error, record.success) == ("failed", UNSCORED, False)
    assert len(record.turns) == 1
