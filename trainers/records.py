"""What a run leaves in its folder: `run.json`, `metrics.jsonl` and `trajectories/`.

Knows the trainer's public state and trajectories; no tokens, no losses.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from agentgym_envs.trajectory import Trajectory, write_jsonl
from trainers.extras import MISSING_TRAIN_EXTRA

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError(MISSING_TRAIN_EXTRA) from error

PACKAGES = ("agentgym-envs", "gymnasium", "numpy", "torch", "transformers", "trl", "peft")


def write_run(folder: str | Path, *, command: str, seed: int, configs: Sequence[Any]) -> None:
    """Write `run.json`: what was run, with which options and versions.

    Args:
        folder: the run's folder.
        command: the command's name, such as `"train grpo"`.
        seed: the run's seed.
        configs: dataclasses, stored under their class names.
    """
    record = {
        "command": command,
        "argv": sys.argv[1:],
        "seed": seed,
        "versions": {"python": platform.python_version(), **_versions()},
        **{type(config).__name__: _json_values(config) for config in configs},
    }
    path = Path(folder) / "run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8")


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _json_values(config: Any) -> dict[str, Any]:
    if hasattr(config, "to_dict"):  # TrainingArguments: it hides tokens
        return dict(config.to_dict())
    if is_dataclass(config) and not isinstance(config, type):
        return asdict(config)
    raise TypeError(f"expected a dataclass, got {config!r:.80}")


class TrajectoryFiles:
    """Writes `trajectories/<name>_<global_step>.jsonl`; a step that is played again overwrites it.

    Args:
        folder: the run's folder.
        every: write every so many optimizer steps; 0 never writes.
        suffix: told apart where several processes play.
    """

    def __init__(self, folder: str | Path, *, every: int = 1, suffix: str = "") -> None:
        self._folder = Path(folder) / "trajectories"
        self._every = every
        self._suffix = suffix
        self._written: set[Path] = set()

    def write(self, name: str, global_step: int, trajectories: Iterable[Trajectory]) -> None:
        """Write the episodes of a step, if it is one of those that are kept.

        Several batches within a step go into the same file.
        """
        if self._every == 0 or global_step % self._every:
            return
        path = self._folder / f"{name}_{global_step:06d}{self._suffix}.jsonl"
        write_jsonl(path, trajectories, append=path in self._written)
        self._written.add(path)


class MetricsFile(TrainerCallback):  # type: ignore[misc]
    """Appends every log entry to `metrics.jsonl`; a resumed run continues where it left off.

    Args:
        folder: the run's folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self._path = Path(folder) / "metrics.jsonl"

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Drop entries of steps that will be taken again."""
        if not state.is_world_process_zero:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        kept: list[str] = []
        if state.global_step and self._path.exists():
            lines = self._path.read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if json.loads(line)["global_step"] <= state.global_step]
        self._path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")

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
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, default=float) + "\n")
