"""Callbacks that write a run's folder: `run.json`, metrics and the learning curve."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from importlib import metadata
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from agentgym_envs.files import append_whole, is_storage_failure
from agentgym_envs.secrets import masked, masked_words
from trainers.runs.curve import draw_run_curve
from trainers.runs.folder import (
    METRICS_FILE,
    RUN_FILE,
    read_metrics,
    read_run,
    write_json,
    write_metrics,
)
from trainers.runs.health import HealthWarnings
from trainers.runs.stopping import SkipNonFinite
from wrappers.failures import persist

logger = logging.getLogger(__name__)

PACKAGES = ("agentgym-envs", "gymnasium", "numpy", "torch", "transformers", "trl", "peft", "vllm")


def write_run(
    folder: str | Path,
    *,
    command: str,
    seed: int,
    configs: Sequence[Any],
    further: dict[str, Any] | None = None,
) -> None:
    """Write `run.json`: what was run, with which options and versions, from which commit, on what.

    Args:
        folder: the run's folder.
        command: the command's name, such as `"train grpo"`.
        seed: the run's seed.
        configs: dataclasses, stored under their class names.
        further: entries to add.
    """
    record = {**run_record(command=command, seed=seed, configs=configs), **(further or {})}
    write_json(Path(folder) / RUN_FILE, record)


def run_record(*, command: str, seed: int, configs: Sequence[Any]) -> dict[str, Any]:
    """Return what `write_run` writes, as JSON values without secrets."""
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
        **{type(config).__name__: _json_values(config) for config in configs},
    }
    return dict(masked(json.loads(json.dumps(record, default=str))))


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
        "threads": torch.get_num_threads(),
        "processes": int(os.environ.get("WORLD_SIZE", "1")),
    }
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        return {**device, "accelerators": names}
    if torch.accelerator.is_available():
        return {**device, "accelerators": [str(torch.accelerator.current_accelerator())]}
    return device


def _json_values(config: Any) -> dict[str, Any]:
    if hasattr(config, "to_dict"):  # TrainingArguments: it hides tokens
        return dict(config.to_dict())
    if is_dataclass(config) and not isinstance(config, type):
        return asdict(config)
    raise TypeError(f"expected a dataclass, got {config!r:.80}")


class MetricsFile(TrainerCallback):  # type: ignore[misc]
    """Appends every log entry to `metrics.jsonl`; a resumed run continues where it left off.

    Numbers that are not finite become null.

    Args:
        folder: the run's folder.
        max_outage: seconds that a full or unreachable disk is waited for.
    """

    def __init__(self, folder: str | Path, *, max_outage: float = 0.0) -> None:
        self._folder = Path(folder)
        self._max_outage = max_outage

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Drop entries of steps that will be taken again."""
        if not state.is_world_process_zero:
            return
        entries = read_metrics(self._folder) if state.global_step else []
        earlier = [entry for entry in entries if entry["global_step"] <= state.global_step]
        write_metrics(self._folder, earlier)

    def on_log(
        self,
        args: Any,
        state: Any,
        control: Any,
        logs: dict[str, Any] | None = None,
        **_kwargs: Any,
    ) -> None:
        """Append one entry."""
        if not state.is_world_process_zero or logs is None:
            return
        entry = {"global_step": state.global_step, **logs}
        entry = {
            k: None if isinstance(v, float) and not isfinite(v) else v for k, v in entry.items()
        }
        line = (json.dumps(entry, default=float) + "\n").encode()
        persist(
            lambda: append_whole(self._folder / METRICS_FILE, line),
            limit=self._max_outage,
            failures=(OSError,),
        )


class LearningCurve(TrainerCallback):  # type: ignore[misc]
    """Draws `learning_curve.png` with every checkpoint and at the end.

    Args:
        folder: the run's folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._can_draw = importlib.util.find_spec("matplotlib") is not None
        if not self._can_draw:
            logger.warning("no learning curve is drawn without: pip install matplotlib")

    def on_save(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Draw what there is so far."""
        if self._can_draw and state.is_world_process_zero:
            try:
                draw_run_curve(self._folder)
            except OSError as error:  # the next checkpoint draws it again
                if not is_storage_failure(error):
                    raise
                logger.warning("the learning curve is not drawn: %s", error)

    def on_train_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Draw the whole run."""
        self.on_save(args, state, control)


class RunFile(TrainerCallback):  # type: ignore[misc]
    """Writes `run.json` for a trainer that is used from Python, where no command has written it.

    Args:
        folder: the run's folder.
        configs: dataclasses to store besides the training options.
    """

    def __init__(self, folder: str | Path, configs: Sequence[Any]) -> None:
        self._folder = folder
        self._configs = configs

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Write it, unless this process has."""
        if state.is_world_process_zero and read_run(self._folder).get("pid") != os.getpid():
            name = Path(sys.argv[0]).name
            write_run(self._folder, command=name, seed=args.seed, configs=[*self._configs, args])


def keep_records(trainer: Any, *, configs: Sequence[Any] = ()) -> None:
    """Add the callbacks that write a run's files (`docs/training/runs.md`) and log warnings.

    Args:
        trainer: a `trainers.trl_bridge.saving.SavingMixin`.
        configs: dataclasses that `run.json` keeps besides the training options.
    """
    folder = trainer.args.output_dir
    # The order matters: what is skipped is counted before the entry is written, and then drawn.
    for callback in (
        RunFile(folder, configs),
        SkipNonFinite(),
        HealthWarnings(),
        MetricsFile(folder, max_outage=trainer.max_outage),
        LearningCurve(folder),
    ):
        trainer.add_callback(callback)


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
