"""`agentgym train ALGORITHM ...` on the toy game, as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from tests.trainers import toys

ROOT = Path(__file__).parents[2]
EPISODES = [
    *("--env", toys.ENV_ID, "--action_format", "plain", "--max_tokens_per_turn", "4"),
    *("--num_generations", "4", "--per_device_train_batch_size", "4", "--disable_tqdm", "true"),
    *("--gradient_accumulation_steps", "2", "--eval_strategy", "no", "--learning_rate", "1e-2"),
]


def start(algorithm: str, options: list[str]) -> subprocess.Popen[str]:
    """Start a command with one thread."""
    # A script is one file to Python, whose folder would come first in the path.
    return subprocess.Popen(
        [sys.executable, "-m", "tests.trainers.command", "train", algorithm, *options],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for(seen: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is seen; fail where the process ends before."""
    while not seen():
        if process.poll() is not None:
            raise AssertionError(f"the command ended too early: {process.communicate()[1][-3000:]}")
        time.sleep(0.002)


if __name__ == "__main__":
    sys.exit(import_module(f"trainers.{sys.argv[2]}").main(sys.argv[3:]))
