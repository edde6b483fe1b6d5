"""Workers that die between episodes are replaced; forked children leave their parent's alone."""

from __future__ import annotations

import contextlib
import functools
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gymnasium.error import ClosedEnvironmentError

from agentgym_envs import EnvFailure, TaskSpec
from tests.helpers import FragileEnv
from wrappers import TextVectorEnv
from wrappers.vector.calls import RESTARTS
from wrappers.vector.env import STEP_TIMEOUT

ROOT = Path(__file__).parents[3]


def kill(pid: int) -> None:
    """Kill a worker, and wait until it is dead."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


class DiesOnce(FragileEnv):
    """Ends its process at one place, the first times: a file counts them."""

    def __init__(self, counter: Path, place: str, times: int = 1) -> None:
        self.deaths, self.place, self.times = counter, place, times
        self._maybe_die("making")
        super().__init__()

    def begin(self, task: TaskSpec) -> str:
        self._maybe_die("reset")
        return super().begin(task)

    def pid(self) -> int:
        self._maybe_die("call")
        return super().pid()

    def _maybe_die(self, place: str) -> None:
        died = len(self.deaths.read_bytes()) if self.deaths.exists() else 0
        if place == self.place and died < self.times:
            with self.deaths.open("ab") as file:
                file.write(b".")
            os._exit(7)


@pytest.mark.full
@pytest.mark.parametrize("ask", ["get", "call", "reset", "reset_async"])
def test_a_worker_killed_between_episodes_is_replaced_unnoticed(ask: str) -> None:
    with TextVectorEnv([FragileEnv] * 2, backend="process") as env:
        env.reset(options={"task_id": 0})
        env.step(["add 1", "add 1"])
        pids = env.call("pid")
        kill(pids[0])
        if ask == "get":
            assert env.get("source") == ["counting/1"] * 2
        elif ask == "call":
            assert env.call("task_ids", "test")[0][0] == "counting_50"
        elif ask == "reset":
            observations, infos = env.reset(options={"task_id": [4, None]})
            assert observations[0] == "Goal: bring the counter to 5. The counter is 0."
            assert "failure" not in infos[0]
        else:
            env.reset_async(options={"task_id": [4, None]})
            answer = env.poll(None)[0]
            assert answer[0] == "Goal: bring the counter to 5. The counter is 0."
        assert env.call("pid")[1] == pids[1]
        assert env.call("pid")[0] != pids[0]
        assert env.reset(options={"task_id": 3})[1][0]["task_id"] == "counting_3"


def test_an_episode_whose_worker_died_before_a_question_has_failed() -> None:
    with TextVectorEnv([FragileEnv] * 2, backend="process") as env:
        env.reset(options={"task_id": 30})
        kill(env.call("pid")[0])
        env.get("source")
        answers = env.step(["add 1", "add 1"])
        assert answers[0] == ["", "The counter is 1."]
        assert answers[4][0] == {"failure": "the worker process died between two calls"}


@pytest.mark.full
@pytest.mark.parametrize("place", ["making", "reset", "call"])
@pytest.mark.parametrize("times", [1, RESTARTS])
def test_a_worker_that_dies_while_it_is_set_up_is_replaced(
    place: str, times: int, tmp_path: Path
) -> None:
    make = functools.partial(DiesOnce, tmp_path / "deaths", place, times)
    with TextVectorEnv([make, FragileEnv], backend="process") as env:
        assert len(set(env.call("pid"))) == 2
        observations, infos = env.reset(options={"task_id": 4})
        assert observations == ["Goal: bring the counter to 5. The counter is 0."] * 2
        assert not any("failure" in info for info in infos)
    assert (tmp_path / "deaths").read_bytes() == b"." * times


def test_a_worker_that_dies_in_an_asynchronous_reset_is_replaced(tmp_path: Path) -> None:
    with TextVectorEnv(
        [functools.partial(DiesOnce, tmp_path / "deaths", "reset")], backend="process"
    ) as env:
        env.reset_async(options={"task_id": 4})
        assert env.poll(None)[0][0] == "Goal: bring the counter to 5. The counter is 0."


@pytest.mark.full
@pytest.mark.parametrize("place", ["reset", "call"])
def test_a_worker_that_always_dies_is_given_up(place: str, tmp_path: Path) -> None:
    make = functools.partial(DiesOnce, tmp_path / "deaths", place, 100)
    with TextVectorEnv([make, FragileEnv], backend="process") as env:
        if place == "call":
            with pytest.raises(EnvFailure, match="'pid' has no answer from slot 0: .* status 7"):
                env.call("pid")
        else:
            _, infos = env.reset(options={"task_id": 4})
            assert infos[0] == {"failure": "the worker process died: exit status 7"}
            assert infos[1]["task_id"] == "counting_4"
    assert len((tmp_path / "deaths").read_bytes()) == 1 + RESTARTS


# Forked children --------------------------------------------------------------------------------


def in_forked_child(work: Callable[[], None]) -> int:
    """Do something in a child that multiprocessing forks; return its exit code."""
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join()
    assert child.exitcode is not None
    return child.exitcode


@pytest.mark.parametrize("backend", ["thread", "process"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_that_closes_or_drops_it_leaves_the_parents_slots_alone(
    backend: Any,
) -> None:
    held = [TextVectorEnv([FragileEnv] * 2, backend=backend)]
    held[0].reset(options={"task_id": 30})

    def use_and_drop() -> None:
        with pytest.raises(ClosedEnvironmentError, match="forked"):
            held[0].step(["add 1", "add 1"])
        held[0].close()
        held.clear()
        gc.collect()

    assert in_forked_child(use_and_drop) == 0
    assert held[0].step(["add 1", "add 2"])[0] == ["The counter is 1.", "The counter is 2."]
    held[0].close()


def test_a_forked_child_that_exits_leaves_the_parents_workers_alone() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os\n"
            "from tests.helpers import FragileEnv\n"
            "from wrappers import TextVectorEnv\n"
            "env = TextVectorEnv([FragileEnv] * 2, backend='process')\n"
            "env.reset(options={'task_id': 30})\n"
            "if os.fork() == 0:\n"
            "    raise SystemExit\n"
            "os.wait()\n"
            "print(env.step(['add 1', 'add 2'])[0])\n",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout == "['The counter is 1.', 'The counter is 2.']\n"


class DiesSoon(FragileEnv):
    """Ends its process a while after it was made, the while of each from a list."""

    def __init__(self, delays: Path) -> None:
        super().__init__()
        first, *rest = delays.read_text().split() or ["never"]
        delays.write_text(" ".join(rest))
        if first != "never":
            threading.Timer(float(first), os._exit, (7,)).start()


@pytest.mark.full
@pytest.mark.parametrize("ask", ["get", "reset"])
def test_a_worker_that_dies_again_soon_after_its_start_is_told_of(ask: str, tmp_path: Path) -> None:
    delays = tmp_path / "delays"
    delays.write_text(" ".join(f"{0.001 * number}" for number in range(12)))
    with TextVectorEnv([functools.partial(DiesSoon, delays)], backend="process") as env:
        for _ in range(20):
            if ask == "reset":
                _, (info,) = env.reset(options={"task_id": 0})
                if "failure" not in info:
                    assert info["task_id"] == "counting_0"
            else:
                with contextlib.suppress(EnvFailure):
                    assert len(env.get("env_id")) == 1
        # None of them dies any more.
        assert env.get("max_turns") == [env.get("max_turns")[0]]
        assert "failure" not in env.reset(options={"task_id": 0})[1][0]


BUSY = """
import subprocess
from tests.helpers import CountingEnv
from wrappers import TextVectorEnv

class Busy(CountingEnv):
    def apply(self, action):
        subprocess.Popen(["sleep", "60"])  # stands for a simulator
        value = (0,)
        for _ in range(64):
            value = (value, value)
        hash(value)  # never gives the interpreter back

env = TextVectorEnv([Busy], backend="process")
env.reset(options={"task_id": 30})
print(env.slots[0].pid, flush=True)
env.step(["add 1"])
"""


@pytest.mark.full
def test_a_worker_that_is_busy_for_ever_ends_with_its_parent_and_so_does_its_simulator() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        group = int(parent.stdout.readline())
        until = time.monotonic() + 10
        while not any(command == "sleep" for command in commands_of(group)):
            assert time.monotonic() < until, "it did not begin"
            time.sleep(0.05)
        parent.kill()
    until = time.monotonic() + 10
    while commands_of(group):
        assert time.monotonic() < until, f"these live on: {commands_of(group)}"
        time.sleep(0.05)


def test_a_call_has_a_time_limit_where_none_is_given() -> None:
    with TextVectorEnv([FragileEnv], backend="process") as env:
        assert env.step_timeout == STEP_TIMEOUT
        env.reset_async(options={"task_id": 30})
        deadline = env.slots[0].deadline
        assert deadline is not None
        assert 0 < deadline - time.monotonic() <= STEP_TIMEOUT
        env.poll(None)


def commands_of(group: int) -> list[str]:
    """List the commands of a process group that are no zombies."""
    table = subprocess.run(["ps", "-eo", "pgid=,stat=,comm="], capture_output=True, text=True)
    rows = [line.split(None, 2) for line in table.stdout.splitlines()]
    return [row[2] for row in rows if int(row[0]) == group and not row[1].startswith("Z")]
