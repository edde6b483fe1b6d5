from __future__ import annotations

import pytest

from agentgym_envs import EnvFailure
from wrappers import Attempts, FailureRules


def test_a_task_is_played_again_as_often_as_the_rules_say() -> None:
    attempts = Attempts(FailureRules(retries=2))
    assert [attempts.record_failure("a", "hung") for _ in range(3)] == [True, True, False]
    assert attempts.failed == {"a": "hung"}
    assert attempts.causes == ["hung"] * 3


def test_episodes_are_counted_apart() -> None:
    attempts = Attempts(FailureRules(retries=1))
    assert [attempts.record_failure(key, "x") for key in (0, 1, 0, 1)] == [True, True, False, False]


def test_without_retries_the_first_failure_is_final() -> None:
    assert Attempts(FailureRules(retries=0)).record_failure(0, "x") is False


@pytest.mark.parametrize(
    ("failed", "total", "stops"),
    [
        (0, 0, False),
        (0, 10, False),
        (1, 2, False),  # half, but too few to tell
        (2, 4, False),
        (1, 1, True),  # nothing is left
        (2, 2, True),
        (3, 15, False),  # the share itself is allowed
        (3, 14, True),
        (40, 100, True),
    ],
)
def test_a_run_stops_when_failures_are_more_than_noise(
    failed: int, total: int, *, stops: bool
) -> None:
    rules = FailureRules(max_failed_share=0.2, min_failed=3)
    if not stops:
        rules.check(failed, total)
        return
    with pytest.raises(EnvFailure, match=f"{failed} of {total} episodes failed"):
        rules.check(failed, total)


def test_the_error_names_the_commonest_causes() -> None:
    attempts = Attempts(FailureRules(retries=0, max_failed_share=0.0, min_failed=1))
    for key, cause in enumerate(["hung", "died", "hung"]):
        attempts.record_failure(key, cause)
    with pytest.raises(
        EnvFailure, match="3 of 9 episodes .*share of 0; causes: 2 x hung; 1 x died"
    ):
        attempts.check(9)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"retries": -1}, "retries must be >= 0, got -1"),
        ({"max_failed_share": 1.5}, "max_failed_share must be in 0..1, got 1.5"),
        ({"min_failed": 0}, "min_failed must be >= 1, got 0"),
    ],
)
def test_impossible_rules_are_refused(values: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        FailureRules(**values)  # type: ignore[arg-type]
