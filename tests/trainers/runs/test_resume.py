"""A run that was killed and resumed is the run that was never stopped."""

from __future__ import annotations

import json
import random
import signal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from tests.trainers.command import EPISODES, start, wait_for
from tests.trainers.toys import EASY_ID, make_folder

NUM_STEPS = 16
# Checkpoints of every third step lie in the middle of the second use of a batch, too.
PPO = ["--num_generations", "1", "--num_iterations", "2"]
MIXED = [
    *("--env", EASY_ID, "--mix", "2,1", "--tasks", "0", "1", "2", "3", "4"),
    *("--horizon", "Easy=scaling:1,2@7", "--scale_rewards", "environment"),
]
LEARNABLE = ["--task_sampling", "learnable", "--turn_credit", "gagpo"]
GROUPS = ["--branch_roots", "2", "--dynamic_sampling", "2"]
RESETS = ["--beta", "0.1", "--use_peft", "--lora_r", "2", "--reset_adapter_every", "4"]
TIMES = ("rollout_time", "step_time", "train_runtime", "train_samples_per_second")


def entries(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    steps = [entry for entry in map(json.loads, lines) if "loss" in entry]
    return [{k: v for k, v in entry.items() if k not in TIMES} for entry in steps]


def steps_taken(folder: Path) -> int:
    path = folder / "metrics.jsonl"
    return len(path.read_text().splitlines()) if path.exists() else 0


# A further algorithm, or horizon, is a further line. Only one is not slow: each takes 2 processes.
@pytest.mark.full
@pytest.mark.parametrize(
    ("algorithm", "horizon", "further"),
    [
        ("grpo", "adaptive:1,2,3@2", []),
        pytest.param("grpo", "scaling:1,2,3@5", [], marks=pytest.mark.slow),
        pytest.param(
            "grpo",
            "scaling:1,2,3@5",
            ["--beta", "0.1", "--kl_clip", "0.001"],
            marks=pytest.mark.slow,
        ),
        pytest.param("grpo", "scaling:1,2,3@5", LEARNABLE, marks=pytest.mark.slow),
        pytest.param("grpo", "scaling:1,2,3@5", GROUPS, marks=pytest.mark.slow),
        pytest.param("grpo", "scaling:1,2,3@5", RESETS, marks=pytest.mark.slow),
        pytest.param("ppo", "adaptive:1,2,3@2", PPO, marks=pytest.mark.slow),
        pytest.param("grpo", "Letters=adaptive:1,2,3@2", MIXED, marks=pytest.mark.slow),
        pytest.param("ppo", "Letters=scaling:1,2,3@5", [*PPO, *MIXED], marks=pytest.mark.slow),
    ],
)
def test_a_killed_and_resumed_run_equals_the_uninterrupted_one(
    algorithm: str, horizon: str, further: list[str], tmp_path: Path
) -> None:
    model = make_folder(tmp_path / "model")
    options = [
        *("--model", model, "--horizon", horizon, "--max_steps", str(NUM_STEPS)),
        *("--save_strategy", "steps", "--save_steps", "3", *EPISODES, *further),
    ]
    parts = [*options, "--output_dir", str(tmp_path / "parts")]
    step = random.randint(4, 9)  # after the first checkpoint, and with steps to go
    with start(algorithm, parts) as killed:
        wait_for(lambda: steps_taken(tmp_path / "parts") >= step, killed)
        killed.send_signal(signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL
        with start(algorithm, [*parts, "--resume"]) as resumed:
            said, complained = resumed.communicate()
        assert resumed.returncode == 0, complained[-3000:]
        assert f"resuming from {tmp_path}/parts/checkpoint-" in said
    whole = [*options, "--output_dir", str(tmp_path / "whole")]
    assert import_module(f"trainers.{algorithm}").main(whole) == 0

    expected, found = (entries(tmp_path / name) for name in ("whole", "parts"))
    assert [entry["global_step"] for entry in found] == list(range(1, NUM_STEPS + 1))
    assert found == expected
    played_at = [entry for entry in expected if "horizon" in entry]  # not at a batch's second use
    assert len({entry["horizon"] for entry in played_at}) > 1
    assert len({entry["episodes/success"] for entry in played_at}) > 1
    one, other = (load_file(tmp_path / f"{n}/model.safetensors") for n in ("whole", "parts"))
    assert all((one[name] == other[name]).all() for name in one)
