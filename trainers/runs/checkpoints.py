"""Checkpoints and their checksums.

Imports no torch, so that every command can afford it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from agentgym_envs.content.files import write_atomically
from trainers.options.errors import UsageError

CHECKPOINT = "checkpoint-"
"""The beginning of checkpoints' names, before their step."""
CHECKSUMS_FILE = "checksums.json"
STATE_FILE = "trainer_state.json"
"""The last file that the trainer writes."""

_OPTIMIZER = ("optimizer*", "rank*-optimizer.pt", "global_step*")
"""Names of saved optimizers: by torch and FSDP, by FSDP on XLA, by DeepSpeed."""


def checkpoints(folder: Path) -> dict[int, Path]:
    """Return the checkpoints of a run by their step, in order, whole or not."""
    paths = {path.name.removeprefix(CHECKPOINT): path for path in folder.glob(f"{CHECKPOINT}*")}
    return {int(step): paths[step] for step in sorted(filter(str.isdecimal, paths), key=int)}


def write_checksums(checkpoint: Path) -> None:
    """Write the checksums of a checkpoint's files beside them."""
    write_atomically(
        checkpoint / CHECKSUMS_FILE, json.dumps(_checksums(checkpoint), indent=2) + "\n"
    )


def find_damage(checkpoint: Path, *, check: bool = True) -> str | None:
    """Return the damage of a checkpoint in words, or None where it is intact.

    With `check`, all files are read and their checksums compared. Checkpoints without any are
    intact when the trainer's last file is there.
    """
    try:
        state = json.loads((checkpoint / STATE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "was not written to its end"
    if f"{CHECKPOINT}{state.get('global_step')}" != checkpoint.name:
        return f"holds step {state.get('global_step')}"
    if not check:
        return None
    try:
        expected = json.loads((checkpoint / CHECKSUMS_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return f"has a damaged {CHECKSUMS_FILE}"
    actual = _checksums(checkpoint)
    wrong = [name for name in expected if actual.get(name) != expected[name]]
    if not wrong:
        return None
    missing = [name for name in wrong if name not in actual]
    return f"lacks {missing[0]}" if missing else f"has a damaged {wrong[0]}"


def count_processes(checkpoint: Path) -> int:
    """Return the number of processes that saved a checkpoint: each has a file of random numbers."""
    return len(list(checkpoint.glob("rng_state*.pth")))


def last_checkpoint(folder: Path, *, check: bool = True) -> Path | None:
    """Return the last intact checkpoint of a run, if there is one.

    With `check`, checksums are compared, and a line printed for each damaged checkpoint.
    """
    for path in reversed(checkpoints(folder).values()):
        damage = find_damage(path, check=check)
        if damage is not None:
            if check:
                print(f"{path} {damage} and is passed over", flush=True)
            continue
        return path
    return None


def check_optimizer(checkpoint: Path) -> None:
    """Raise `UsageError` if a checkpoint lacks the optimizer's state."""
    if not any(path for name in _OPTIMIZER for path in checkpoint.glob(name)):
        raise UsageError(
            f"{checkpoint} has no state of the optimizer, so the run cannot go on from it; name it "
            "as the model of a new run (runs that are to be resumed are saved without "
            "`save_only_model`)"
        )


def _checksums(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): _sha256(path)
        for path in files
        if path.name != CHECKSUMS_FILE
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
