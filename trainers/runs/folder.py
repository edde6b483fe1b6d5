"""A run's folder: its files, its lock, and the traces of an earlier run.

    DIR/run.json                  the command, its options and versions
    DIR/metrics.jsonl             one log entry a line
    DIR/trajectories/*.jsonl      episodes, compressed ones as *.jsonl.gz
    DIR/learning_curve.png        drawn from the metrics
    DIR/checkpoint-N/             what training goes on from
    DIR/start/                    the model under a new adapter, where another was merged into it
    DIR/pairs/*.jsonl             episodes that DPO's pairs are made of
    DIR/summary.json              success of the kept weights, or of a quickstart before and after

Imports no torch, so that every command can afford it. `trainers.runs.reader` finds such folders.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import socket
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from agentgym_envs.content.files import StorageFailure, is_storage_failure, write_atomically
from agentgym_envs.machinery.secrets import masked
from trainers.options.errors import UsageError
from trainers.options.models import BASE, START
from trainers.runs.checkpoints import CHECKPOINT, STATE_FILE, last_checkpoint
from wrappers.failures import retry

try:
    from safetensors import SafetensorError
except ImportError:  # without the train extra, where nothing raises it

    class SafetensorError(Exception):  # type: ignore[no-redef]
        """Stands for the one of safetensors."""


logger = logging.getLogger(__name__)

Result = TypeVar("Result")

RUN_FILE = "run.json"
METRICS_FILE = "metrics.jsonl"
LOCK_FILE = "run.lock"
CURVE_FILE = "learning_curve.png"
SUMMARY_FILE = "summary.json"
CELL_FILE = "cell.json"
"""The file of the settings of a sweep's cell."""
TRAJECTORIES = "trajectories"
PAIRS = "pairs"
EPISODES = ".jsonl"
"""The end of the names of files of episodes, before a `.gz`."""

RUN_ARTIFACTS = (
    *(RUN_FILE, METRICS_FILE, CURVE_FILE, TRAJECTORIES, f"{CHECKPOINT}*"),
    *("completions", "round_*", PAIRS, START, SUMMARY_FILE),
)
SAVED_MODEL = (
    *("config.json", "generation_config.json", "*.safetensors", "*.safetensors.index.json"),
    *("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt"),
    *("chat_template*", "adapter_config.json", "adapter", BASE, "critic"),
    *("training_args.bin", "README.md"),
)
"""A model as Hugging Face's libraries save it, and its card."""

_TORCH_WRITES = ("PytorchStreamWriter", "inline_container", "iostream")
"""Words of the errors that torch raises where a disk takes no more."""


def write_json(path: str | Path, record: Any) -> None:
    """Write a record of a run or a sweep, without secrets."""
    # There and back: what a key holds may be of any class, which only JSON makes a text.
    plain = json.loads(json.dumps(record, default=str))
    write_atomically(path, json.dumps(masked(plain), indent=2) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Return a JSON object, empty where the file is missing.

    Raises:
        UsageError: the file holds something else.
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise TypeError(f"it holds a {type(record).__name__}")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a JSON object ({error}); remove or repair it") from error
    return record


def read_run(folder: str | Path) -> dict[str, Any]:
    """Return a run's `run.json`, empty where there is none."""
    return read_json(Path(folder) / RUN_FILE)


def end_run(folder: str | Path, *, global_step: int, weights_step: int) -> None:
    """Add to `run.json` that training has ended, and where.

    `weights_step` is the step of the weights, an earlier one where the best were loaded.
    """
    ended = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "global_step": global_step,
        "weights_step": weights_step,
    }
    write_json(Path(folder) / RUN_FILE, {**read_run(folder), "ended": ended})


def model_step(name: str | Path) -> int | None:
    """Return the optimizer step of a model's weights, or None if no run here made it.

    `name` is a checkpoint, a run's folder, or a folder of a model within one; a hub's id is none.
    """
    folder = Path(name)
    state = folder / STATE_FILE
    if state.is_file():
        return _whole(read_json(state).get("global_step"))
    if not folder.is_dir():
        return None
    records = (read_run(place) for place in (folder, folder.resolve().parent))
    record = next(filter(None, records), {})
    return _whole(record.get("ended", {}).get("weights_step"))


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


def read_metrics(folder: str | Path) -> list[dict[str, Any]]:
    """Return the log entries of a run, in order, under today's names.

    An unfinished last line of a killed run is passed over. So is any other line that is no entry,
    with a warning.
    """
    entries, problems = check_metrics(folder)
    for problem in problems:
        logger.warning("%s/%s: passed over", folder, problem)
    return entries


def check_metrics(folder: str | Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the log entries of a run as `read_metrics` does, and its problems in words."""
    path = Path(folder) / METRICS_FILE
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{METRICS_FILE} cannot be read ({error.strerror})"]
    entries, problems = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == len(lines) and not line.endswith(b"\n")):
            continue
        try:
            entries.append(_entry(line))
        except (ValueError, RecursionError) as error:
            problems.append(f"{METRICS_FILE}, line {number} is no log entry ({error})")
    return entries, problems


def _entry(line: bytes) -> dict[str, Any]:
    """Return a log entry from its line.

    Raises:
        ValueError: it is none.
    """
    entry = json.loads(line)
    if not isinstance(entry, dict) or type(entry.get("global_step")) is not int:
        raise ValueError("a JSON object with a whole number global_step is expected")
    return finite(entry)


def finite(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a log entry with None for numbers that are not finite."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in entry.items()
    }


def write_metrics(folder: str | Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Write the log entries of a run in place of those that are there."""
    text = "".join(json.dumps(entry, default=float) + "\n" for entry in entries)
    write_atomically(Path(folder) / METRICS_FILE, text)


def set_aside(folder: Path, *, start: str | None = None, keep: Collection[str] = ()) -> None:
    """Move an earlier run's files into `previous-N` in its folder, and print that.

    Args:
        folder: the new run's.
        start: the model that it starts from. One that lies in this folder stays where it is, and
            one that is this folder is copied.
        keep: names that stay where they are.
    """
    if not (folder / RUN_FILE).exists():
        return
    begins_at = None if start is None else Path(start).resolve()
    names = RUN_ARTIFACTS if begins_at == folder.resolve() else (*RUN_ARTIFACTS, *SAVED_MODEL)
    paths = {path for name in names for path in folder.glob(name)}
    artifacts = sorted(path for path in paths if path.name not in keep)
    leftovers = [path for path in artifacts if begins_at is None or not _holds(path, begins_at)]
    number = 1
    while (folder / f"previous-{number}").exists():
        number += 1
    previous = folder / f"previous-{number}"
    previous.mkdir()
    for path in leftovers:
        path.rename(previous / path.name)
    if begins_at == folder.resolve():
        for path in {path for name in SAVED_MODEL for path in folder.glob(name)}:
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, previous / path.name)
    print(
        f"{folder} held another run, which is now in {previous}. To go on with a run instead, "
        "pass --resume.",
        flush=True,
    )


def _holds(path: Path, other: Path) -> bool:
    return other.is_relative_to(path.resolve())


def explain_missing_model(name: str) -> str | None:
    """Explain where a model is if a folder of this name holds none. None means that one may."""
    folder = Path(name)
    if name.startswith(("/", "./", "../", "~")) and not folder.is_dir():
        return f"there is no folder {name}"
    if any((folder / file).exists() for file in ("config.json", "adapter_config.json")):
        return None
    if not (folder / RUN_FILE).exists():
        return _nearest_models(folder) if folder.is_dir() else None
    if (folder / "model" / "config.json").exists():  # as the quickstart leaves it
        return f"{name} holds a run whose model is in {folder / 'model'}: name that"
    checkpoint = last_checkpoint(folder, check=False)
    instead = "" if checkpoint is None else f"name its last checkpoint, {checkpoint}, or "
    return (
        f"{name} holds a run that has not ended, so there is no model yet; {instead}go on with the "
        "run: its command and `resume`"
    )


def _nearest_models(folder: Path) -> str:
    """Explain that a folder holds no model, with those that lie in its folders."""
    below = sorted(str(path.parent) for path in folder.glob("*/config.json"))
    named = f"; its folders that do: {', '.join(below[:5])}" if below else ""
    return f"the folder {folder} holds no model, for there is no config.json in it{named}"


def write_patiently(path: str | Path, work: Callable[[], Result], *, limit: float) -> Result:
    """Write something, again and again while a disk is full or out of reach.

    Args:
        path: for the message.
        work: writes; after a failure it starts over. Its result is returned.
        limit: seconds that the disk is waited for.

    Raises:
        StorageFailure: the time is over.
    """

    def write() -> Result:
        try:
            return work()
        except (OSError, SafetensorError, RuntimeError) as error:
            if not _is_storage_failure(error):
                raise
            raise StorageFailure(f"{path} cannot be written: {error}") from error

    return retry(write, max_seconds=limit, failures=(StorageFailure,))


def _is_storage_failure(error: Exception) -> bool:
    if isinstance(error, SafetensorError):
        return "os error" in str(error)
    if isinstance(error, OSError):
        return is_storage_failure(error)
    return any(word in str(error) for word in _TORCH_WRITES)


@contextmanager
def holding(folder: str | Path, command: str) -> Iterator[None]:
    """Hold the lock of a folder, until the block or the process ends, however it ends.

    Args:
        folder: the run's; it is made.
        command: the owner, for the message that others get.

    Raises:
        UsageError: another process holds it; the message names it.
    """
    path = Path(folder) / LOCK_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    # A soft lock would outlive a process that is killed.
    # Imported here: commands that only read runs do without the train extra.
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=0, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(
            f"{path.parent} is held by {_owner(path)}; wait until it has ended, or choose another "
            "folder"
        ) from None
    try:
        _write_owner(path, command)
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def _write_owner(path: Path, command: str) -> None:
    owner = {
        "command": command,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        path.write_text(json.dumps(owner), encoding="utf-8")  # in place: the file is the lock
    except OSError as error:  # a full disk names no file
        raise OSError(error.errno, error.strerror, str(path)) from error


def _owner(path: Path) -> str:
    try:
        owner = json.loads(path.read_text(encoding="utf-8"))
        return (
            f"`agentgym {owner['command']}` (process {owner['pid']} on {owner['host']}, since "
            f"{owner['since']})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
