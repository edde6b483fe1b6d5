from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs import EnvFailure
from agentgym_envs.errors import AccessDenied
from wrappers import Attempts, FailureRules
from wrappers.failures import LONGEST_PAUSE, TOLERABLE, UNPROVEN


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def attempts_of(
    total: int = 10, *, clock: Clock | None = None, is_proven: bool = True, **rules: Any
) -> Attempts:
    return Attempts(FailureRules(**rules), total, is_proven=is_proven, clock=clock or Clock())


def settled(attempts: Attempts, failures: dict[Any, str]) -> list[Any]:
    for key, cause in failures.items():
        attempts.record_failure(key, cause)
    return attempts.settle()


def test_a_task_is_played_again_as_often_as_the_rules_say() -> None:
    attempts = attempts_of(retries=2)
    assert [settled(attempts, {7: "hung"}) for _ in range(3)] == [[7], [7], []]
    assert attempts.failed == {7: "hung"}
    assert attempts.causes == ["hung"] * 3


def test_episodes_are_counted_apart() -> None:
    attempts = attempts_of(retries=1)
    assert [settled(attempts, {key: "x"}) for key in (0, 1, 0, 1)] == [[0], [1], [], []]


def test_without_retries_the_first_failure_is_final() -> None:
    attempts = attempts_of(retries=0)
    assert settled(attempts, {0: "x"}) == []
    assert attempts.failed == {0: "x"}


def test_a_fault_that_episodes_share_is_charged_to_none_and_waited_for() -> None:
    clock = Clock()
    attempts = attempts_of(4, clock=clock, max_outage=100)
    wave = {key: f"cannot reach server, port {key}" for key in range(4)}
    waits = []
    for _ in range(4):
        assert settled(attempts, wave) == []
        waits.append(attempts.seconds_to_wait())
        clock.now += waits[-1] or 0
        assert sorted(attempts.settle()) == [0, 1, 2, 3]
    assert waits == [1, 2, 4, 8]
    assert not attempts.charges
    assert not attempts.failed
    assert attempts.seconds_to_wait() is None


def test_the_others_wait_no_longer_once_one_of_them_has_ended() -> None:
    clock = Clock()
    attempts = attempts_of(3, clock=clock, max_outage=100)
    settled(attempts, {0: "gone", 1: "gone", 2: "gone"})
    clock.now += 1
    assert sorted(attempts.settle()) == [0, 1, 2]
    assert settled(attempts, {1: "gone", 2: "gone"}) == []
    attempts.record_end(0)
    assert sorted(attempts.settle()) == [1, 2]


@pytest.mark.parametrize(
    ("is_proven", "failing", "lasts"),
    [(True, 10, 300), (False, 10, UNPROVEN), (True, 2, TOLERABLE)],
    ids=["a run", "nothing has worked yet", "a batch that could do without them"],
)
def test_machinery_is_waited_for_as_long_as_the_rules_say(
    *, is_proven: bool, failing: int, lasts: float
) -> None:
    clock = Clock()
    attempts = attempts_of(10, clock=clock, is_proven=is_proven, max_outage=300)
    playing: list[Any] = list(range(failing))
    while len(attempts.failed) < failing:
        playing = settled(attempts, {key: "gone" for key in playing})
        wait = attempts.seconds_to_wait()
        assert playing or wait is not None or len(attempts.failed) == failing
        clock.now += wait or 0
    assert lasts <= clock.now <= lasts + LONGEST_PAUSE
    assert attempts.excuse() == []
    if failing == 10:
        with pytest.raises(EnvFailure, match="10 of 10 episodes failed"):
            attempts.check()


def test_what_was_given_up_waits_where_the_run_would_stop_for_it() -> None:
    clock = Clock()
    attempts = attempts_of(1, clock=clock, retries=0, max_outage=10)
    settled(attempts, {0: "hung"})
    assert attempts.excuse() == [0]
    assert not attempts.failed
    assert attempts.settle() == []
    clock.now += attempts.seconds_to_wait() or 0
    assert attempts.settle() == [0]
    assert attempts_of(1, max_outage=0).excuse() == []


def test_failures_of_other_causes_are_not_shared() -> None:
    attempts = attempts_of(max_outage=100)
    assert settled(attempts, {0: "hung", 1: "died"}) == [0, 1]
    assert attempts.charges == {0: 1, 1: 1}


def test_who_fails_of_another_cause_while_an_outage_lasts_is_not_charged() -> None:
    clock = Clock()
    attempts = attempts_of(clock=clock, max_outage=100)
    assert settled(attempts, {0: "gone", 1: "gone", 2: "hung"}) == []
    assert not attempts.charges
    attempts.record_end(5)  # of no episode that had met it
    assert settled(attempts, {3: "died"}) == []
    clock.now += 1
    assert sorted(attempts.settle()) == [0, 1, 2, 3]
    for key in range(4):
        attempts.record_end(key)
    assert settled(attempts, {4: "died"}) == [4]
    assert attempts.charges == {4: 1}


def test_an_outage_ends_with_the_last_episode_that_is_given_up_for_it() -> None:
    clock = Clock()
    attempts = attempts_of(20, clock=clock, retries=0, max_outage=100)
    playing: list[Any] = [0, 1]
    while len(attempts.failed) < 2:
        playing = settled(attempts, {key: "poison" for key in playing})
        clock.now += attempts.seconds_to_wait() or 0
    assert clock.now >= TOLERABLE
    clock.now += 1000
    assert settled(attempts, {5: "gone", 6: "gone"}) == []
    assert attempts.seconds_to_wait() == 1


def test_the_last_episode_of_a_batch_is_waited_for_as_well() -> None:
    clock = Clock()
    attempts = attempts_of(10, clock=clock, max_outage=100)
    for key in range(9):
        attempts.record_end(key)
    assert settled(attempts, {9: "gone"}) == [9]
    waits = []
    while not attempts.failed:
        assert settled(attempts, {9: "gone"}) in ([], [9])
        waits.append(attempts.seconds_to_wait())
        clock.now += waits[-1] or 0
        attempts.settle()
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert clock.now >= TOLERABLE


def test_an_episode_that_fails_while_others_go_well_is_given_up() -> None:
    attempts = attempts_of(10, max_outage=100)
    for key in range(2):
        assert settled(attempts, {9: "poison"}) == [9]
        attempts.record_end(key)
    assert settled(attempts, {9: "poison"}) == []
    assert attempts.failed == {9: "poison"}


def test_an_outage_that_lasts_is_told_once_for_each_pause() -> None:
    clock, told = Clock(), []
    attempts = Attempts(
        FailureRules(max_outage=100), 2, on_outage=lambda: told.append(clock.now), clock=clock
    )
    for _ in range(3):
        settled(attempts, {0: "gone", 1: "gone"})
        clock.now += attempts.seconds_to_wait() or 0
        attempts.settle()
    assert told == [1, 3]


@pytest.mark.full
def test_work_of_no_episode_is_done_again_until_it_succeeds() -> None:
    failures = [EnvFailure("gone"), EnvFailure("gone")]

    def work() -> str:
        if failures:
            raise failures.pop()
        return "done"

    assert attempts_of(max_outage=100).persist(work) == "done"
    failures.append(EnvFailure("gone"))
    with pytest.raises(EnvFailure, match="gone"):
        attempts_of(max_outage=0).persist(work)


def test_a_server_that_asks_for_another_token_is_not_waited_for() -> None:
    asked: list[int] = []

    def work() -> None:
        asked.append(1)
        raise AccessDenied("the server asks for a token")

    with pytest.raises(AccessDenied):
        attempts_of(max_outage=100).persist(work)
    assert asked == [1]


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
    attempts = attempts_of(9, retries=0, max_failed_share=0.0, min_failed=1)
    settled(attempts, dict(enumerate(["hung", "died", "hung"])))
    with pytest.raises(
        EnvFailure, match="3 of 9 episodes .*share of 0; causes: 2 x hung; 1 x died"
    ):
        attempts.check()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"retries": -1}, "retries must be >= 0, got -1"),
        ({"max_failed_share": 1.5}, "max_failed_share must be in 0..1, got 1.5"),
        ({"min_failed": 0}, "min_failed must be >= 1, got 0"),
        ({"max_outage": -1}, "max_outage must be >= 0 seconds, got -1"),
    ],
)
def test_impossible_rules_are_refused(values: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        FailureRules(**values)  # type: ignore[arg-type]


def test_an_error_of_the_code_is_charged_and_not_waited_for_however_many_share_it() -> None:
    attempts = attempts_of(4, retries=1, max_outage=600)
    for again in ([0, 1], []):
        for key in (0, 1):
            attempts.record_failure(key, "the environment raised KeyError: 'x'", may_pass=False)
        assert attempts.settle() == again
        assert attempts.seconds_to_wait() is None
    assert sorted(attempts.failed) == [0, 1]


def test_a_run_that_stops_for_errors_of_the_code_waits_for_nothing() -> None:
    attempts = attempts_of(4, retries=0, max_outage=600)
    for key in range(4):
        attempts.record_failure(key, "the environment raised KeyError: 'x'", may_pass=False)
    assert attempts.settle() == []
    assert attempts.excuse() == []
    with pytest.raises(EnvFailure, match="4 of 4 episodes failed .* 4 x the environment raised"):
        attempts.check()


def test_an_outage_is_waited_for_beside_errors_of_the_code() -> None:
    clock = Clock()
    attempts = attempts_of(10, clock=clock, retries=0, max_outage=600, min_failed=2)
    attempts.record_failure(0, "the environment raised KeyError: 'x'", may_pass=False)
    assert settled(attempts, {1: "gone", 2: "gone"}) == []
    assert attempts.seconds_to_wait() == 1
    clock.now += 1
    assert attempts.settle() == [1, 2]
    assert list(attempts.failed) == [0]
