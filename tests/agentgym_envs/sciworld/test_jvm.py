"""Java's process: one for all, replaced when it dies, never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentgym_envs import EnvFailure
from agentgym_envs.sciworld import jvm as jvm_module
from agentgym_envs.sciworld.env import SciWorldEnv
from agentgym_envs.sciworld.jvm import close_jvm, shared_jvm
from wrappers import TextVectorEnv

ROOT = Path(__file__).parents[3]
BOIL = {"task_id": 0}


def started(**kwargs: float) -> SciWorldEnv:
    env = SciWorldEnv(**kwargs)
    env.reset(options=BOIL)
    return env


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def stop(pid: int) -> None:
    """Stop a process; wait until all of its threads stand, which the signal does not."""
    os.kill(pid, signal.SIGSTOP)
    states = {""}
    while states - {"T"}:
        time.sleep(0.01)
        stats = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/stat")]
        states = {stat.rpartition(")")[2].split()[0] for stat in stats}


def run(program: str) -> list[str]:
    """Run a program in a Python process of its own and return what it printed, in lines."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_all_environments_share_one_process() -> None:
    first, second = started(), started()
    assert first.simulator.jvm is second.simulator.jvm is shared_jvm()
    first.close()
    second.close()


@pytest.mark.full
def test_a_killed_process_fails_every_episode_and_the_next_reset_starts_another() -> None:
    first, second = started(), started()
    os.kill(shared_jvm().pid, signal.SIGKILL)
    for env in (first, second):
        with pytest.raises(EnvFailure, match="Java"):
            env.step("look around")
    for env in (first, second):
        observation, _ = env.reset(options=BOIL)
        assert observation.startswith("Your task is to boil water.")
        observation, *_ = env.step("open door to kitchen")
        assert observation == "The door is now open."
        env.close()


@pytest.mark.full
def test_a_process_that_hangs_is_a_failure_after_the_timeout() -> None:
    env, other = started(), started()
    env.simulator.timeout = 1.0  # not before it has started, which may take longer
    pid = shared_jvm().pid
    stop(pid)
    began = time.monotonic()
    with pytest.raises(EnvFailure, match="no answer within 1 s"):
        env.step("look around")
    assert time.monotonic() - began < 10
    with pytest.raises(EnvFailure):
        other.step("look around")
    assert not is_running(pid)
    env.close()
    other.close()
    started().close()


@pytest.mark.slow
def test_a_hung_java_is_killed_with_the_thread_slot_that_found_it_hung() -> None:
    with TextVectorEnv("SciWorld", 2, backend="thread", max_turns=5) as env:
        env.reset(options={"task_id": [0, 60]})
        pid = shared_jvm().pid
        stop(pid)
        env.step_timeout = 1.0  # long before the call's own
        answer = env.step(["look around", None])
        assert "gave no answer within 1 s" in answer[4][0]["failure"]
        assert not is_running(pid)
        env.step_timeout = 60.0
        answer = env.step([None, "look around"])
        assert "killed, because: a call was given up that it hung in" in answer[4][1]["failure"]
        observations, _ = env.reset(options={"task_id": [0, 60]})
        assert "boil" in observations[0] and "freeze" in observations[1]


def test_a_thread_that_only_queues_for_java_does_not_cost_the_others_their_episodes() -> None:
    with TextVectorEnv("SciWorld", 2, backend="thread", max_turns=5) as env:
        env.reset(options={"task_id": [0, 60]})
        env.step_timeout = 0.5
        with shared_jvm().calling():
            answer = env.step(["look around", None])
        assert "gave no answer within 0.5 s" in answer[4][0]["failure"]
        env.step_timeout = 60.0
        assert "failure" not in env.step([None, "look around"])[4][1]


@pytest.mark.full
def test_java_without_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    close_jvm()
    monkeypatch.setattr(jvm_module, "HEAP_MEGABYTES", 12)
    env = SciWorldEnv()
    with pytest.raises(EnvFailure, match="its heap of 12 MB is full .OutOfMemoryError."):
        env.reset(options=BOIL)
    env.close()


@pytest.mark.full
def test_a_killed_java_is_said_to_have_been_killed() -> None:
    env = started()
    os.kill(shared_jvm().pid, signal.SIGKILL)
    with pytest.raises(EnvFailure, match="killed by SIGKILL .out of memory"):
        env.step("look around")
    env.close()


@pytest.mark.slow
def test_a_full_java_has_another_started_and_a_place_given_back_is_taken_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    close_jvm()
    monkeypatch.setattr(jvm_module, "SIMULATORS_PER_JAVA", 2)
    envs = [started() for _ in range(3)]
    pids = [env.simulator.jvm.pid for env in envs]
    assert pids[0] == pids[1] != pids[2]
    envs[0].close()
    again = started()
    assert again.simulator.jvm.pid == pids[0]
    for env in (again, *envs):
        env.close()
    close_jvm()
    assert not any(is_running(pid) for pid in pids)


@pytest.mark.slow
def test_the_failure_rules_play_the_episodes_of_a_dead_process_again() -> None:
    from trainers.rollout.policy import Episode, Policy, Reply
    from trainers.rollout.rollout import Rollout

    class Killer(Policy):
        """Kills Java once, in the third turn, and plays on."""

        name = "killer"
        turns = 0

        def act(self, episodes: Sequence[Episode]) -> list[Reply]:
            self.turns += 1
            if self.turns == 3:
                os.kill(shared_jvm().pid, signal.SIGKILL)
            return [Reply("look around") for _ in episodes]

    with TextVectorEnv("SciWorld", 3, backend="thread", max_turns=5) as env:
        trajectories = Rollout(env, Killer()).run(["sciworld_0", "sciworld_60", "sciworld_120"])
    assert [t.status for t in trajectories] == ["truncated"] * 3
    assert [len(t.turns) for t in trajectories] == [5] * 3


@pytest.mark.full
def test_threads_play_what_one_thread_plays() -> None:
    tasks = ["sciworld_0", "sciworld_4168", "sciworld_3836", "sciworld_120"]
    transcripts = []
    for backend in ("sync", "thread"):
        with TextVectorEnv("SciWorld", len(tasks), backend=backend, max_turns=8) as env:
            outputs = [env.reset(options={"task_id": tasks})]
            for _ in range(8):
                outputs.append(env.step(env.expert_actions()))
            transcripts.append(outputs)
    assert transcripts[0] == transcripts[1]


@pytest.mark.full
def test_a_forked_child_starts_its_own_process_and_leaves_its_parents_alone() -> None:
    outputs = run(
        """
        import os
        from agentgym_envs import EnvFailure
        from agentgym_envs.sciworld.env import SciWorldEnv
        from agentgym_envs.sciworld.jvm import shared_jvm
        env = SciWorldEnv()
        env.reset(options={"task_id": 0})
        ours = shared_jvm().pid
        if os.fork() == 0:
            try:
                env.step("look around")
            except EnvFailure as failure:
                print("failure:", failure, flush=True)
            env.reset(options={"task_id": 0})
            print("own:", shared_jvm().pid != ours, flush=True)
            raise SystemExit
        os.wait()
        print(env.step("open door to kitchen")[0])
        """
    )
    assert outputs == [
        "failure: this simulator belongs to the process that this one was forked from",
        "own: True",
        "The door is now open.",
    ]


@pytest.mark.full
@pytest.mark.parametrize("backend", ["process"])
def test_worker_processes_have_a_java_each(backend: str) -> None:
    with TextVectorEnv("SciWorld", 2, backend="process") as env:
        observations, _ = env.reset(options={"task_id": ["sciworld_0", "sciworld_60"]})
        assert "boil" in observations[0] and "freeze" in observations[1]


@pytest.mark.full
@pytest.mark.parametrize(
    "end",
    ["pass", pytest.param("raise SystemExit", marks=pytest.mark.slow), "os.kill(os.getpid(), 9)"],
)
def test_java_ends_with_its_python(end: str, tmp_path: Path) -> None:
    program = f"""
        import os
        from agentgym_envs.sciworld.env import SciWorldEnv
        from agentgym_envs.sciworld.jvm import shared_jvm
        env = SciWorldEnv()
        env.reset(options={{"task_id": 0}})
        print(shared_jvm().pid, flush=True)
        {end}
        """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    pid = int(done.stdout)
    deadline = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(pid)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_closing_leaves_no_file_handle_and_no_thread() -> None:
    close_jvm()
    threads, handles = threading.active_count(), len(os.listdir("/proc/self/fd"))
    env = started()
    env.close()
    close_jvm()
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) == handles


@pytest.mark.full
def test_an_environment_that_is_dropped_gives_its_simulator_back() -> None:
    env = started()
    jvm = shared_jvm()
    del env
    assert len(jvm.discarded) >= 2
    started().close()


def test_java_that_does_not_start_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from dataclasses import replace

    parts = jvm_module.installation()
    close_jvm()
    monkeypatch.setattr(jvm_module, "installation", lambda: replace(parts, java=tmp_path / "java"))
    with pytest.raises(EnvFailure, match="Java does not start"):
        shared_jvm()
    monkeypatch.setattr(jvm_module, "installation", lambda: replace(parts, class_path=()))
    with pytest.raises(EnvFailure, match="Java ended while it was starting"):
        shared_jvm()
