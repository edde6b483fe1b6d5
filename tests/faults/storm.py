"""Random faults on a training run: `python -m tests.faults.storm --env SciWorld --minutes 30`.

Every few seconds something breaks that the run needs: a worker, a Ray actor, the Java, the
retriever's server, one of two vLLM servers, or the run itself, which is then resumed, as it is
where it gives up with status 75. At the end each step's episodes must be there once, none of them
failed, and none of weights that are too old.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Timer
from typing import Any

from lab.vllm_process import VLLMProcess
from tests.faults.processes import descendants, hit, kill, of_kind, stop
from trainers.models.loading import resolve_model

EPISODES = 8
GROUP = 4
PAUSES = {
    "BabyAI": (3.0, 15.0),
    "SciWorld": (10.0, 40.0),
    "SearchQA": (3.0, 15.0),
    "TextCraft": (10.0, 50.0),
}
"""Seconds between two faults; a Java takes some to start."""
DOWN = (2.0, 8.0)
"""Seconds that a server stays away."""
RARITY = {"BabyAI": 8, "SciWorld": 8, "SearchQA": 8, "TextCraft": 4}
"""How much likelier each other fault is than one of the run's own."""
STALENESS = 2
"""Of TextCraft's run, which is played ahead on two vLLM servers."""

OPTIONS: dict[str, list[str]] = {
    "BabyAI": ["--env_backend", "process", "--max_turns", "8"],
    "SciWorld": [
        *("--env_backend", "thread", "--max_turns", "6", "--max_tokens_per_episode", "1500"),
        *("--wrapper", "tests.faults.wrappers:Experiments"),
    ],
    "TextCraft": [
        *("--env_backend", "process", "--max_turns", "6", "--max_tokens_per_episode", "1500"),
        *("--max_staleness", str(STALENESS), "--backend", "vllm_server"),
    ],
    "SearchQA": [
        *("--env_backend", "process", "--max_turns", "5", "--max_tokens_per_episode", "1500"),
        *("--wrapper", "tests.faults.wrappers:Searches"),
    ],
}


class Storm:
    """A run, what it needs, and what breaks.

    Args:
        env: the environment's short name.
        folder: the run's.
        seed: of the faults.
        actors: environments are played in Ray actors of two nodes, two in each, rather than in
            workers.
    """

    def __init__(self, env: str, folder: Path, seed: int, *, actors: bool = False) -> None:
        self.env = env
        self.folder = folder
        self.faults: Counter[str] = Counter()
        self._random = random.Random(seed)
        self._retriever: subprocess.Popen[bytes] | None = None
        self._port = _free_port()
        self._log = (folder.parent / f"{folder.name}.log").open("ab")
        if env == "SearchQA":
            self._start_retriever()
        self._worker = "actor" if actors else "worker"
        self._cluster: Any = None
        if actors:
            from ray.cluster_utils import Cluster

            node = {"num_cpus": 1, "object_store_memory": 100_000_000}
            self._cluster = Cluster(initialize_head=True, head_node_args=node)
            self._cluster.add_node(**node)
        self._servers: list[VLLMProcess] = []
        if env == "TextCraft":
            model = resolve_model("tiny")
            for number in range(2):
                log = folder.parent / f"{folder.name}_vllm_{number}.log"
                self._servers.append(VLLMProcess(model, log))
            for server in self._servers:
                server.wait()
        self._run = self._start(resume=False)

    def play(self, minutes: float) -> None:
        """Break things for so long, and end the run."""
        end = time.monotonic() + 60 * minutes
        kinds: dict[str, list[Callable[[], bool]]] = {
            "BabyAI": [self.kill_worker, self.stop_worker],
            "SciWorld": [self.kill_java, self.stop_java],
            "SearchQA": [self.kill_worker, self.kill_retriever, self.stop_retriever],
            "TextCraft": [self.kill_worker, self.stop_worker, self.kill_server, self.stop_server],
        }
        # The run itself is hit less often: it takes many seconds to start.
        faults = [*(RARITY[self.env] * kinds[self.env]), self.terminate_run, self.kill_run]
        while time.monotonic() < end:
            time.sleep(self._random.uniform(*PAUSES[self.env]))
            if self._run.poll() == os.EX_TEMPFAIL:  # all servers were away as it began
                self.faults["gave_up"] += 1
                self._run = self._start(resume=True)
            elif self._run.returncode is not None:
                raise AssertionError(f"the run ended by itself, with {self._run.returncode}")
            fault = self._random.choice(faults)
            if fault():
                self.faults[fault.__name__] += 1
                self._log.write(f"storm: {fault.__name__}\n".encode())
                self._log.flush()
        self._end()

    # Faults -----------------------------------------------------------------------------------

    def kill_worker(self) -> bool:
        return self._hit(self._worker, kill)

    def stop_worker(self) -> bool:
        return self._hit(self._worker, stop)

    def kill_java(self) -> bool:
        return self._hit("java", kill)

    def stop_java(self) -> bool:
        return self._hit("java", stop)

    def kill_retriever(self) -> bool:
        assert self._retriever is not None
        self._retriever.kill()
        self._retriever.wait()
        time.sleep(self._random.uniform(*DOWN))
        self._start_retriever()
        return True

    def stop_retriever(self) -> bool:
        assert self._retriever is not None
        stop(self._retriever.pid)
        time.sleep(self._random.uniform(*DOWN))
        return hit(self._retriever.pid, signal.SIGCONT)

    def kill_server(self) -> bool:
        # One takes a minute to start; both may be away at once.
        server = self._random.choice(self._servers)
        if server.child.has_ended or not server.is_up():
            return False
        server.kill()
        Timer(self._random.uniform(*DOWN), server.start).start()
        return True

    def stop_server(self) -> bool:
        server = self._random.choice(self._servers)
        if server.child.has_ended or not server.is_up():
            return False
        server.child.signal(signal.SIGSTOP)
        time.sleep(self._random.uniform(*DOWN))
        server.child.signal(signal.SIGCONT)
        return True

    def terminate_run(self) -> bool:
        self._run.terminate()
        status = self._run.wait(120)
        # We have no handlers yet where the run has only just begun; Ray's aborts.
        if status not in (130, -signal.SIGTERM, -signal.SIGABRT):
            raise AssertionError(f"SIGTERM ended the run with {status}")
        self._run = self._start(resume=True)
        return True

    def kill_run(self) -> bool:
        started = self._started()
        self._run.kill()
        self._run.wait()
        self._wake(started)
        self._run = self._start(resume=True)
        return True

    def _started(self) -> list[int]:
        return [*descendants(self._run.pid), *of_kind("actor", os.getpid())]

    @staticmethod
    def _wake(pids: Iterable[int]) -> None:
        """Let processes go on that the storm has stopped, so that they see their run end."""
        for pid in pids:
            hit(pid, signal.SIGCONT)

    def _hit(self, kind: str, how: Callable[[int], bool]) -> bool:
        # Actors outlive their run for a moment: they are the cluster's.
        there = of_kind(kind, os.getpid() if kind == "actor" else self._run.pid)
        return bool(there) and how(self._random.choice(there))

    # The run ----------------------------------------------------------------------------------

    def _start(self, *, resume: bool) -> subprocess.Popen[bytes]:
        further = ["--resume"] if resume else []
        if self.env == "SearchQA":
            url = f"http://127.0.0.1:{self._port}"
            further += ["--env_kwargs", json.dumps({"retriever": {"url": url, "timeout": 5}})]
        if self._servers:
            further += ["--server_url", *(server.url for server in self._servers)]
            weights = str(self.folder / "weights")
            further += ["--backend_kwargs", json.dumps({"weights_dir": weights, "timeout": 60})]
        command = [
            *(sys.executable, "-m", "benchmarks", "train", "grpo", "--model", "tiny"),
            *("--env", self.env, "--output_dir", str(self.folder), "--max_steps", "100000"),
            *("--num_generations", str(GROUP), "--per_device_train_batch_size", str(EPISODES)),
            *("--gradient_accumulation_steps", "1", "--eval_strategy", "no", "--overlap"),
            *(
                "--save_strategy",
                "steps",
                "--save_steps",
                "5",
                "--step_timeout",
                "10",
                "--num_envs",
                "4",
            ),
            *("--max_tokens_per_turn", "24", "--disable_tqdm", "true", *OPTIONS[self.env]),
        ]
        if self._cluster is not None:
            further += ["--env_backend", "ray", "--ray", self._cluster.address, "--ray_envs", "2"]
            further += ["--ray_actor", '{"num_cpus": 0.5}']
        return subprocess.Popen([*command, *further], stdout=self._log, stderr=self._log)

    def _start_retriever(self) -> None:
        command = [sys.executable, "-m", "benchmarks", "serve-retriever", "--port", str(self._port)]
        self._retriever = subprocess.Popen(command, stdout=self._log, stderr=self._log)

    def _end(self) -> None:
        started = self._started()
        self._run.terminate()
        self._run.wait(180)
        self._wake(started)
        if self._retriever is not None:
            self._retriever.kill()
            self._retriever.wait()
        for server in self._servers:
            server.kill()
        if self._cluster is not None:
            self._cluster.shutdown()

    # What must hold ---------------------------------------------------------------------------

    def result(self) -> dict[str, object]:
        """Return what the run has left.

        Raises:
            AssertionError: an episode was lost, failed or trained twice.
        """
        lines = (self.folder / "metrics.jsonl").read_text().splitlines()
        steps = [entry["global_step"] for entry in map(json.loads, lines) if "loss" in entry]
        assert steps == list(range(1, len(steps) + 1)), "a step is missing, or was taken twice"
        retried = 0
        for step in range(len(steps)):
            path = self.folder / f"trajectories/train_{step + 1:06d}.jsonl"
            episodes = [json.loads(line) for line in path.read_text().splitlines()]
            assert len(episodes) == EPISODES, f"{path} has {len(episodes)} episodes"
            assert all(episode["status"] != "failed" for episode in episodes), f"{path}: failed"
            ages = [
                step - turn.get("weights_step", step)
                for episode in episodes
                for turn in episode["turns"]
            ]
            assert 0 <= min(ages) <= max(ages) <= STALENESS, f"{path}: weights of another step"
            tasks = [episode["task_id"] for episode in episodes]
            groups = [set(tasks[at : at + GROUP]) for at in range(0, EPISODES, GROUP)]
            assert all(len(group) == 1 for group in groups), f"{path}: groups are mixed"
        log = (self.folder.parent / f"{self.folder.name}.log").read_text(errors="replace")
        retried = log.count("played again")
        return {
            "env": self.env,
            "steps": len(steps),
            "episodes": EPISODES * len(steps),
            "faults": dict(self.faults),
            "pauses": retried,
        }


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def main() -> int:
    """Run a storm and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", choices=sorted(OPTIONS), required=True)
    parser.add_argument("--actors", action="store_true", help="environments in Ray actors")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/storm"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    folder = options.out / options.env
    storm = Storm(options.env, folder, options.seed, actors=options.actors)
    storm.play(options.minutes)
    print(json.dumps(storm.result()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
