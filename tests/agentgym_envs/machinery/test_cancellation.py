"""What a hung thread waits for is ended by who gives it up, and nothing else is."""

from __future__ import annotations

import threading

from agentgym_envs import EnvFailure, Outcome
from agentgym_envs.machinery.cancellation import cancel_wait, on_cancel
from tests.helpers import FragileEnv
from wrappers import TextVectorEnv


class Machinery:
    """What several environments share: it hangs in a call until it is killed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.killed = threading.Event()

    def hang(self) -> None:
        with self.lock, on_cancel(self.killed.set):
            assert self.killed.wait(30)
        raise EnvFailure("the machinery was killed")

    def answer(self) -> None:
        with self.lock:
            pass


def test_retries_after_a_hung_slot_meet_fresh_machinery() -> None:
    shared = [Machinery()]

    class Sharing(FragileEnv):
        def apply(self, action: str) -> Outcome:
            if shared[0].killed.is_set():
                shared[0] = Machinery()
            shared[0].hang() if action == "say hang" else shared[0].answer()
            return super().apply(action)

    first = shared[0]
    with TextVectorEnv([Sharing] * 2, backend="thread", step_timeout=0.3) as env:
        env.reset(options={"task_id": 30})
        assert "gave no answer" in env.step(["say hang", None])[4][0]["failure"]
        assert first.killed.is_set()
        env.reset(options={"task_id": [30, None]})
        assert env.step(["add 1", "add 2"])[0] == ["The counter is 1.", "The counter is 2."]


def test_only_the_wait_of_that_thread_is_ended() -> None:
    inside, leave, ended = threading.Event(), threading.Event(), []

    def wait() -> None:
        with on_cancel(lambda: ended.append("outer")):
            with on_cancel(lambda: ended.append("inner")):
                pass
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=wait)
    thread.start()
    inside.wait(30)
    cancel_wait(threading.current_thread())
    assert ended == []
    cancel_wait(thread)
    cancel_wait(thread)
    assert ended == ["outer"]
    leave.set()
    thread.join()
    cancel_wait(thread)
    assert ended == ["outer"]
