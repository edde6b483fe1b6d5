from __future__ import annotations

from agentgym_envs.trajectories.trajectory import ModelCall
from tests.trainers.toys import FAILED, episode
from trainers.credit.rewards import (
    agent_reward,
    episode_metrics,
    reward_columns,
    zero_std_group_fraction,
)


def test_an_episode_that_failed_or_was_paid_no_number_has_no_reward() -> None:
    columns = reward_columns([episode(1.0), FAILED, episode(float("nan")), episode(float("inf"))])
    assert agent_reward(**columns) == [1.0, None, None, None]


def test_metrics_leave_failed_episodes_out() -> None:
    truncated = episode(status="truncated")
    given = [episode(1.0), truncated, FAILED, episode(1.0)]
    metrics = episode_metrics(rewards=[1.0, 0.0, 0.0, float("nan")], **reward_columns(given))
    assert metrics["episodes/success"] == 0.5
    assert metrics["episodes/failed"] == 1.0
    assert metrics["episodes/without_reward"] == 1.0
    assert metrics["truncated/max_turns"] == 0.5
    assert metrics["episodes/sampled_tokens"] == 2.0


def test_turns_that_were_cut_are_a_share_of_all_turns() -> None:
    cut, other = episode(1.0), episode(1.0)
    cut.turns[0].call = ModelCall(finish_reason="length")
    other.turns[0].call = ModelCall(finish_reason="stop")
    given = [cut, other]
    metrics = episode_metrics(rewards=[1.0, 1.0], **reward_columns(given))
    assert metrics["episodes/cut_turns"] == 1 / sum(len(each.turns) for each in given)


def test_metrics_of_a_batch_that_failed_as_a_whole_are_its_count() -> None:
    metrics = episode_metrics(rewards=[0.0], **reward_columns([FAILED]))
    assert metrics == {
        "episodes/failed": 1.0,
        "episodes/failed_share": 1.0,
        "episodes/without_reward": 0.0,
    }


def test_groups_whose_episodes_were_paid_the_same_are_without_signal() -> None:
    nan = float("nan")
    rewards = [1.0, 0.0, 1.0, 1.0, nan, 1.0, nan, nan, nan, 0.0, 1.0, nan]

    def groups_of(size: int) -> list[int]:
        return [place // size for place in range(len(rewards))]

    assert zero_std_group_fraction(rewards, groups_of(2)) == 5 / 6
    assert zero_std_group_fraction(rewards, groups_of(3)) == 2 / 4
    assert zero_std_group_fraction(rewards, groups_of(4)) == 1 / 3
