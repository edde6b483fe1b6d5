"""The record of a run: command, options, seed, versions, commit and machine.

It holds no secrets. Imports no torch, so that every command can afford it.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from agentgym_envs.machinery.secrets import masked, masked_words
from trainers.options.errors import UsageError
from trainers.runs.folder import RUN_FILE, read_run, set_aside, write_json

IGNORED_IN_DIFF = {
    *("argv", "command_line", "started", "pid", "seed", "resumed", "device", "ended"),
    *("output_dir", "logging_dir", "run_name", "resume_from_checkpoint", "local_rank"),
}
"""Entries of `run.json` that may differ between the parts of one run.

Its config has the seed.
"""

PACKAGES = ("agentgym-envs", "gymnasium", "numpy", "torch", "transformers", "trl", "peft", "vllm")


def write_run(
    folder: str | Path,
    *,
    command: str,
    seed: int,
    configs: Sequence[Any],
    further: dict[str, Any] | None = None,
) -> None:
    """Write the `run.json` of `run_record`, with `further` entries."""
    record = {**run_record(command=command, seed=seed, configs=configs), **(further or {})}
    write_json(Path(folder) / RUN_FILE, record)


def begin_run(
    folder: str | Path,
    *,
    command: str,
    seed: int,
    configs: Sequence[Any],
    at_step: int | None,
    start: str | None,
    keep: Collection[str] = (),
) -> None:
    """Record a run, and make room for a new one or print the changes in one that goes on.

    Args:
        folder: the run's folder.
        command: the command's name, such as `"train grpo"`.
        seed: the run's seed.
        configs: dataclasses, stored under their class names.
        at_step: the step that a run goes on from; None for a new one.
        start: the model that a new one starts from.
        keep: names in the folder that are the new run's.

    Raises:
        UsageError: the folder holds another command's run, which cannot go on.
    """
    further = {}
    if at_step is None:
        set_aside(Path(folder), start=start, keep=keep)
    else:
        further = resumption(folder, at_step, command=command, configs=configs)
    write_run(folder, command=command, seed=seed, configs=configs, further=further)


def run_record(*, command: str, seed: int, configs: Sequence[Any]) -> dict[str, Any]:
    """Return the record of `write_run`, as JSON values without secrets."""
    record = {
        "command": command,
        # Masked before they are quoted: within quotes of quotes no secret is recognised.
        "argv": masked_words(sys.argv)[1:],
        "command_line": shlex.join(masked_words(sys.argv)),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "pid": os.getpid(),
        "seed": seed,
        "git": checkout_commit(),
        "device": _device(),
        "versions": {"python": platform.python_version(), **_versions()},
        **options_by_group(configs),
    }
    return _plain(record)


def changed_options(before: dict[str, Any], now: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the differences of two `run.json`, as option -> [before, now]."""
    changed: dict[str, list[Any]] = {}
    for group in sorted(set(before) | set(now)):
        one, other = before.get(group), now.get(group)
        if group in IGNORED_IN_DIFF or one == other:
            continue
        if not (isinstance(one, dict) and isinstance(other, dict)):
            changed[group] = [one, other]
            continue
        for name in sorted((set(one) | set(other)) - IGNORED_IN_DIFF):
            if one.get(name) != other.get(name):
                changed[f"{group}.{name}"] = [one.get(name), other.get(name)]
    return changed


def resumption(
    folder: str | Path, step: int, *, command: str, configs: Sequence[Any]
) -> dict[str, Any]:
    """Print the differences from the resumed run, and return the entries of its new record.

    Raises:
        UsageError: the folder holds another algorithm's run.
    """
    before = read_run(folder)
    now = run_record(command=command, seed=0, configs=configs)
    commands = [name for name in (before.get("command", command), command) if _is_ours(name)]
    # A script may have another name; its training options say which algorithm it is.
    option_classes = [name for name in map(_training_options, (before, now)) if name is not None]
    for names in (commands, option_classes):
        one, other = names[:1], names[1:]
        if other and one != other:
            raise UsageError(
                f"{folder} holds a run of {one[0]!r}, which {other[0]!r} cannot resume; choose "
                "another `output_dir`, or leave `resume` out to set that run aside"
            )
    changed = changed_options(before, now) if before else {}
    if changed:
        lines = [f"  {name}: {old} -> {new}" for name, (old, new) in changed.items()]
        print("not as in the run that is resumed:\n" + "\n".join(lines), flush=True)
    resumed = {"at_step": step, "started": now["started"], "changed": changed}
    return {
        "started": before.get("started", now["started"]),
        "resumed": [*before.get("resumed", []), resumed],
    }


def _is_ours(command: str) -> bool:
    return command.startswith(("train ", "quickstart"))


def _training_options(record: dict[str, Any]) -> str | None:
    """Return the class of a run's training options, such as `AgentGRPOConfig`."""
    groups = (name for name, group in record.items() if isinstance(group, dict))
    return next((name for name in groups if "learning_rate" in record[name]), None)


def options_by_group(configs: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Return the options of dataclasses under their class names, as JSON values without secrets."""
    return _plain({type(config).__name__: _options(config) for config in configs})


def _plain(values: Any) -> dict[str, Any]:
    return dict(masked(json.loads(json.dumps(values, default=str))))


def _versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _device() -> dict[str, Any]:
    device = {
        "machine": platform.platform(),
        "cpus": os.cpu_count(),
        "processes": int(os.environ.get("WORLD_SIZE", "1")),
    }
    torch = sys.modules.get("torch")  # what plays without it has no threads or devices of its own
    if torch is None:
        return device
    device["threads"] = torch.get_num_threads()
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        return {**device, "accelerators": names}
    if torch.accelerator.is_available():
        return {**device, "accelerators": [str(torch.accelerator.current_accelerator())]}
    return device


def _options(config: Any) -> dict[str, Any]:
    if hasattr(config, "to_dict"):  # TrainingArguments: the class's own hides tokens
        return dict(type(config).to_dict(config))
    if is_dataclass(config) and not isinstance(config, type):
        return asdict(config)
    raise TypeError(f"expected a dataclass, got {config!r:.80}")


@functools.cache  # what runs is what was imported, whatever becomes of the checkout
def checkout_commit() -> str | None:
    """Return the commit of the checkout this package runs from, or None where it is installed."""

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=Path(__file__).parent,
                capture_output=True,
                text=True,
                check=False,
            )
        except FileNotFoundError:  # no git here
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    # An installed package may lie in somebody else's checkout, which does not hold this file.
    if git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    commit = git("rev-parse", "HEAD")
    return f"{commit} with changes" if git("status", "--porcelain", "-uno") else commit
