from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest

from tests.helpers import FragileEnv
from wrappers import TextVectorEnv

KILLED = "the worker process died: killed by SIGKILL (out of memory?)"
FAILED: tuple[str, float, bool, bool] = ("", 0.0, False, False)


def column(answer: tuple[list[Any], ...], index: int) -> tuple[Any, ...]:
    return tuple(values[index] for values in answer)


@pytest.mark.parametrize("backend", ["sync", "thread", "process"])
def test_a_broken_slot_says_so_until_its_reset_and_the_others_play_on(backend: Any) -> None:
    with TextVectorEnv([FragileEnv] * 3, backend=backend) as env:
        env.reset(options={"task_id": [30, 31, 32]})
        env.step(["add 1"] * 3)
        for _ in range(2):
            answer = env.step(["add 1", "say break", "add 1"])
            assert column(answer, 1) == (*FAILED, {"failure": "the simulator broke"})
        assert answer[0] == ["The counter is 3.", "", "The counter is 3."]
        assert column(env.step([None] * 3), 1)[:4] == FAILED
        observations, infos = env.reset(options={"task_id": [None, 9, None]})
        assert observations[1] == "Goal: bring the counter to 10. The counter is 0."
        assert "failure" not in infos[1]
        assert env.step(["add 1"] * 3)[0] == [f"The counter is {n}." for n in (4, 1, 4)]


def test_a_worker_killed_in_the_middle_of_an_episode_takes_no_other_with_it() -> None:
    with TextVectorEnv([FragileEnv] * 3, backend="process") as env:
        env.reset(options={"task_id": [30, 31, 32]})
        env.step(["add 1"] * 3)
        pids = env.call("pid")
        assert len({os.getpid(), *pids}) == 4

        killer = threading.Timer(0.3, os.kill, (pids[1], signal.SIGKILL))
        killer.start()
        begun = time.monotonic()
        answer = env.step(["add 1", "say hang", "add 1"])
        assert time.monotonic() - begun < 10  # found at once: there is no timeout here
        killer.join()

        assert column(answer, 1)[:4] == FAILED
        assert answer[4][1] == {"failure": KILLED}
        assert answer[0][::2] == ["The counter is 2."] * 2
        assert env.step(["add 1", None, "add 1"])[0] == [
            "The counter is 3.",
            "",
            "The counter is 3.",
        ]

        observations, infos = env.reset(options={"task_id": [None, 31, None]})
        assert observations[1] == "Goal: bring the counter to 32. The counter is 0."
        assert infos[1]["task_id"] == "counting_31"
        assert env.step(["add 1"] * 3)[0] == [f"The counter is {n}." for n in (4, 1, 4)]
        after = env.call("pid")
        assert after[::2] == pids[::2]
        assert after[1] != pids[1]


def test_a_worker_killed_between_turns_is_found_at_the_next() -> None:
    with TextVectorEnv([FragileEnv] * 2, backend="process") as env:
        env.reset(options={"task_id": 30})
        (pid, _) = env.call("pid")
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        answer = env.step(["add 1", "add 1"])
        assert answer[4][0] == {"failure": KILLED}
        assert answer[0][1] == "The counter is 1."


def test_a_worker_that_exits_tells_its_status() -> None:
    with TextVectorEnv([FragileEnv], backend="process") as env:
        env.reset()
        *_, infos = env.step(["say die"])
        assert infos == [{"failure": "the worker process died: exit status 7"}]


@pytest.mark.full
@pytest.mark.parametrize("backend", ["thread", "process"])
def test_a_hung_slot_holds_nobody_up_beyond_the_timeout(backend: Any) -> None:
    with TextVectorEnv([FragileEnv] * 3, backend=backend, step_timeout=1.0) as env:
        env.reset(options={"task_id": [30, 31, 32]})
        begun = time.monotonic()
        answer = env.step(["say hang", "say hang", "add 1"])
        assert 0.9 < time.monotonic() - begun < 4
        assert answer[0] == ["", "", "The counter is 1."]
        for info in answer[4][:2]:
            assert "gave no answer within 1 s" in info["failure"]
        observations, _ = env.reset(options={"task_id": [4, 5, None]})
        assert observations[:2] == [
            f"Goal: bring the counter to {n}. The counter is 0." for n in (5, 6)
        ]
        assert env.step(["add 5", "add 6", "add 1"])[1] == [1.0, 1.0, 0.0]


@pytest.mark.full
def test_a_stopped_worker_that_cannot_read_a_long_action_is_killed_in_time() -> None:
    with TextVectorEnv([FragileEnv] * 2, backend="process", step_timeout=1.0) as env:
        env.reset(options={"task_id": 30})
        (pid, _) = env.call("pid")
        os.kill(pid, signal.SIGSTOP)
        begun = time.monotonic()
        answer = env.step(["say " + "x" * 5_000_000, "add 1"])
        assert time.monotonic() - begun < 4
        assert "gave no answer" in answer[4][0]["failure"]
        assert answer[0][1] == "The counter is 1."
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_thread_that_wakes_up_late_closes_its_env_and_ends() -> None:
    before = FragileEnv.closed
    with TextVectorEnv([FragileEnv], backend="thread", step_timeout=0.2) as env:
        env.reset(options={"task_id": 30})
        *_, infos = env.step(["say nap 0.6"])
        assert "failure" in infos[0]
        deadline = time.monotonic() + 10
        while FragileEnv.closed == before and time.monotonic() < deadline:
            time.sleep(0.02)
        assert FragileEnv.closed == before + 1


class NeverStarts(FragileEnv):
    def __init__(self) -> None:
        os._exit(3)


@pytest.mark.full
def test_a_worker_that_dies_while_starting_leaves_a_failed_slot() -> None:
    with TextVectorEnv([FragileEnv, NeverStarts], backend="process") as env:
        observations, infos = env.reset(options={"task_id": 3})
        assert observations == ["Goal: bring the counter to 4. The counter is 0.", ""]
        assert infos[1] == {"failure": "the worker process died: exit status 3"}


def test_an_interrupted_call_leaves_failed_slots_and_no_stale_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with TextVectorEnv([FragileEnv] * 2, backend="process") as env:
        env.reset(options={"task_id": 30})
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(env.slots[0], "receive", interrupted)
            env.step(["add 1", "add 1"])
        *_, infos = env.step([None, None])
        assert [info["failure"] for info in infos] == ["interrupted before it had answered"] * 2
        env.reset(options={"task_id": 30})
        assert env.step(["add 2", "add 3"])[0] == ["The counter is 2.", "The counter is 3."]


def test_an_interrupt_does_not_reach_the_workers() -> None:
    with TextVectorEnv([FragileEnv], backend="process") as env:
        assert os.getpgid(env.call("pid")[0]) != os.getpgid(0)
