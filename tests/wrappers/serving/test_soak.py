"""A server that thousands of episodes were played on is as it was after the first hundred."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from tests.wrappers.serving.clients import Socket
from tests.wrappers.serving.test_sessions import eventually, metric

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="Linux tells what a process has"),
]
CLIENTS = 16
MEGABYTE = 1 << 10
"""In the kilobytes that the kernel counts in."""


class Usage(NamedTuple):
    """What a process has."""

    memory: int
    threads: int
    handles: int


@pytest.fixture
def server() -> Iterator[tuple[str, int]]:
    """A server of TextCraft in a process of its own: its address and its process's number."""
    words = ["serve", "--env", "TextCraft", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            addresses = (re.search(r"http://\S+?:\d+", line) for line in process.stdout)
            yield next(match[0] for match in addresses if match), process.pid
        finally:
            process.terminate()


def usage(url: str, pid: int) -> Usage:
    """What the server has once all sessions are closed."""
    eventually(lambda: metric(url, "sessions_active") == 0, 60)
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    handles = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Usage(int(status["VmRSS"].split()[0]), int(status["Threads"]), handles)


def solutions(count: int) -> dict[str, list[str]]:
    """The expert's actions in some tasks."""
    env: Any = gym.make("agentgym/TextCraft-v0")
    result = {}
    for task_id in env.unwrapped.task_ids("train")[:count]:
        env.reset(options={"task_id": task_id})
        result[task_id] = list(env.unwrapped.expert())
    return result


def load(url: str, episodes: int, dropped: int) -> int:
    """Play experts' episodes and drop connections amid others; how many episodes were won."""
    tasks = list(solutions(20).items())

    def play(number: int) -> bool:
        task_id, actions = tasks[number % len(tasks)]
        with Socket(url) as client:
            client.observation("reset", task_id=task_id)
            answers = [client.observation("step", message=action) for action in actions]
            client.close()
        return bool(answers[-1]["reward"] == 1.0)

    def drop(number: int) -> None:
        client = Socket(url)
        if number % 2:
            client.observation("reset", task_id=tasks[0][0])
        client.vanish()

    with ThreadPoolExecutor(CLIENTS) as pool:
        won = sum(pool.map(play, range(episodes)))
        list(pool.map(drop, range(dropped)))
    return won


def test_a_server_has_no_more_after_2000_episodes_and_1000_dropped_connections(
    server: tuple[str, int],
) -> None:
    url, pid = server
    load(url, 200, 100)
    before = usage(url, pid)
    assert load(url, 2000, 1000) == 2000
    after = usage(url, pid)
    assert after.threads <= before.threads + 1
    assert after.handles <= before.handles + 1
    assert after.memory <= before.memory + 8 * MEGABYTE
