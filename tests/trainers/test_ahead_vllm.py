"""Training ahead through vLLM's own servers: one is killed, the trainer is killed and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import Trajectory, read_jsonl
from lab.vllm_process import VLLMProcess, vllm_servers
from tests.trainers.backends.test_vllm_server import real
from trainers.models.loading import resolve_model

pytestmark = [*(mark for mark in real if mark.name != "timeout"), pytest.mark.timeout(1800)]
EPISODES = 8
STEPS = 6
PATIENCE = 900.0


Start = Callable[[int], "Run"]


@pytest.fixture
def start(servers: list[VLLMProcess], tmp_path: Path) -> Iterator[Start]:
    """Make a run of a staleness; what it has started is ended with the test."""
    runs: list[Run] = []

    def make(staleness: int) -> Run:
        runs.append(Run(tmp_path / "run", servers, staleness))
        return runs[-1]

    yield make
    for process in (process for run in runs for process in run.processes):
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[VLLMProcess]]:
    with vllm_servers(resolve_model("tiny"), tmp_path_factory.mktemp("logs"), 2) as started:
        yield started


class Run:
    """A training command in a process of its own.

    Args:
        folder: of the run.
        servers: what samples.
        staleness: of `--max_staleness`.
    """

    def __init__(self, folder: Path, servers: list[VLLMProcess], staleness: int) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        weights = json.dumps({"weights_dir": str(folder / "weights")})
        self._command = [
            *(sys.executable, "-m", "benchmarks", "train", "grpo", "--env", "TextCraft"),
            *("--model", "tiny", "--env_backend", "thread", "--overlap"),
            *("--backend", "vllm_server", "--server_url", *(one.url for one in servers)),
            *("--backend_kwargs", weights, "--max_staleness", str(staleness)),
            *("--output_dir", str(folder), "--max_steps", str(STEPS), "--num_generations", "4"),
            *("--per_device_train_batch_size", str(EPISODES), "--gradient_accumulation_steps", "1"),
            *("--max_tokens_per_turn", "40", "--max_turns", "10", "--learning_rate", "1e-4"),
            *("--max_tokens_per_episode", "1500", "--eval_strategy", "no", "--disable_tqdm"),
            *("--save_strategy", "steps", "--save_steps", "1"),
            *("--invalid_action_penalty", "0.1"),  # rewards differ, so that steps move weights
        ]

    def start(self, *further: str) -> subprocess.Popen[bytes]:
        with (self.folder.parent / "run.log").open("ab") as log:
            self.processes.append(
                subprocess.Popen([*self._command, *further], stdout=log, stderr=log)
            )
        return self.processes[-1]

    def finish(self, process: subprocess.Popen[bytes]) -> None:
        status = process.wait(PATIENCE)
        assert status == 0, (self.folder.parent / "run.log").read_text()[-3000:]

    def await_step(self, process: subprocess.Popen[bytes], step: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while len(self.entries()) < step:
            assert process.poll() is None, (self.folder.parent / "run.log").read_text()[-3000:]
            assert time.monotonic() < deadline
            time.sleep(0.2)

    def entries(self) -> list[dict[str, Any]]:
        path = self.folder / "metrics.jsonl"
        lines = path.read_text().splitlines() if path.is_file() else []
        return [entry for entry in map(json.loads, lines) if "loss" in entry]

    def batches(self) -> list[list[Trajectory]]:
        paths = sorted(self.folder.glob("trajectories/train_*.jsonl"))
        return [list(read_jsonl(path)) for path in paths]


def check_records(run: Run, staleness: int) -> None:
    """Every step was taken once, on episodes that were played once, none of them too old."""
    assert [entry["global_step"] for entry in run.entries()] == list(range(1, STEPS + 1))
    batches = run.batches()
    assert [len(batch) for batch in batches] == [EPISODES] * STEPS
    for step, batch in enumerate(batches):
        assert all(one.status != "failed" for one in batch)
        weights = {turn.weights_step for one in batch for turn in one.turns}
        assert all(step - staleness <= number <= step for number in weights)
    traces = [str(one.traces) for batch in batches for one in batch]
    # Equal episodes of one group are two draws; of two batches they would be one played twice.
    assert len(set(traces)) > len(traces) / 2
    tasks = [tuple(one.task_id for one in batch) for batch in batches]
    assert len(set(tasks)) == STEPS


def test_a_batch_of_older_weights_is_what_those_weights_say(start: Start) -> None:
    run = start(1)
    run.finish(run.start())
    check_records(run, 1)
    ages = [entry["async/staleness_max"] for entry in run.entries()]
    assert ages == [0, *[1] * (STEPS - 1)]
    first, *later = run.entries()
    gap = "sampling/sampling_logp_difference/max"
    assert first[gap] < 1e-4  # its weights are the trainer's, to the rounding of two engines
    assert max(entry.get(gap, 0) for entry in later) > 1e-3


def test_a_killed_server_and_a_killed_trainer_lose_no_episode_and_train_on_none_twice(
    servers: list[VLLMProcess], start: Start, tmp_path: Path
) -> None:
    run = start(2)
    process = run.start()
    run.await_step(process, 1)
    servers[1].kill()
    run.await_step(process, 3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)
    log = (tmp_path / "run.log").read_text()
    assert f"{servers[1].url} is left out until the next weights" in log
    servers[1].start()
    servers[1].wait()
    run.finish(run.start("--resume"))
    check_records(run, 2)
