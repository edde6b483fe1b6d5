"""Finds training runs, sweeps' cells and lone files of episodes under a folder.

Opens no file of episodes itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentgym_envs.content.files import COMPRESSED
from trainers.runs.checkpoints import CHECKPOINT
from trainers.runs.folder import (
    CELL_FILE,
    EPISODES,
    METRICS_FILE,
    RUN_FILE,
    TRAJECTORIES,
    read_json,
)

_PASSED_OVER = re.compile(rf"\.|{CHECKPOINT}\d+$|__pycache__$")
_RANK = re.compile(r"_rank\d+$")
_EARLIER_RUN = re.compile(r"previous-\d+")


@dataclass(frozen=True)
class RunFolder:
    """A training run, a sweep's cell, or a lone file of episodes.

    Attributes:
        path: its folder; of a lone file of episodes, the file.
        kind: `"training"`, `"cell"` or `"file"`.
        files: the files that may hold its episodes, in order.
    """

    path: Path
    kind: Literal["training", "cell", "file"]
    files: list[Path] = field(default_factory=list, compare=False)

    @property
    def record(self) -> dict[str, Any]:
        """Its `run.json` or `cell.json`, empty where there is none."""
        names = {"training": RUN_FILE, "cell": CELL_FILE}
        return read_json(self.path / names[self.kind]) if self.kind in names else {}

    def phase(self, file: Path) -> str:
        """Return the name of one batch of a run's episodes, such as `"train_000010"`.

        The processes of one run and the batches of one cell share theirs.
        """
        return _RANK.sub("", without_endings(file.name)) if self.kind == "training" else ""


def find_runs(root: Path, also: Callable[[Path], bool] | None = None) -> list[RunFolder]:
    """List the runs under a folder in a fixed order, or that of a single file.

    Hidden folders and checkpoints are passed over.

    Args:
        root: the folder or file.
        also: whether a file that is not named as one of episodes is one.
    """
    if root.is_file():
        return [RunFolder(root, "file", [root])]
    runs: dict[Path, RunFolder] = {}
    for path in _candidates(root, also):
        owner = _owner(path, root)
        run = runs.setdefault(owner.path, owner)
        if path.name != METRICS_FILE:
            run.files.append(path)
    return list(runs.values())


def is_set_aside(path: Path, root: Path) -> bool:
    """Return whether a file is of an earlier run, which a later one in its folder moved aside."""
    above = path.parent.relative_to(root).parts if path != root else ()
    return any(map(_EARLIER_RUN.fullmatch, above))


def nearest_record(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the record of the run whose episodes lie in a folder, and the record's file name.

    It is the folder's own or that of the folder above; both are empty where there is none.
    """
    for place in (folder, folder.parent):
        for name in (CELL_FILE, RUN_FILE):
            if (place / name).is_file():
                return name, read_json(place / name)
    return "", {}


def without_endings(name: str) -> str:
    """Return the name of a file of episodes without `.jsonl` and `.gz`."""
    return name.removesuffix(COMPRESSED).removesuffix(EPISODES)


def _candidates(root: Path, also: Callable[[Path], bool] | None) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _PASSED_OVER.match(name))
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith((EPISODES, EPISODES + COMPRESSED)) or (also and also(path)):
                yield path


def _owner(path: Path, root: Path) -> RunFolder:
    """Return the run that a file belongs to."""
    folder = path.parent
    if path.name == METRICS_FILE:
        return RunFolder(folder, "training")
    if folder.name == TRAJECTORIES and folder != root and _is_training(folder.parent):
        return RunFolder(folder.parent, "training")
    if (folder / CELL_FILE).is_file():
        return RunFolder(folder, "cell")
    return RunFolder(path, "file")


def _is_training(folder: Path) -> bool:
    return (folder / RUN_FILE).is_file() or (folder / METRICS_FILE).is_file()
