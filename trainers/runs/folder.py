"""What lies in a training run's folder: checkpoints, the model, what an earlier run left.

Knows names of files; no model and no trainer, so that every command can afford it.
"""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

TRAJECTORIES = "trajectories"

LEFT_BY_A_RUN = (
    "run.json",
    "metrics.jsonl",
    "learning_curve.png",
    "trajectories",
    "checkpoint-*",
    "completions",
    "round_*",
)
SAVED_MODEL = (
    *("config.json", "generation_config.json", "*.safetensors", "*.safetensors.index.json"),
    *("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt"),
    *("chat_template*", "adapter_config.json", "adapter", "critic", "training_args.bin"),
    "README.md",
)
"""A model as Hugging Face's libraries save it, and TRL's card."""


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last checkpoint that was written to its end; None where there is none."""
    found = {
        int(path.name.rpartition("-")[2]): path
        for path in folder.glob("checkpoint-*")
        if path.name.rpartition("-")[2].isdecimal()
    }
    for step in sorted(found, reverse=True):
        try:
            # The trainer writes this file last.
            state = json.loads((found[step] / "trainer_state.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            print(f"{found[step]} was not written to its end and is passed over", flush=True)
            continue
        if state["global_step"] == step:
            return found[step]
    return None


def set_aside(folder: Path, *, start: str | None = None) -> None:
    """Move what an earlier run left in a folder into `previous-N` in it, and say so.

    Args:
        folder: where the run is to be.
        start: the model that it starts from; one that lies in this folder stays where it is.
    """
    if not (folder / "run.json").exists():
        return
    begins_at = None if start is None else Path(start).resolve()
    names = LEFT_BY_A_RUN if begins_at == folder.resolve() else (*LEFT_BY_A_RUN, *SAVED_MODEL)
    found = sorted({path for name in names for path in folder.glob(name)})
    leftovers = [path for path in found if begins_at is None or not _holds(path, begins_at)]
    number = 1
    while (folder / f"previous-{number}").exists():
        number += 1
    previous = folder / f"previous-{number}"
    previous.mkdir()
    for path in leftovers:
        path.rename(previous / path.name)
    print(
        f"{folder} held another run, which is now in {previous}. To go on with a run instead, "
        "pass --resume.",
        flush=True,
    )


def _holds(path: Path, other: Path) -> bool:
    return other.is_relative_to(path.resolve())


def told_of_run(name: str) -> str | None:
    """Say where a run has its model, in whose folder there is none; None for anything else."""
    folder = Path(name)
    is_run = (folder / "run.json").exists()
    if not is_run or (folder / "config.json").exists() or (folder / "adapter_config.json").exists():
        return None
    if (folder / "model" / "config.json").exists():  # as the quickstart leaves it
        return f"{name} holds a run whose model is in {folder / 'model'}: name that"
    checkpoint = last_checkpoint(folder)
    instead = "" if checkpoint is None else f"name its last checkpoint, {checkpoint}, or "
    return (
        f"{name} holds a run that has not ended, so there is no model yet; {instead}go on with the "
        "run: its command and --resume"
    )


def replace_text(path: Path, text: str) -> None:
    """Write a file so that a reader, or a kill, finds the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
