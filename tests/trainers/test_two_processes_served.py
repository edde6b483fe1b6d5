"""Two processes train on what two servers of vLLM's protocol sample."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from agentgym_envs import Trajectory, read_jsonl
from tests.trainers.backends.test_vllm_servers import asked, several
from tests.trainers.test_two_processes import LAUNCH, ROOT
from tests.trainers.toys import ENV_ID, LARGEST_GAP, make_folder
from trainers.options.files import LAUNCH_FILES
from trainers.runs.folder import read_metrics

STEPS, GROUP, BATCH = 3, 2, 8
"""Optimizer steps, episodes of a group and of a batch."""

FSDP2 = [
    *(sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2"),
    *("--config_file", str(LAUNCH_FILES / "fsdp2.yaml"), "--main_process_port", "0"),
    *("--mixed_precision", "no"),
]


@dataclass(frozen=True)
class Run:
    """What a run has left.

    Attributes:
        episodes: of each step, those of each process.
        entries: of each step.
        num_prompts: that each server was given.
        num_loads: how often each server took weights.
        served: the weights that each server has in the end.
        folder: the run's.
    """

    episodes: list[list[list[Trajectory]]]
    entries: list[dict[str, Any]]
    num_prompts: list[int]
    num_loads: list[int]
    served: list[dict[str, torch.Tensor]]
    folder: Path

    @property
    def weights(self) -> dict[str, torch.Tensor]:
        """The weights in the end."""
        return load_file(self.folder / "model.safetensors")


def train(
    folder: Path,
    command: list[str],
    processes: int,
    *options: str,
    restart_at: int | None = None,
) -> Run:
    """Train on as many tasks a step, however many processes share them.

    Args:
        folder: of the run, the model and the weights.
        command: what runs `agentgym`.
        processes: that train.
        options: further ones.
        restart_at: the completion before which each server is restarted.

    Raises:
        RuntimeError: the command failed; the message is what it wrote.
    """
    folder.mkdir()
    run = folder / "run"
    with several(2, restart_at=restart_at) as (served, servers, urls):
        words = [
            *("train", "grpo", "--model", make_folder(folder / "model"), "--output_dir", str(run)),
            *("--env", ENV_ID, "--action_format", "plain", "--max_tokens_per_turn", "4"),
            *("--num_generations", str(GROUP), "--gradient_accumulation_steps", "1"),
            *("--per_device_train_batch_size", str(BATCH // processes), "--max_steps", str(STEPS)),
            *("--eval_strategy", "no", "--save_strategy", "no", "--report_to", "none"),
            *("--learning_rate", "1e-2", "--disable_tqdm", "true", "--use_cpu"),
            *("--backend", "vllm_server", "--server_url", *urls),
            *("--backend_kwargs", json.dumps({"weights_dir": str(folder / "weights")})),
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*command, *words, *options], cwd=ROOT, env=environment,
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr[-6000:])
        num_prompts = [len(asked(server)) for server in servers]
    files = sorted((run / "trajectories").glob("train_*"))
    episodes = [list(read_jsonl(file)) for file in files]
    return Run(
        [episodes[at : at + processes] for at in range(0, len(episodes), processes)],
        [entry for entry in read_metrics(run) if "loss" in entry],
        num_prompts,
        [one.num_loads for one in served],
        [one.model.state_dict() for one in served],
        run,
    )


MODULE = "tests.trainers.command"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(tmp_path_factory.mktemp("served") / "one", [sys.executable, "-m", MODULE], 1)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(tmp_path_factory.mktemp("served") / "two", [*LAUNCH, "-m", MODULE], 2)


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("served")
    notes = folder / "notes"
    run = train(folder / "split", [*FSDP2, "-m", "lab.gpu.traced", str(notes), MODULE], 2)
    kinds = [json.loads(path.read_text())["kind"] for path in sorted(folder.glob("notes.*"))]
    assert kinds == ["FSDP", "FSDP"]
    return run


def worst(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    return max((one[name] - other[name]).abs().max().item() for name in one)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["copies", "split"])
def test_each_process_plays_its_share_on_all_servers_with_the_weights_of_the_step(
    kind: str, alone: Run, request: pytest.FixtureRequest
) -> None:
    run: Run = request.getfixturevalue(kind)
    assert [[len(share) for share in step] for step in run.episodes] == [[BATCH // 2] * 2] * STEPS
    for shares, (whole,) in zip(run.episodes, alone.episodes, strict=True):
        tasks = [one.task_id for share in shares for one in share]
        assert tasks == [one.task_id for one in whole]
    assert run.num_loads == [STEPS, STEPS]
    assert all(count >= BATCH for count in run.num_prompts)
    assert len(run.entries) == STEPS
    assert max(entry[LARGEST_GAP] for entry in run.entries) < 1e-4
    # The last step's weights went nowhere; those of the step before are on both servers.
    assert worst(*run.served) == 0
    assert 0 < worst(run.weights, run.served[0]) < 0.1


@pytest.mark.slow
def test_the_first_process_begins_with_the_episodes_of_one(alone: Run, copies: Run) -> None:
    """Samples follow from the process, its place in the list and the weights."""
    first, second = copies.episodes[0]
    whole = alone.episodes[0][0]
    assert [one.traces[0].ids for one in first] == [one.traces[0].ids for one in whole[:4]]
    assert [one.traces[0].ids for one in second] != [one.traces[0].ids for one in whole[4:]]


@pytest.mark.slow
def test_split_weights_learn_what_whole_copies_learn(copies: Run, split: Run) -> None:
    for one, other in zip(copies.episodes, split.episodes, strict=True):
        ids = [[[e.traces[0].ids for e in share] for share in step] for step in (one, other)]
        assert ids[0] == ids[1]
    for key in ("loss", "reward", "grad_norm"):
        assert [entry[key] for entry in split.entries] == pytest.approx(
            [entry[key] for entry in copies.entries], abs=1e-4
        )
    assert worst(copies.weights, split.weights) < 1e-4


@pytest.mark.slow
def test_playing_ahead_with_two_processes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="2 processes would have to do.*`max_staleness=0`"):
        train(tmp_path / "two", [*LAUNCH, "-m", MODULE], 2, "--max_staleness", "1")


@pytest.mark.slow
@pytest.mark.parametrize("restart_at", [3, 14])
def test_servers_restarted_amid_a_batch_change_nothing(
    restart_at: int, copies: Run, tmp_path: Path
) -> None:
    """A process gives them the weights again without the other one, which may be waiting or not."""
    run = train(tmp_path / "restarted", [*LAUNCH, "-m", MODULE], 2, restart_at=restart_at)
    assert all(loads > STEPS for loads in run.num_loads)
    for shares, undisturbed in zip(run.episodes, copies.episodes, strict=True):
        for share, other in zip(shares, undisturbed, strict=True):
            assert [one.status for one in share] == [one.status for one in other]
            assert [one.traces[0].ids for one in share] == [one.traces[0].ids for one in other]
    assert worst(run.weights, copies.weights) < 1e-5
