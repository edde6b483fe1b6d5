"""Slots that are called and heard one by one; gates and files stand for whatever takes long."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, ResetNeeded

from tests.helpers import CountingEnv, FragileEnv
from tests.wrappers.vector.backends import EVERY_BACKEND
from tests.wrappers.vector.gates import GATES, PATIENCE, FileGatedEnv, GatedEnv, open_all
from wrappers import FixedHorizon, HorizonCurriculum, TextVectorEnv
from wrappers.vector.slots import ThreadSlot, wait_for_any


@pytest.fixture(autouse=True)
def closed_gates() -> Iterator[None]:
    yield
    open_all()


@pytest.fixture(params=EVERY_BACKEND)
def env(request: pytest.FixtureRequest) -> Iterator[TextVectorEnv]:
    with TextVectorEnv([FragileEnv] * 3, backend=request.param) as env:
        yield env


@pytest.fixture
def gated() -> Iterator[TextVectorEnv]:
    with TextVectorEnv([GatedEnv] * 3, backend="thread") as env:
        env.reset(options={"task_id": [30, 31, 32]})
        yield env


def hear_all(env: Any) -> dict[int, Any]:
    answers: dict[int, Any] = {}
    while env.unanswered():
        answers |= env.poll(None)
    return answers | env.poll()


def rows(columns: tuple[list[Any], ...]) -> dict[int, Any]:
    return dict(enumerate(zip(*columns, strict=True)))


def test_one_by_one_the_answers_are_those_of_all_together(env: TextVectorEnv) -> None:
    tasks: list[Any] = [3, 20, 55]
    actions = ["add 4", "double", "no such action"]
    with TextVectorEnv([FragileEnv] * 3) as together:
        observations, infos = together.reset(options={"task_id": tasks})
        env.reset_async(options={"task_id": tasks})
        assert hear_all(env) == {
            i: (observations[i], 0.0, False, False, infos[i]) for i in range(3)
        }
        expected = rows(together.step(actions))
    env.step_async(actions)
    assert hear_all(env) == expected
    assert rows(env.step([None] * 3)) == {
        i: (answer[0], 0.0, *answer[2:]) for i, answer in expected.items()
    }


def test_a_slot_is_heard_while_another_is_still_at_work(gated: TextVectorEnv) -> None:
    gated.step_async(["say wait a", "add 1", None])
    assert list(gated.poll(None)) == [1]
    assert gated.unanswered() == [gated.slots[0]]
    gated.step_async([None, "add 2", "say open a"])
    assert {i: answer[0] for i, answer in hear_all(gated).items()} == {
        0: "The counter is 0.",
        1: "The counter is 3.",
        2: "The counter is 0.",
    }


def test_a_worker_is_heard_while_another_is_still_at_work(tmp_path: Path) -> None:
    gate = tmp_path / "open"
    with TextVectorEnv([FileGatedEnv] * 2, backend="process") as env:
        env.reset(options={"task_id": 30})
        env.step_async([f"say wait {gate}", "add 1"])
        assert list(env.poll(None)) == [1]
        assert env.poll() == {}
        gate.touch()
        assert list(env.poll(None)) == [0]


def test_a_slot_begins_while_another_is_still_beginning(gated: TextVectorEnv) -> None:
    gated.reset_async(options={"task_id": [39, 5, None]})
    answers = gated.poll(None)
    assert answers[1][0] == "Goal: bring the counter to 6. The counter is 0."
    gated.step_async([None, "say open begin", None])
    assert hear_all(gated)[0][0] == "Goal: bring the counter to 40. The counter is 0."


def test_a_slot_at_work_takes_no_call_and_the_others_do(gated: TextVectorEnv) -> None:
    gated.step_async(["say wait a", None, None])
    calls: list[tuple[str, Any]] = [
        ("step", lambda: gated.step(["add 1", "add 1", None])),
        ("step_async", lambda: gated.step_async(["add 1", "add 1", None])),
        ("reset", lambda: gated.reset(options={"task_id": [1, 2, 3]})),
        ("reset", lambda: gated.reset_async(options={"task_id": [1, 2, 3]})),
        ("expert_actions", gated.expert_actions),
    ]
    for name, call in calls:
        with pytest.raises(AlreadyPendingCallError, match=rf"{name}: slots \[0\]"):
            call()
    assert gated.expert_actions([False, True, True]) == [None, "add 9", "add 9"]
    assert gated.step([None, "add 1", None])[0][1] == "The counter is 1."
    assert gated.reset(options={"task_id": [None, None, 7]})[1][2]["task_id"] == "counting_7"
    gated.step_async([None, "say open a", None])
    assert set(hear_all(gated)) == {0, 1}


def test_an_impossible_action_calls_no_slot(gated: TextVectorEnv) -> None:
    gated.step(["add 9", None, None])
    gated.reset(options={"task_id": [4, None, None]})
    gated.step(["add 5", None, None])
    with pytest.raises(ResetNeeded, match="slot 0 is over"):
        gated.step_async(["add 1", "add 1", "add 1"])
    with pytest.raises(TypeError, match="slot 2 must be a str or None"):
        gated.step_async([None, "add 1", 3])  # type: ignore[list-item]
    assert gated.unanswered() == []
    assert gated.get("counter") == [5, 0, 0]


def test_get_waits_for_slots_at_work_and_poll_still_brings_their_answers(
    gated: TextVectorEnv,
) -> None:
    gated.step_async(["add 3", "say open a", None])
    assert gated.get("counter") == [3, 0, 0]
    with pytest.raises(AlreadyPendingCallError):
        gated.step(["add 1", None, None])
    assert {i: answer[0] for i, answer in gated.poll().items()} == {
        0: "The counter is 3.",
        1: "The counter is 0.",
    }


def test_with_nothing_on_its_way_poll_and_wait_return_at_once(env: TextVectorEnv) -> None:
    assert env.poll(None) == {}
    wait_for_any([*env.unanswered(), *env.unanswered()], None)
    env.reset()
    env.step_async([None] * 3)
    assert env.poll(None) == {}


def test_a_poll_can_give_up_waiting(gated: TextVectorEnv) -> None:
    gated.step_async(["say wait a", None, None])
    assert gated.poll(0.02) == {}
    wait_for_any([*gated.unanswered()], 0.02)
    assert len(gated.unanswered()) == 1


def test_several_vectors_are_waited_for_together(gated: TextVectorEnv, tmp_path: Path) -> None:
    gate = tmp_path / "open"
    with TextVectorEnv([FileGatedEnv], backend="process") as workers:
        workers.reset(options={"task_id": 30})
        for opens, vector in ((gate.touch, workers), (GATES["a"].set, gated)):
            workers.step_async([f"say wait {gate}"] if vector is workers else [None])
            gated.step_async(["say wait a", None, None] if vector is workers else [None] * 3)
            threading.Timer(0.05, opens).start()
            wait_for_any([*gated.unanswered(), *workers.unanswered()], None)
            assert list(vector.poll()) == [0]
        assert not workers.unanswered()
        assert not gated.unanswered()


# What breaks ----------------------------------------------------------------------------------


def test_a_slot_that_broke_says_so_and_begins_afresh(env: TextVectorEnv) -> None:
    env.reset(options={"task_id": [30, 31, 32]})
    env.step_async(["add 1", "say break", "add 1"])
    failure = ("", 0.0, False, False, {"failure": "the simulator broke"})
    answers = hear_all(env)
    assert answers[1] == failure
    assert answers[0][0] == answers[2][0] == "The counter is 1."
    env.step_async([None, "add 1", None])
    assert env.poll(None) == {1: failure}
    env.reset_async(options={"task_id": [None, 9, None]})
    assert hear_all(env)[1][0] == "Goal: bring the counter to 10. The counter is 0."
    assert env.step(["add 1"] * 3)[0] == [f"The counter is {n}." for n in (2, 1, 2)]


def test_a_worker_that_dies_is_heard_as_a_failure() -> None:
    with TextVectorEnv([FragileEnv] * 2, backend="process") as env:
        env.reset(options={"task_id": 30})
        env.step_async(["say die", "add 1"])
        answers = hear_all(env)
        assert answers[0][4] == {"failure": "the worker process died: exit status 7"}
        assert answers[1][0] == "The counter is 1."
        env.reset_async(options={"task_id": [3, None]})
        assert env.poll(None)[0][0] == "Goal: bring the counter to 4. The counter is 0."


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_a_hung_slot_fails_by_itself_while_the_others_play_on(backend: Any) -> None:
    with TextVectorEnv([FragileEnv] * 2, backend=backend, step_timeout=1.0) as env:
        env.reset(options={"task_id": 30})
        env.step_async(["say hang", "add 1"])
        turns = 0
        while 0 not in (answers := env.poll(None)):
            assert answers[1][0].startswith(f"The counter is {(turns % 9) + 1}.")
            turns += 1
            if turns % 9 == 0:
                env.reset(options={"task_id": [None, 30]})
            env.step_async([None, "add 1"])
        assert turns > 0
        assert "gave no answer within 1 s" in answers[0][4]["failure"]
        hear_all(env)
        env.reset_async(options={"task_id": [4, None]})
        assert hear_all(env)[0][0] == "Goal: bring the counter to 5. The counter is 0."


@pytest.mark.full
@pytest.mark.parametrize("backend", ["thread", "process"])
def test_an_answer_in_time_is_no_failure_however_late_one_looks(backend: Any) -> None:
    with TextVectorEnv([FragileEnv], backend=backend, step_timeout=1.0) as env:
        env.reset(options={"task_id": 30})
        env.step_async(["add 1"])
        wait_for_any([*env.unanswered()], None)
        deadline = env.slots[0].deadline
        assert deadline is not None
        time.sleep(max(0.0, deadline - time.monotonic()) + 0.01)
        assert env.poll()[0][0] == "The counter is 1."


class NeverStarts(FragileEnv):
    def __init__(self) -> None:
        os._exit(3)


@pytest.mark.full
def test_a_worker_that_dies_while_starting_answers_its_reset_with_the_failure() -> None:
    with TextVectorEnv([FragileEnv, NeverStarts], backend="process") as env:
        env.reset_async(options={"task_id": 3})
        answers = hear_all(env)
        assert answers[0][0] == "Goal: bring the counter to 4. The counter is 0."
        assert answers[1][4] == {"failure": "the worker process died: exit status 3"}


def test_the_caller_s_mistake_is_raised_and_the_other_answers_are_kept(env: TextVectorEnv) -> None:
    env.reset_async(options={"task_id": [1, "counting_99", 2]})
    answers: dict[int, Any] = {}
    with pytest.raises(ValueError, match="unknown task_id 'counting_99'"):
        while env.unanswered():
            answers |= env.poll(None)
    answers |= hear_all(env)
    assert sorted(answers) == [0, 2]
    env.step_async(["add 1", None, "say bug"])
    answers = hear_all(env)
    assert answers[0][0] == "The counter is 1."
    assert "KeyError: 'a bug'" in answers[2][4]["failure"]


def test_what_is_given_up_counts_as_failed_and_leaves_no_stale_answer(
    gated: TextVectorEnv,
) -> None:
    gated.step_async(["say wait a", "add 1", None])
    assert list(gated.poll(None)) == [1]
    gated.cancel()
    assert gated.unanswered() == []
    *_, infos = gated.step([None] * 3)
    assert infos[0] == {"failure": "cancelled before it had answered"}
    assert "failure" not in infos[1]
    GATES["a"].set()
    gated.reset(options={"task_id": [30, None, None]})
    assert gated.step(["add 2", "add 3", None])[0][:2] == [
        "The counter is 2.",
        "The counter is 4.",
    ]


def test_an_interrupted_poll_loses_no_slot(
    env: TextVectorEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    env.reset(options={"task_id": 30})
    env.step_async(["add 1"] * 3)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(env.slots[1], "receive", interrupted)
        hear_all(env)
    env.cancel()
    env.reset(options={"task_id": 30})
    assert env.step(["add 2", "add 3", "add 4"])[0] == [f"The counter is {n}." for n in (2, 3, 4)]


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_close_does_not_wait_for_slots_at_work(backend: Any) -> None:
    env = TextVectorEnv([GatedEnv] * 2, backend=backend)
    env.reset(options={"task_id": 30})
    pids = set(env.call("pid")) - {os.getpid()}
    threads = [slot.thread for slot in env.slots if isinstance(slot, ThreadSlot)]
    env.step_async(["say wait never", "add 1"])
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.poll()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    GATES["never"].set()
    for thread in threads:
        assert thread is not None
        thread.join(PATIENCE)
        assert not thread.is_alive()


# Horizons -------------------------------------------------------------------------------------


def test_a_horizon_cuts_slots_at_their_own_pace(gated: TextVectorEnv) -> None:
    env = HorizonCurriculum(gated, lambda global_step: 2 + global_step)
    env.reset_async(options={"task_id": [30, 31, 32], "global_step": 0})
    assert [answer[4]["horizon"] for answer in hear_all(env).values()] == [2, 2, 2]
    env.step_async(["say wait a", "add 1", None])
    assert env.poll(None)[1][3] is False
    env.step_async([None, "add 1", None])
    answer = env.poll(None)[1]
    assert (answer[2:4], answer[4]["truncated_by"]) == ((False, True), "horizon")
    with pytest.raises(ResetNeeded, match="slot 1 is over"):
        env.step_async([None, "add 1", "add 1"])
    env.reset_async(options={"task_id": [None, 33, None], "global_step": 1})
    assert env.poll(None)[1][4]["horizon"] == 3
    env.step_async([None, "say open a", "add 1"])
    answers = hear_all(env)
    assert [answers[i][3] for i in range(3)] == [False] * 3
    assert [answers[i][4]["horizon"] for i in range(3)] == [2, 3, 2]
    assert env.step(["add 1", "add 1", "add 1"])[3] == [True, False, True]


def test_a_turn_that_broke_or_was_given_up_does_not_count_towards_the_horizon(
    gated: TextVectorEnv,
) -> None:
    env = HorizonCurriculum(gated, FixedHorizon(1))
    env.reset(options={"task_id": [30, 31, 32]})
    env.step_async(["say break", "say wait a", "add 1"])
    answers: dict[int, Any] = {}
    while set(answers) != {0, 2}:
        answers |= env.poll(None)
    assert answers[0] == ("", 0.0, False, False, {"failure": "the simulator broke"})
    assert answers[2][3] is True
    env.cancel()
    env.reset_async(options={"task_id": [30, 31, None]})
    assert [answer[3] for answer in hear_all(env).values()] == [False, False]
    assert env.step(["add 1", "add 1", None])[3] == [True, True, True]


def test_seeds_count_up_as_in_reset(env: TextVectorEnv) -> None:
    alone = CountingEnv()
    env.reset_async(seed=5)
    assert [answer[0] for _, answer in sorted(hear_all(env).items())] == [
        alone.reset(seed=seed)[0] for seed in (5, 6, 7)
    ]
