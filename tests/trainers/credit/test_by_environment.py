"""What is logged of a batch of episodes of several environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.trainers.toys import FAILED, episode
from trainers.credit.rewards import episode_metrics, metrics_by_environment, reward_columns
from trainers.metrics import RESERVED

NAN = float("nan")


def logged(
    names: list[str],
    rewards: list[float],
    episodes: list[Any],
    environments: Sequence[str] = (),
) -> dict[str, float]:
    return metrics_by_environment(
        names,
        rewards=rewards,
        columns=reward_columns(episodes),
        groups=[place // 2 for place in range(len(names))],
        environments=environments,
    )


def test_a_small_environment_weighs_as_much_as_a_large_one() -> None:
    easy, hard = [episode(1.0)] * 6, [episode(0.0), episode(0.0)]
    metrics = logged(["Easy"] * 6 + ["Hard"] * 2, [1.0] * 6 + [0.0] * 2, easy + hard)
    assert (metrics["success/Easy"], metrics["success/Hard"]) == (1.0, 0.0)
    assert metrics["episodes/success"] == metrics["reward"] == 0.5
    assert (metrics["share/Easy"], metrics["share/Hard"]) == (0.75, 0.25)
    assert metrics["frac_reward_zero_std"] == 1.0


def test_what_failed_is_counted_where_it_failed() -> None:
    given = [episode(1.0), episode(0.0), FAILED, FAILED]
    metrics = logged(["A", "A", "B", "B"], [1.0, 0.0, NAN, NAN], given)
    assert (metrics["failed/A"], metrics["failed/B"], metrics["episodes/failed"]) == (0, 2, 2)
    assert metrics["episodes/success"] == metrics["success/A"] == 0.5  # B has none
    assert "success/B" not in metrics and "reward/B" not in metrics
    assert (metrics["frac_reward_zero_std/A"], metrics["frac_reward_zero_std/B"]) == (0.0, 1.0)
    assert metrics["frac_reward_zero_std"] == 0.5


def test_one_environment_has_the_metrics_it_always_had() -> None:
    given = [episode(1.0), episode(0.0)]
    metrics = logged(["", ""], [1.0, 0.0], given)
    expected = episode_metrics(rewards=[1.0, 0.0], **reward_columns(given))
    assert metrics == {**expected, "frac_reward_zero_std": 0.0}


def test_each_metric_of_a_batch_has_a_row_so_that_no_reward_function_mixes_with_it() -> None:
    metrics = logged(["", ""], [1.0, 0.0], [episode(1.0), episode(0.0)])
    assert set(metrics) - RESERVED == set()


def test_a_batch_of_one_among_several_environments_still_tells_which() -> None:
    given = [episode(1.0), episode(0.0)]
    metrics = logged(["A", "A"], [1.0, 0.0], given, environments=["A", "B"])
    assert (metrics["share/A"], metrics["share/B"]) == (1.0, 0.0)  # their mean over steps adds up
    assert metrics["success/A"] == metrics["episodes/success"] == pytest.approx(0.5)
