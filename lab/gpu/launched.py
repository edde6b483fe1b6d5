"""SFT by the public commands with the shipped option files: adapters, and split weights."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from lab.gpu.memory import COLUMN
from lab.gpu.models import model_folder, shapes
from lab.gpu.parts import Reading, Setting
from trainers.options.files import LAUNCH_FILES
from trainers.runs.folder import read_metrics

ADAPTERS = ("lora", "qlora")
"""Parts that are option files of `--config`. The others are files of `accelerate launch`."""

_MADE = "made"

_SFT = (
    *("--env", "TextCraft", "--eval_strategy", "no", "--save_strategy", "no"),
    *("--report_to", "none", "--logging_steps", "1", "--gradient_accumulation_steps", "1"),
)
_FULL = ("--num_episodes", "64", "--max_steps", "10", "--per_device_train_batch_size", "4")
_SMALL = ("--num_episodes", "4", "--max_steps", "2", "--per_device_train_batch_size", "1")


def launched(setting: Setting, part: str) -> Iterator[Reading]:
    """Yield the cost and the loss of a part's training.

    Args:
        setting: where and at which size.
        part: a preset of `ADAPTERS`, or the name of a file in `trainers/options/accelerate/`.

    Raises:
        RuntimeError: the command failed.
    """
    half, three = shapes(small=setting.small)
    shape = three if part in ADAPTERS else half
    model = model_folder(shape, setting.shared)
    run, notes = setting.folder / _MADE / "run", setting.folder / _MADE / "notes.json"
    options = (
        *("--model", str(model), "--output_dir", str(run), *_SFT),
        *(("--dtype", "bfloat16") if part in ADAPTERS else ()),  # of the base, which stays as it is
        *(_SMALL if setting.small else _FULL),
    )
    command = command_line(part, notes, options, num_gpus=torch.cuda.device_count())
    shutil.rmtree(setting.folder / _MADE, ignore_errors=True)  # of an earlier try
    notes.parent.mkdir()
    print(" ".join(command), flush=True)
    status = subprocess.run(command, check=False).returncode
    if status:
        raise RuntimeError(f"the command of {part} ended with status {status}")
    yield Reading(f"{shape.name}, {part}", values_of(run, notes))


def command_line(part: str, notes: Path, options: Sequence[str], *, num_gpus: int) -> list[str]:
    """Return the command of a part.

    Args:
        part: its name.
        notes: what `lab.gpu.traced` writes.
        options: of `agentgym train sft`.
        num_gpus: with none, two processes meet over gloo.
    """
    traced = ["-m", "lab.gpu.traced", str(notes), "trainers.sft", *options]
    if not num_gpus:
        traced.append("--use_cpu")
    if part in ADAPTERS:
        return [sys.executable, *traced, "--config", part]
    launcher = [
        *(sys.executable, "-m", "accelerate.commands.launch"),
        *("--config_file", str(LAUNCH_FILES / f"{part}.yaml"), "--main_process_port", "0"),
        *("--num_processes", str(num_gpus or 2)),
    ]
    if not num_gpus:
        launcher += ["--mixed_precision", "no"]
    return [*launcher, *traced]


def values_of(run: Path, notes: Path) -> dict[str, Any]:
    """Return the values of a run's metrics and its processes' notes.

    Args:
        run: the run's folder.
        notes: the file that each process's notes are named by.
    """
    entries = read_metrics(run)
    losses = [entry["loss"] for entry in entries if "loss" in entry]
    runtime = next(entry["train_runtime"] for entry in entries if "train_runtime" in entry)
    noted = [json.loads(p.read_text("utf-8")) for p in notes.parent.glob(f"{notes.name}.*")]
    return {
        "seconds a step": round(runtime / len(losses), 2),
        "first loss": round(losses[0], 3),
        "last loss": round(losses[-1], 3),
        "processes": noted[0]["processes"],
        "kind": noted[0]["kind"],
        COLUMN: max(one["peak_gigabytes"] for one in noted),
    }
