from __future__ import annotations

import pytest

from agentgym_envs import Trajectory
from trainers.evaluation.intervals import bootstrap_mean, wilson
from trainers.evaluation.results import EvalResult, paired_gain, summarize


def result(*successes: bool, samples: int = 1) -> EvalResult:
    """Return the result of an evaluation in which task n succeeded as `successes[n]` says."""
    return summarize(
        [
            Trajectory("toy/Letters-v0", f"a_{n}", status="terminated", success=won)
            for n, won in enumerate(successes)
            for _ in range(samples)
        ]
    )


@pytest.mark.parametrize("won", [False, True])
@pytest.mark.parametrize("samples", [1, 3])
def test_an_evaluation_does_not_claim_certainty_from_five_tasks(won: bool, samples: int) -> None:
    found = result(*[won] * 5, samples=samples)
    expected = wilson(5 * won, 5)
    assert found.ci95 == (expected.low, expected.high)
    assert found.success == won
    shown = "56.6% to 100.0%" if won else "0.0% to 43.4%"
    assert f"(95% interval {shown})" in str(found)


def test_where_tasks_differ_the_interval_is_the_bootstrap() -> None:
    assert result(True, False, True).ci95 == bootstrap_mean([1.0, 0.0, 1.0])


def test_a_gain_on_all_tasks_does_not_claim_certainty() -> None:
    lost, won = result(False, False), result(True, True)
    width = wilson(0, 2).high
    assert paired_gain(lost, won).ci95 == (1 - width, 1.0)
    assert paired_gain(won, lost).ci95 == (-1.0, width - 1)
    assert paired_gain(won, won).ci95 == (-width, width)
