"""Exits and cancellations inside an environment are failures of its slot; nobody waits for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentgym_envs import EnvFailure, Outcome, TaskSpec
from tests.helpers import FragileEnv
from tests.wrappers.vector.backends import EVERY_BACKEND
from wrappers import TextVectorEnv
from wrappers.vector.backends import BACKENDS

ERRORS = {
    "exit": SystemExit,
    "cancel": asyncio.CancelledError,
    "interrupt": KeyboardInterrupt,
}
CASES = [
    pytest.param(b, e, marks=[pytest.mark.ray] if b == "ray" else [])
    for b in BACKENDS
    for e in ERRORS
    if (b, e) != ("sync", "interrupt")
]


class Exiting(FragileEnv):
    """Task 38 exits at its start, `say exit` and its like within a turn."""

    def begin(self, task: TaskSpec) -> str:
        if task.number == 38:
            raise SystemExit(2)
        return super().begin(task)

    def apply(self, action: str) -> Outcome:
        word = action.removeprefix("say ")
        if word in ERRORS:
            raise ERRORS[word](word)
        return super().apply(action)

    def leave(self) -> None:
        raise SystemExit(3)


class ExitsWhenMade(FragileEnv):
    def __init__(self) -> None:
        raise SystemExit("no licence")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("backend", "error"), CASES)
def test_it_is_a_failure_of_its_slot(backend: Any, error: str) -> None:
    with TextVectorEnv([Exiting] * 2, backend=backend) as env:
        env.reset(options={"task_id": 30})
        answer = env.step([f"say {error}", "add 1"])
        cause = f"the environment raised {ERRORS[error].__name__}('{error}')"
        assert answer[4][0] == {"failure": cause}
        assert answer[0] == ["", "The counter is 1."]
        env.reset_async(options={"task_id": [3, None]})
        assert env.poll(None)[0][0] == "Goal: bring the counter to 4. The counter is 0."


@pytest.mark.timeout(60)
@pytest.mark.parametrize("backend", EVERY_BACKEND)
def test_it_is_one_in_a_reset_a_call_and_the_making_too(backend: Any) -> None:
    with TextVectorEnv([Exiting, ExitsWhenMade], backend=backend) as env:
        _, infos = env.reset(options={"task_id": 38})
        assert infos[0] == {"failure": "the environment raised SystemExit(2)"}
        assert infos[1] == {"failure": "the environment raised SystemExit('no licence')"}
    with (
        TextVectorEnv([Exiting], backend=backend) as env,
        pytest.raises(EnvFailure, match=r"raised SystemExit\(3\)"),
    ):
        env.call("leave")


def test_an_interrupt_of_the_main_thread_passes() -> None:
    with TextVectorEnv([Exiting] * 2) as env:
        env.reset(options={"task_id": 30})
        with pytest.raises(KeyboardInterrupt):
            env.step(["say interrupt", "add 1"])
