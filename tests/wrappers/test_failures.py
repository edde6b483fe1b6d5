from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs import EnvFailure
from agentgym_envs.errors import AccessDenied
from wrappers import FailureRules, failures
from wrappers.failures import (
    LONGEST_PAUSE,
    MAX_FIRST_OUTAGE,
    MAX_TOLERABLE_OUTAGE,
    EpisodeRetries,
    Machinery,
)


class Clock:
    """Stands for the module `time`: seconds pass when a test says so, and in `sleep`."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(failures, "time", clock)
    return clock


def retries_of(total: int = 10, *, has_worked: bool = True, **rules: Any) -> EpisodeRetries:
    return EpisodeRetries(Machinery(FailureRules(**rules), has_worked), total)


def settled(retries: EpisodeRetries, broken: dict[Any, str]) -> list[Any]:
    for key, cause in broken.items():
        retries.record_failure(key, cause)
    return retries.settle()


def test_a_task_is_played_again_as_often_as_the_rules_say() -> None:
    retries = retries_of(retries=2)
    assert [settled(retries, {7: "hung"}) for _ in range(3)] == [[7], [7], []]
    assert retries.failed == {7: "hung"}
    assert retries.causes == ["hung"] * 3


def test_episodes_are_counted_apart() -> None:
    retries = retries_of(retries=1)
    assert [settled(retries, {key: "x"}) for key in (0, 1, 0, 1)] == [[0], [1], [], []]


def test_without_retries_the_first_failure_is_final() -> None:
    retries = retries_of(retries=0)
    assert settled(retries, {0: "x"}) == []
    assert retries.failed == {0: "x"}


def test_a_fault_that_episodes_share_is_charged_to_none_and_waited_for(clock: Clock) -> None:
    retries = retries_of(4, max_outage=100)
    wave = {key: f"cannot reach server, port {key}" for key in range(4)}
    waits = []
    for _ in range(4):
        assert settled(retries, wave) == []
        waits.append(retries.seconds_to_wait())
        clock.now += waits[-1] or 0
        assert sorted(retries.settle()) == [0, 1, 2, 3]
    assert waits == [1, 2, 4, 8]
    assert not retries.counts
    assert not retries.failed
    assert retries.seconds_to_wait() is None


def test_the_others_wait_no_longer_once_one_of_them_has_ended(clock: Clock) -> None:
    retries = retries_of(3, max_outage=100)
    settled(retries, {0: "gone", 1: "gone", 2: "gone"})
    clock.now += 1
    assert sorted(retries.settle()) == [0, 1, 2]
    assert settled(retries, {1: "gone", 2: "gone"}) == []
    retries.record_end(0)
    assert sorted(retries.settle()) == [1, 2]


@pytest.mark.parametrize(
    ("has_worked", "failing", "lasts"),
    [(True, 10, 300), (False, 10, MAX_FIRST_OUTAGE), (True, 2, MAX_TOLERABLE_OUTAGE)],
    ids=["a run", "nothing has worked yet", "a batch that could do without them"],
)
def test_machinery_is_waited_for_as_long_as_the_rules_say(
    *, has_worked: bool, failing: int, lasts: float, clock: Clock
) -> None:
    retries = retries_of(10, has_worked=has_worked, max_outage=300)
    playing: list[Any] = list(range(failing))
    while len(retries.failed) < failing:
        playing = settled(retries, {key: "gone" for key in playing})
        wait = retries.seconds_to_wait()
        assert playing or wait is not None or len(retries.failed) == failing
        clock.now += wait or 0
    assert lasts <= clock.now <= lasts + LONGEST_PAUSE
    assert retries.settle() == []
    assert retries.seconds_to_wait() is None
    if failing == 10:
        with pytest.raises(EnvFailure, match="10 of 10 episodes failed"):
            retries.check()


@pytest.mark.parametrize("total", [1, 2, 10])
def test_what_was_given_up_waits_where_the_run_would_stop(total: int, clock: Clock) -> None:
    retries = retries_of(total, retries=0, max_outage=10)
    causes = ["hung", "died", "lost"]
    needed = min(total, 3)  # of 10 the rules tolerate two
    for key in range(needed - 1):
        assert settled(retries, {key: causes[key]}) == []
        retries.record_end(9)
    assert len(retries.failed) == needed - 1
    assert settled(retries, {needed - 1: causes[needed - 1]}) == []
    assert not retries.failed
    clock.now += retries.seconds_to_wait() or 0
    assert sorted(retries.settle()) == list(range(needed))
    clock.now += 10
    assert settled(retries, dict(enumerate(causes[:needed]))) == []
    assert len(retries.failed) == needed
    assert not retries.is_tolerable


def test_nobody_waits_where_nothing_is_waited_for() -> None:
    retries = retries_of(1, retries=0, max_outage=0)
    assert settled(retries, {0: "hung"}) == []
    assert retries.seconds_to_wait() is None
    assert not retries.is_tolerable


def test_failures_of_other_causes_are_not_shared() -> None:
    retries = retries_of(max_outage=100)
    assert settled(retries, {0: "hung", 1: "died"}) == [0, 1]
    assert retries.counts == {0: 1, 1: 1}


def test_who_fails_of_another_cause_while_an_outage_lasts_is_not_charged(clock: Clock) -> None:
    retries = retries_of(max_outage=100)
    assert settled(retries, {0: "gone", 1: "gone", 2: "hung"}) == []
    assert not retries.counts
    retries.record_end(5)  # of no episode that had met it
    assert settled(retries, {3: "died"}) == []
    clock.now += 1
    assert sorted(retries.settle()) == [0, 1, 2, 3]
    for key in range(4):
        retries.record_end(key)
    assert settled(retries, {4: "died"}) == [4]
    assert retries.counts == {4: 1}


def test_an_outage_ends_with_the_last_episode_that_is_given_up_for_it(clock: Clock) -> None:
    retries = retries_of(20, retries=0, max_outage=100)
    playing: list[Any] = [0, 1]
    while len(retries.failed) < 2:
        playing = settled(retries, {key: "poison" for key in playing})
        clock.now += retries.seconds_to_wait() or 0
    assert clock.now >= MAX_TOLERABLE_OUTAGE
    clock.now += 1000
    assert settled(retries, {5: "gone", 6: "gone"}) == []
    assert retries.seconds_to_wait() == 1


def test_a_run_waits_for_all_that_an_outage_has_met_though_few_fail_at_a_time(
    clock: Clock,
) -> None:
    retries = retries_of(10, retries=0, max_outage=100)
    assert settled(retries, {0: "gone", 1: "gone", 2: "gone"}) == []
    clock.now += 1
    assert sorted(retries.settle()) == [0, 1, 2]
    clock.now += MAX_TOLERABLE_OUTAGE  # the rules tolerate one failed episode, and not three
    assert settled(retries, {0: "gone"}) == []
    assert not retries.failed


def test_the_last_episode_of_a_batch_is_waited_for_as_well(clock: Clock) -> None:
    retries = retries_of(10, max_outage=100)
    for key in range(9):
        retries.record_end(key)
    assert settled(retries, {9: "gone"}) == [9]
    waits = []
    while not retries.failed:
        assert settled(retries, {9: "gone"}) in ([], [9])
        waits.append(retries.seconds_to_wait())
        clock.now += waits[-1] or 0
        retries.settle()
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert clock.now >= MAX_TOLERABLE_OUTAGE


def test_an_episode_that_fails_while_others_go_well_is_given_up() -> None:
    retries = retries_of(10, max_outage=100)
    for key in range(2):
        assert settled(retries, {9: "poison"}) == [9]
        retries.record_end(key)
    assert settled(retries, {9: "poison"}) == []
    assert retries.failed == {9: "poison"}


def test_an_outage_that_lasts_is_told_once_for_each_pause(clock: Clock) -> None:
    told: list[float] = []
    rules = FailureRules(max_outage=100)
    retries = EpisodeRetries(Machinery(rules, True, lambda: told.append(clock.now)), 2)
    for _ in range(3):
        settled(retries, {0: "gone", 1: "gone"})
        clock.now += retries.seconds_to_wait() or 0
        retries.settle()
    assert told == [1, 3]


def test_work_of_no_episode_is_done_again_until_it_succeeds(clock: Clock) -> None:
    errors = [EnvFailure("gone")] * 3

    def work() -> str:
        if errors:
            raise errors.pop()
        return "done"

    told: list[float] = []
    machinery = Machinery(FailureRules(max_outage=100), True, lambda: told.append(clock.now))
    assert machinery.retry(work) == "done"
    assert clock.now == 1 + 2 + 4
    assert told == [1, 3]
    errors.append(EnvFailure("gone"))
    with pytest.raises(EnvFailure, match="gone"):
        Machinery(FailureRules(max_outage=0), True).retry(work)


@pytest.mark.parametrize(("has_worked", "lasts"), [(True, 300), (False, MAX_FIRST_OUTAGE)])
def test_work_of_no_episode_is_given_up_after_as_long_as_an_outage(
    *, has_worked: bool, lasts: float, clock: Clock
) -> None:
    def work() -> None:
        raise EnvFailure("gone")

    with pytest.raises(EnvFailure, match="gone"):
        Machinery(FailureRules(max_outage=300), has_worked).retry(work)
    assert lasts - LONGEST_PAUSE <= clock.now <= lasts


def test_a_server_that_asks_for_another_token_is_not_waited_for() -> None:
    asked: list[int] = []

    def work() -> None:
        asked.append(1)
        raise AccessDenied("the server asks for a token")

    with pytest.raises(AccessDenied):
        Machinery(FailureRules(max_outage=100), True).retry(work)
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
    assert rules.tolerate(failed, total) is not stops


def test_the_error_names_the_commonest_causes() -> None:
    retries = retries_of(9, retries=0, max_failed_share=0.0, min_failed=1)
    settled(retries, dict(enumerate(["hung", "died", "hung"])))
    with pytest.raises(
        EnvFailure, match="3 of 9 episodes .*share of 0; causes: 2 x hung; 1 x died"
    ):
        retries.check()


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
    retries = retries_of(4, retries=1, max_outage=600)
    for again in ([0, 1], []):
        for key in (0, 1):
            retries.record_failure(key, "the environment raised KeyError: 'x'", may_pass=False)
        assert retries.settle() == again
        assert retries.seconds_to_wait() is None
    assert sorted(retries.failed) == [0, 1]


def test_a_run_that_stops_for_errors_of_the_code_waits_for_nothing() -> None:
    retries = retries_of(4, retries=0, max_outage=600)
    for key in range(4):
        retries.record_failure(key, "the environment raised KeyError: 'x'", may_pass=False)
    assert retries.settle() == []
    assert retries.seconds_to_wait() is None
    with pytest.raises(EnvFailure, match="4 of 4 episodes failed .* 4 x the environment raised"):
        retries.check()


def test_an_outage_is_waited_for_beside_errors_of_the_code(clock: Clock) -> None:
    retries = retries_of(10, retries=0, max_outage=600, min_failed=2)
    retries.record_failure(0, "the environment raised KeyError: 'x'", may_pass=False)
    assert settled(retries, {1: "gone", 2: "gone"}) == []
    assert retries.seconds_to_wait() == 1
    clock.now += 1
    assert retries.settle() == [1, 2]
    assert list(retries.failed) == [0]
