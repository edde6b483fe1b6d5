"""A run's folder: the names of its files, how they are written, and what an earlier run left.

    DIR/run.json                  the command, its options and versions
    DIR/metrics.jsonl             one log entry a line
    DIR/trajectories/*.jsonl      episodes, compressed ones as *.jsonl.gz
    DIR/learning_curve.png        drawn from the metrics
    DIR/checkpoint-N/             what training goes on from
    DIR/summary.json              of a quickstart: success before and after

Imports no torch, so that every command can afford it. `trainers.runs.reader` finds such folders.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.files import write_whole

RUN_FILE = "run.json"
METRICS_FILE = "metrics.jsonl"
CURVE_FILE = "learning_curve.png"
SUMMARY_FILE = "summary.json"
CELL_FILE = "cell.json"
"""What a sweep's cell plays."""
TRAJECTORIES = "trajectories"
EPISODES = ".jsonl"
"""The end of the names of files of episodes, before a `.gz`."""
CHECKPOINT = "checkpoint-"
"""The beginning of checkpoints' names, before their step."""

RUN_ARTIFACTS = (
    *(RUN_FILE, METRICS_FILE, CURVE_FILE, TRAJECTORIES, f"{CHECKPOINT}*"),
    *("completions", "round_*"),
)
SAVED_MODEL = (
    *("config.json", "generation_config.json", "*.safetensors", "*.safetensors.index.json"),
    *("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt"),
    *("chat_template*", "adapter_config.json", "adapter", "critic", "training_args.bin"),
    "README.md",
)
"""A model as Hugging Face's libraries save it, and TRL's card."""

RENAMED_METRICS = {
    "groups/without_signal": "frac_reward_zero_std",
    "sampling/logprob_gap_mean": "sampling/sampling_logp_difference/mean",
    "sampling/logprob_gap_max": "sampling/sampling_logp_difference/max",
}
"""Today's names of metrics that runs logged under others before."""

MASK = "***"
_CREDENTIALS = re.compile(r"""://[^/@\s"'\\]+@""")
_SECRET = r"(?:[\w-]*[_-])?(?:(?:api)?key|token|passw(?:or)?d|secret|credentials?|authorization)"
_IN_QUERY = re.compile(rf"""([?&]{_SECRET}=)[^&\s"'\\]+""", re.IGNORECASE)
_IN_JSON = re.compile(rf"""("{_SECRET}"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|[-\d.]+)""", re.IGNORECASE)
_IS_SECRET = re.compile(_SECRET, re.IGNORECASE)
_KEYWORDS = "kwargs"
"""The end of the names of options that hold keyword arguments, such as `env_kwargs`."""


def without_secrets(value: Any, *, in_kwargs: bool = False) -> Any:
    """Return JSON values with `***` for credentials; masked values stay as they are.

    Masked are credentials and secret-looking parameters in addresses, and in keyword arguments
    (`env_kwargs`, as an object or as text) what is named like a key, token or password.

    Args:
        value: what is to be written or shown.
        in_kwargs: it is part of keyword arguments.
    """
    if isinstance(value, str):
        value = _IN_QUERY.sub(rf"\g<1>{MASK}", _CREDENTIALS.sub(f"://{MASK}@", value))
        return _IN_JSON.sub(rf'\g<1>"{MASK}"', value)
    if isinstance(value, Mapping):
        return {
            name: MASK
            if in_kwargs
            and _IS_SECRET.fullmatch(name)
            and isinstance(part, str | int | float)
            and not isinstance(part, bool)
            else without_secrets(part, in_kwargs=in_kwargs or name.endswith(_KEYWORDS))
            for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_secrets(part, in_kwargs=in_kwargs) for part in value]
    return value


def write_json(path: str | Path, record: Any) -> None:
    """Write a record of a run or a sweep, without secrets."""
    # There and back: what a key holds may be of any class, which only JSON makes a text.
    plain = json.loads(json.dumps(record, default=str))
    write_whole(path, json.dumps(without_secrets(plain), indent=2) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Return a JSON object; empty where the file is not there.

    Raises:
        ValueError: the file holds something else.
    """
    try:
        return dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a JSON object ({error}); remove or repair it") from error


def read_run(folder: str | Path) -> dict[str, Any]:
    """Return a run's `run.json`; empty where there is none."""
    return read_json(Path(folder) / RUN_FILE)


def read_metrics(folder: str | Path) -> list[dict[str, Any]]:
    """Return the log entries of a run, in order, under today's names.

    A last line that a killed run left unfinished is passed over.
    """
    path = Path(folder) / METRICS_FILE
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    entries = [json.loads(line) for line in lines if line.endswith("}\n")]
    for entry in entries:
        for old, name in RENAMED_METRICS.items():
            if old in entry:
                entry[name] = entry.pop(old)
    return entries


def write_metrics(folder: str | Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Write the log entries of a run in place of those that are there."""
    text = "".join(json.dumps(entry, default=float) + "\n" for entry in entries)
    write_whole(Path(folder) / METRICS_FILE, text)


def checkpoints(folder: Path) -> dict[int, Path]:
    """Return the checkpoints of a run by their step, in order, whole or not."""
    paths = {path.name.removeprefix(CHECKPOINT): path for path in folder.glob(f"{CHECKPOINT}*")}
    return {int(step): paths[step] for step in sorted(filter(str.isdecimal, paths), key=int)}


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last checkpoint that was written to its end; None where there is none."""
    for step, path in reversed(checkpoints(folder).items()):
        try:
            # The trainer writes this file last.
            state = json.loads((path / "trainer_state.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            print(f"{path} was not written to its end and is passed over", flush=True)
            continue
        if state["global_step"] == step:
            return path
    return None


def set_aside(folder: Path, *, start: str | None = None) -> None:
    """Move what an earlier run left in a folder into `previous-N` in it, and say so.

    Args:
        folder: where the run is to be.
        start: the model that it starts from; one that lies in this folder stays where it is.
    """
    if not (folder / RUN_FILE).exists():
        return
    begins_at = None if start is None else Path(start).resolve()
    names = RUN_ARTIFACTS if begins_at == folder.resolve() else (*RUN_ARTIFACTS, *SAVED_MODEL)
    artifacts = sorted({path for name in names for path in folder.glob(name)})
    leftovers = [path for path in artifacts if begins_at is None or not _holds(path, begins_at)]
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


def explain_missing_model(name: str) -> str | None:
    """Explain where a run's model is if its folder holds none; None for anything else."""
    folder = Path(name)
    is_run = (folder / RUN_FILE).exists()
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
