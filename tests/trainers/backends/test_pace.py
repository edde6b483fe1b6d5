"""How many requests are under way, and when, by what a server answers."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.serving import Failure, serving
from trainers.backends.json_client import JSONClient, RequestFailed, RequestRefused
from trainers.backends.pace import LimitFile, Pace


class Clock:
    """A clock that goes on when somebody waits."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def never() -> bool:
    return False


def test_requests_that_are_limited_together_halve_the_bound_once() -> None:
    clock = Clock()
    pace = Pace(16, clock=clock)
    together = [pace.enter(never) for _ in range(16)]
    assert together == [100.0] * 16
    clock.now += 1
    later = pace.enter(never) if pace.leave() is None else None
    assert later == 101.0
    clock.now += 1
    for sent_at in (100.0, 100.0, 101.0):
        pace.slow_down(sent_at, 0.0)
    assert pace.bound == 8
    for number in range(5):
        clock.now += 1
        pace.slow_down(clock.now, 0.0)
        assert pace.bound == max(1, 4 / 2**number)  # and never none at all


def test_each_round_of_answers_raises_the_bound_by_one_up_to_the_most() -> None:
    clock = Clock()
    pace = Pace(4, clock=clock)
    for sent_at in (100.5, 101.5):
        clock.now = sent_at + 0.5
        pace.slow_down(sent_at, 0.0)
    assert pace.bound == 1
    pace.speed_up()
    assert pace.bound == 2
    for _ in range(2):
        pace.speed_up()
    assert 2.8 < pace.bound <= 3
    for _ in range(50):
        pace.speed_up()
    assert pace.bound == 4


def test_another_size_keeps_what_a_limit_has_taught() -> None:
    pace = Pace(8, clock=Clock())
    pace.slow_down(100.0, 0.0)
    pace.resize(16)
    assert pace.bound == 8
    pace.resize(1)
    assert pace.bound == 1
    pace.speed_up()
    assert pace.bound == 1


def test_who_waits_for_a_place_gets_it_or_gives_up() -> None:
    pace, cancelled = Pace(1, clock=Clock()), Event()
    assert pace.enter(never) == 100.0
    entered: list[float | None] = []
    threads = [
        threading.Thread(target=lambda: entered.append(pace.enter(cancelled.is_set)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    pace.leave()
    while not entered:
        time.sleep(0.01)
    cancelled.set()
    for thread in threads:
        thread.join(timeout=10)
    assert entered == [100.0, None]


def test_nothing_is_sent_until_the_latest_time_that_was_named() -> None:
    clock = Clock()
    pace = Pace(4, clock=clock)
    pace.slow_down(0, 7.0)
    pace.slow_down(0, 3.0)
    assert pace.pause == 7.0
    clock.wait(5)
    assert pace.pause == 2.0
    assert pace.enter(never) is None
    clock.wait(5)
    assert pace.pause == 0.0
    assert pace.enter(never) == 110.0


def test_who_waits_for_a_place_does_not_get_that_of_a_request_that_met_a_limit() -> None:
    pace = Pace(1)
    sent_at = pace.enter(never)
    entered: list[float | None] = []
    thread = threading.Thread(target=lambda: entered.append(pace.enter(never)))
    thread.start()
    pace.slow_down(sent_at or 0.0, 60.0)
    pace.leave()
    thread.join(timeout=10)
    assert entered == [None]


# Of several processes ---------------------------------------------------------------------------


def test_a_limit_holds_for_all_who_share_it_and_for_who_comes_later(tmp_path: Path) -> None:
    paces = [Pace(8), Pace(8)]
    for pace in paces:
        pace.share(tmp_path / "limits" / "model.txt")
    first, second = paces
    sent = [pace.enter(never) for pace in paces]
    first.slow_down(sent[0] or 0.0, 50.0)
    second.slow_down(sent[1] or 0.0, 20.0)  # the same limit, met by both: it halves once
    for pace in paces:
        assert 49 < pace.pause <= 50
        assert pace.bound == 4
    late = Pace(8)  # as of a worker that takes a killed one's place
    late.share(tmp_path / "limits" / "model.txt")
    assert 49 < late.pause <= 50
    assert late.bound == 8
    first.slow_down(time.monotonic(), 0.0)
    assert late.pause > 49 and second.pause > 49
    assert (late.bound, second.bound) == (4, 2)


def test_a_limit_counts_however_long_its_reading_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, late = Pace(8), Pace(8)
    for pace in (first, late):
        pace.share(tmp_path / "model.txt")
    first.slow_down(time.monotonic(), 50.0)
    read = LimitFile.read

    def slowly(limits: LimitFile) -> list[tuple[float, float]]:
        time.sleep(0.2)
        return read(limits)

    monkeypatch.setattr(LimitFile, "read", slowly)
    assert late.pause > 49
    assert late.bound == 4


def test_a_limit_of_yesterday_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    LimitFile(path).add(86400.0, -86390.0)
    pace = Pace(8)
    pace.share(path)
    assert (pace.pause, pace.bound) == (0.0, 8)


# What a server says -----------------------------------------------------------------------------


def client_of(url: str, clock: Clock, **options: Any) -> JSONClient:
    client = JSONClient(url, wait=clock.wait, **options)
    client.pace._clock = clock
    return client


def limited_at_first(times: int, **headers: str) -> Any:
    calls: list[int] = []

    def answer(body: dict[str, Any]) -> dict[str, Any] | Failure:
        calls.append(1)
        if len(calls) <= times:
            return Failure(429, headers={k.replace("_", "-"): v for k, v in headers.items()})
        return {"calls": len(calls)}

    return answer


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.25"}, 0.25),
        ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5),
        ({"retry_after": "soon"}, 0.5),
        ({}, 0.5),
    ],
)
def test_a_limit_is_waited_for_as_long_as_the_server_says(
    headers: dict[str, str], seconds: float
) -> None:
    clock = Clock()
    with serving({"/ask": limited_at_first(1, **headers)}) as server:
        client = client_of(server.url, clock)
        assert client.post("/ask", {}) == {"calls": 2}
    assert clock.waits == pytest.approx([seconds])
    assert client.pace.bound < 64


def test_a_date_is_waited_for_too() -> None:
    clock = Clock()
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    with serving({"/ask": limited_at_first(1, retry_after=date)}) as server:
        assert client_of(server.url, clock).post("/ask", {}) == {"calls": 2}
    assert 85 < sum(clock.waits) <= 90


def test_limits_are_no_failures_however_many_come() -> None:
    clock = Clock()
    with serving({"/ask": limited_at_first(9, retry_after="20")}) as server:
        client = client_of(server.url, clock, retries=0)
        assert client.post("/ask", {}) == {"calls": 10}
    assert sum(clock.waits) == pytest.approx(180)


def test_a_server_that_asks_for_too_long_a_wait_has_failed() -> None:
    with serving({"/ask": limited_at_first(1, retry_after="3600")}) as server:
        client = client_of(server.url, Clock())
        with pytest.raises(RequestFailed, match=r"429 .*asks to wait 3600 s"):
            client.post("/ask", {})


def test_an_account_without_credit_is_not_waited_for() -> None:
    told = '{"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}'
    with serving({"/ask": lambda body: Failure(429, told)}) as server:
        with pytest.raises(RequestRefused, match=r"429: .* quota\. \(insufficient_quota\)"):
            client_of(server.url, Clock()).post("/ask", {})
    assert len(server.requests) == 1


def test_an_overloaded_server_is_asked_again_when_it_says() -> None:
    calls: list[int] = []

    def busy(body: dict[str, Any]) -> dict[str, Any] | Failure:
        calls.append(1)
        return Failure(503, headers={"retry-after": "4"}) if len(calls) == 1 else {"fine": True}

    clock = Clock()
    with serving({"/ask": busy}) as server:
        assert client_of(server.url, clock).post("/ask", {}) == {"fine": True}
    assert clock.waits == [4.0]


def test_all_requests_wait_for_a_limit_and_fewer_are_sent_at_once_afterwards() -> None:
    lock = threading.Lock()
    busy, most, limits = [0], [0], [0]
    first_wave = threading.Barrier(8)

    def answer(body: dict[str, Any]) -> dict[str, Any] | Failure:
        with lock:
            number = limits[0]
            limits[0] += 1
        if number < 8:
            first_wave.wait(timeout=30)  # all eight are under way together
            return Failure(429, headers={"retry-after": "0.1"})
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        Event().wait(0.02)
        with lock:
            busy[0] -= 1
        return {}

    with serving({"/ask": answer}) as server:
        client = JSONClient(server.url, max_requests=8)
        client.map(lambda _: client.post("/ask", {}), range(8))
    assert most[0] <= 6  # four at first, one more for each round of answers
    assert 4 < client.pace.bound < 8
