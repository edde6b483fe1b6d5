"""Two processes train as one does on the same global batch and trajectories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file

from agentgym_envs import read_jsonl
from tests.trainers.command import EPISODES
from tests.trainers.toys import EASY_ID, ENV_ID, LARGEST_GAP, make_folder
from tests.trainers.train_given import LOSS_TYPES, NUM_STEPS
from trainers.runs.folder import read_metrics

ROOT = Path(__file__).parents[2]
# Without --cpu: with it, accelerate starts several processes by MPI only. The script's own
# `use_cpu` makes them meet over gloo.
LAUNCH = [
    *(sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"),
    *("--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"),
    *("--main_process_port", "0"),
]
SAME = (
    "loss", "grad_norm", "reward", "episodes/failed", "episodes/success",
    "frac_reward_zero_std", "sampling/sampling_logp_difference/mean", LARGEST_GAP,
    *(f"sampling/importance_sampling_ratio/{name}" for name in ("mean", "raw_min", "raw_max")),
    "entropy",
)  # fmt: skip


def run(script: str, folder: Path, command: list[str], *options: str) -> Path:
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(Path(__file__).with_name(script)), str(folder), *options],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    path = tmp_path_factory.mktemp("processes")
    one = run("train_given.py", path / "one", [sys.executable], "4")
    return one, run("train_given.py", path / "two", LAUNCH, "2")


@pytest.mark.slow
@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_two_processes_have_the_losses_and_weights_of_one(
    loss_type: str, folders: tuple[Path, Path]
) -> None:
    """Among the episodes of every step are a failed one, a masked one and one of two windows."""
    logs = [json.loads((folder / f"{loss_type}.json").read_text()) for folder in folders]
    assert [len(log) for log in logs] == [NUM_STEPS + 1] * 2
    for one, two in list(zip(*logs, strict=True))[:NUM_STEPS]:
        assert {key: two[key] for key in SAME} == pytest.approx(
            {key: one[key] for key in SAME}, abs=1e-5
        )
    one, two = (load_file(folder / f"{loss_type}.safetensors") for folder in folders)
    assert max((one[name] - two[name]).abs().max().item() for name in one) < 1e-5


@pytest.mark.slow
def test_two_processes_keep_the_advantages_of_one(folders: tuple[Path, Path]) -> None:
    one, two = (
        [
            [trace.advantages for trace in trajectory.traces]
            for step in range(NUM_STEPS)
            for rank in range(processes)
            for trajectory in read_jsonl(folder / f"dapo_{step}_{rank}.jsonl")
        ]
        for processes, folder in enumerate(folders, 1)
    )
    assert len(one) == 8 * NUM_STEPS
    lengths = [[[len(row) for row in rows] for rows in every] for every in (one, two)]
    assert lengths[0] == lengths[1]
    flat = [[value for rows in every for row in rows for value in row] for every in (one, two)]
    assert any(flat[0])
    assert flat[1] == pytest.approx(flat[0], abs=1e-5)


@pytest.mark.slow
def test_processes_share_out_an_evaluation(tmp_path: Path) -> None:
    """Greedy episodes are those of one process; sampled ones of two processes differ."""
    one = run("evaluate_shared.py", tmp_path / "one", [sys.executable])
    two = run("evaluate_shared.py", tmp_path / "two", LAUNCH)
    alone = json.loads((one / "0.json").read_text())
    ranks = [json.loads((two / f"{rank}.json").read_text()) for rank in range(2)]
    assert ranks[0] == ranks[1]
    for metrics in (alone, ranks[0]):
        del metrics["greedy"]["eval_runtime"]
    assert ranks[0]["greedy"] == alone["greedy"]

    def episodes(folder: Path, name: str) -> list[list[tuple[str, str]]]:
        files = sorted((folder / name / "trajectories").glob("eval_000000*.jsonl"))
        return [
            [(t.task_id, "".join(turn.completion for turn in t.turns)) for t in read_jsonl(file)]
            for file in files
        ]

    (whole,) = episodes(one, "greedy")
    first, second = episodes(two, "greedy")
    assert [first[0], second[0], first[1]] == whole[:3]
    assert sorted(first + second) == sorted(whole)
    # Each process plays one of the two samples of every task.
    first, second = episodes(two, "sampled")
    assert [task_id for task_id, _ in first] == [task_id for task_id, _ in second]
    assert all(mine != other for mine, other in zip(first, second, strict=True))


def train(algorithm: str, command: list[str], folder: Path, *options: str) -> Path:
    module = ["-m", "tests.trainers.command", "train", algorithm]
    words = [*options, "--max_steps", "3", "--report_to", "none", "--output_dir", str(folder)]
    done = subprocess.run(
        [*command, *module, *words], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.slow
def test_two_processes_draw_the_mixture_of_one(tmp_path: Path) -> None:
    options = [
        *("--model", make_folder(tmp_path / "model"), *EPISODES, "--env", EASY_ID, "--mix", "3,1"),
        *("--scale_rewards", "environment"),
    ]
    of_one = ["--per_device_train_batch_size", "8"]
    folders = [
        train("grpo", [sys.executable], tmp_path / "one", *options, *of_one),
        train("grpo", LAUNCH, tmp_path / "two", *options),
    ]
    drawn: list[list[str]] = []
    for folder in folders:
        files = sorted((folder / "trajectories").glob("train_*"))
        drawn.append(sorted(t.task_id for file in files for t in read_jsonl(file)))
        entries = [entry for entry in read_metrics(folder) if "loss" in entry]
        assert [entry["share/Letters"] for entry in entries] == [0.75] * 3
        for entry in entries:
            own = (entry["success/Letters"], entry["success/Easy"])
            assert entry["episodes/success"] == pytest.approx(sum(own) / 2)
    assert drawn[0] == drawn[1]


PREFERENCES = [
    *("--env", ENV_ID, "--action_format", "plain", "--max_tokens_per_turn", "4"),
    *("--eval_strategy", "no", "--disable_tqdm", "true"),
]


@pytest.mark.slow
def test_two_processes_have_the_preferences_of_one(tmp_path: Path) -> None:
    options = [*PREFERENCES, "--model", make_folder(tmp_path / "model"), "--logging_steps", "1"]
    one = train(
        *("dpo", [sys.executable], tmp_path / "one", *options),
        *("--per_device_train_batch_size", "4", "--gradient_accumulation_steps", "1"),
    )
    two = train(
        *("dpo", LAUNCH, tmp_path / "two", *options),
        *("--per_device_train_batch_size", "2", "--gradient_accumulation_steps", "1"),
    )
    losses = [
        [entry["loss"] for entry in read_metrics(folder) if "loss" in entry]
        for folder in (one, two)
    ]
    assert len(losses[0]) == 3
    assert losses[1] == pytest.approx(losses[0], abs=1e-5)


RESETS = ["--beta", "0.1", "--use_peft", "--lora_r", "2", "--reset_adapter_every", "1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        *(("grpo", EPISODES), ("ppo", EPISODES), ("dpo", PREFERENCES)),
        ("grpo", [*EPISODES, *RESETS]),
        ("ppo", [*EPISODES, *RESETS]),
    ],
)
def test_two_processes_resume_bit_for_bit(
    algorithm: str, options: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    words = [
        *(*options, "--model", make_folder(tmp_path / "model")),
        *("--save_strategy", "steps", "--save_steps", "2"),
    ]
    weights = []
    for further in ([], ["--resume"]):
        train(algorithm, LAUNCH, folder, *words, *further)
        weights.append(load_file(folder / "model.safetensors"))
        shutil.rmtree(folder / "checkpoint-3")
        (folder / "model.safetensors").unlink()
    whole, resumed = weights
    assert [name for name in whole if not whole[name].equal(resumed[name])] == []
