"""A server that is killed under a run costs it nothing where another one serves the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("websockets", reason="the remote extra is not installed")
pytest.importorskip("uvicorn", reason="the serve extra is not installed")

import httpx

from agentgym_envs import read_jsonl
from trainers.evaluate import main as evaluate
from trainers.grpo import main as train

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    def num_steps(self) -> int:
        """How many steps it has played."""
        for line in httpx.get(f"{self.url}/metrics").text.splitlines():
            if line.startswith("agentgym_steps_total{"):
                return int(line.rpartition(" ")[2])
        return 0


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    command = [sys.executable, "-m", "benchmarks", "serve", "--env", "TextCraft", "--port", "0"]
    command += ["--protocol", "openenv", "--env_kwargs", '{"action_format": "react"}']
    with ExitStack() as stack:
        started = []
        for _ in range(2):
            process = stack.enter_context(
                subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            assert process.stdout is not None
            # "serving http://127.0.0.1:PORT/textcraft; Ctrl-C ends"
            address = process.stdout.readline().split()[1].rstrip(";")
            started.append(Server(process, address.rpartition("/")[0]))
        yield started[0], started[1]


@pytest.fixture
def kill_amid_play(servers: tuple[Server, Server]) -> Iterator[Callable[[int], None]]:
    """Have the busier server killed once it has played so many steps."""
    threads = []

    def begin(num_steps: int) -> None:
        def watch() -> None:
            while max(server.num_steps() for server in servers) < num_steps:
                time.sleep(0.01)
            busier = max(servers, key=Server.num_steps)
            os.kill(busier.process.pid, signal.SIGKILL)

        threads.append(threading.Thread(target=watch, daemon=True))
        threads[-1].start()

    yield begin
    for thread in threads:
        thread.join(1)
        assert not thread.is_alive(), "no server has been killed"
    (killed, alive) = sorted(servers, key=lambda server: server.process.poll() is None)
    assert killed.process.wait(5) == -signal.SIGKILL
    assert alive.num_steps() > 0


def name_of(servers: tuple[Server, Server]) -> str:
    return "openenv:" + ",".join(f"{server.url}/textcraft" for server in servers)


def test_an_evaluation_plays_on_with_the_other_server(
    servers: tuple[Server, Server], kill_amid_play: Callable[[int], None], tmp_path: Path
) -> None:
    kill_amid_play(40)
    out, episodes = tmp_path / "result.json", tmp_path / "episodes.jsonl"
    options = f"--env {name_of(servers)} --policy tiny --num_tasks 24 --max_turns 12"
    options += f" --max_tokens_per_turn 16 --out {out} --trajectories {episodes}"
    assert evaluate(options.split()) == 0
    trajectories = list(read_jsonl(episodes))
    assert len({trajectory.task_id for trajectory in trajectories}) == 24
    assert "failed" not in {trajectory.status for trajectory in trajectories}
    assert json.loads(out.read_text())


def test_a_training_of_tiny_goes_on_with_the_other_server(
    servers: tuple[Server, Server], kill_amid_play: Callable[[int], None], tmp_path: Path
) -> None:
    kill_amid_play(60)
    options = f"--env {name_of(servers)} --model tiny --max_steps 3 --max_turns 12 --seed 3"
    options += " --num_generations 4 --per_device_train_batch_size 8"
    options += " --gradient_accumulation_steps 1 --eval_strategy no --max_tokens_per_turn 16"
    assert train([*options.split(), "--output_dir", str(tmp_path)]) == 0
    files = sorted((tmp_path / "trajectories").glob("train_*.jsonl"))
    trajectories = [trajectory for path in files for trajectory in read_jsonl(path)]
    assert len(trajectories) == 3 * 8
    assert "failed" not in {trajectory.status for trajectory in trajectories}
