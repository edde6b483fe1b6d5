"""What lies under a folder: which files may hold episodes, and which run each belongs to.

Knows the layouts of training runs, sweeps and evaluations; opens no file of episodes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import CELL_FILE, CELLS
from trainers.runs.curve import read_metrics

METRICS = "metrics.jsonl"
SHOWN_METRICS = {
    "success": "episodes/success",
    "score": "episodes/score",
    "turns": "episodes/turns",
    "invalid": "episodes/invalid_actions",
    "horizon": "horizon",
    "validation": "eval_success",
    "low": "eval_success_low",
    "high": "eval_success_high",
    "loss": "loss",
}
"""What the learning curve is drawn from, by the names that the page knows."""
_PASSED_OVER = re.compile(r"\.|checkpoint-\d+$|__pycache__$")
_RANK = re.compile(r"_rank\d+$")


@dataclass(frozen=True)
class Run:
    """Something that was played as a whole: a training run, a sweep's cell, or a file of episodes.

    Attributes:
        name: its path below the root, with `/`; `"."` for the root itself.
        kind: `"training"`, `"cell"` or `"file"`.
        group: the folder it is listed under, by its path below the root: a sweep's for its cells.
        title: what a reader calls it within its group; a cell's policy goes before.
        about: facts worth a line each, by their names.
        folder: where its files are.
        policy: of a cell; empty for others.
        seed: empty where it has none.
        limit: of turns, as a sweep asked for it; empty where none did.
    """

    name: str
    kind: str
    group: str
    title: str
    about: dict[str, str]
    folder: Path = field(compare=False)
    policy: str = ""
    seed: str = ""
    limit: str = ""

    def to_json(self, policies: dict[str, str]) -> dict[str, Any]:
        """Return what the page shows of it; `policies` are the short names of policies."""
        return {
            "name": self.name,
            "kind": self.kind,
            "group": self.group,
            "title": f"{policies[self.policy]} · {self.title}" if self.policy else self.title,
            "about": self.about,
            "seed": self.seed,
            "limit": self.limit,
        }


@dataclass(frozen=True)
class EpisodeFile:
    """A file that may hold episodes.

    Attributes:
        path: where it is.
        name: its path below the root, with `/`.
        run: what it belongs to.
        phase: tells apart what a run played in one go, such as `"train_000010"`; the processes of
            one run and the batches of one cell share theirs.
    """

    path: Path
    name: str
    run: Run
    phase: str


@dataclass(frozen=True)
class Places:
    """What there is to read: `runs`, and their `files` in a fixed order."""

    runs: list[Run]
    files: list[EpisodeFile]


def find_places(root: Path) -> Places:
    """List the runs and files under a folder; or those of a single file.

    Links that lead out of the folder are not followed.
    """
    if root.is_file():
        run = _file_run(root.name, root.parent)
        return Places([run], [EpisodeFile(root, root.name, run, "")])
    runs: dict[str, Run] = {}
    files = []
    for path in _candidates(root):
        run, phase = _owner(path, root, runs)
        runs.setdefault(run.name, run)
        if path.name != METRICS:
            files.append(EpisodeFile(path, path.relative_to(root).as_posix(), run, phase))
    return Places(list(runs.values()), files)


def curve_of(run: Run) -> list[dict[str, float]]:
    """Return what a training run logged at each step, under the names of `SHOWN_METRICS`."""
    if run.kind != "training":
        return []
    found = []
    for entry in read_metrics(run.folder):
        values = {
            short: entry[name]
            for short, name in SHOWN_METRICS.items()
            if isinstance(entry.get(name), int | float)
        }
        if values:
            found.append({"step": entry["global_step"], **values})
    return found


def _candidates(root: Path) -> Iterator[Path]:
    home = root.resolve()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _PASSED_OVER.match(name))
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith(".jsonl") and path.resolve().is_relative_to(home):
                yield path


def _owner(path: Path, root: Path, known: dict[str, Run]) -> tuple[Run, str]:
    """Return the run that a file belongs to, and the file's phase in it."""
    folder = path.parent
    if path.name == METRICS:
        return _known(known, folder, root, _training_run), ""
    above = folder.parent
    if folder.name == "trajectories" and folder != root and _is_training(above):
        return _known(known, above, root, _training_run), _RANK.sub("", path.stem)
    if (folder / CELL_FILE).is_file():
        return _known(known, folder, root, _cell_run), ""
    name = path.relative_to(root).as_posix()
    return known.get(name) or _file_run(name, folder), ""


def _known(known: dict[str, Run], folder: Path, root: Path, make: Any) -> Run:
    name = folder.relative_to(root).as_posix()
    run: Run = known.get(name) or make(name, folder, root)
    return run


def _is_training(folder: Path) -> bool:
    return (folder / "run.json").is_file() or (folder / METRICS).is_file()


def _file_run(name: str, folder: Path) -> Run:
    group, _, own = name.rpartition("/")
    return Run(name, "file", group, own.removesuffix(".jsonl"), {}, folder)


def _cell_run(name: str, folder: Path, root: Path) -> Run:
    cell = Cell.from_json(_read_json(folder / CELL_FILE))
    turns = "its own turn limit" if cell.max_turns is None else f"{cell.max_turns} turns"
    about = {
        "policy": cell.policy,
        "environment": f"{cell.scenario}, {cell.split}",
        "turn limit": turns,
        "seed": str(cell.seed),
        "asked": f"{len(cell.tasks)} tasks x {cell.samples}, temperature {cell.temperature:g}",
    }
    parts = [cell.scenario, *([] if cell.max_turns is None else [turns]), f"seed {cell.seed}"]
    return Run(
        name,
        "cell",
        _sweep_of(name),
        " · ".join(parts),
        about,
        folder,
        policy=cell.policy,
        seed=str(cell.seed),
        limit=turns,
    )


def _sweep_of(name: str) -> str:
    """Return the path of the sweep that a cell's folder lies in; empty for the root's."""
    return f"/{name}".rpartition(f"/{CELLS}/")[0].removeprefix("/")


def _training_run(name: str, folder: Path, root: Path) -> Run:
    record = _read_json(folder / "run.json")
    played = ", ".join(record.get("EnvArguments", {}).get("env", []))
    seed = str(record.get("seed", ""))
    about = {
        "command": str(record.get("command_line") or record.get("command", "")),
        "environment": played,
        "seed": seed,
        "started": str(record.get("started", "")),
        "commit": str(record.get("git") or ""),
        **_summary(_read_json(folder / "summary.json")),
    }
    told = {key: value for key, value in about.items() if value}
    group, _, own = name.rpartition("/")
    title = root.resolve().name if name == "." else own
    return Run(name, "training", group, title, told, folder, seed=seed)


def _summary(record: dict[str, Any]) -> dict[str, str]:
    """Return what the quickstart measured before and after, in words."""
    if not {"success_before", "success_after", "ci95_gain", "n_tasks"} <= set(record):
        return {}
    before, after = record["success_before"], record["success_after"]
    low, high = record["ci95_gain"]
    told = f"{before:.1%} before, {after:.1%} after training, on {record['n_tasks']} held-out tasks"
    return {"success": f"{told} (gain {low:+.1%} to {high:+.1%}, 95%)"}


def _read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; empty where the file is not there."""
    if not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path} is not a JSON object ({error}); remove or repair it") from error
