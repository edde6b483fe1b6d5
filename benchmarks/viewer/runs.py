"""The runs and files of episodes under a folder, as the page lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym_envs.core.text import counted
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import CELLS
from benchmarks.viewer.entries import may_be_atif
from trainers.runs.folder import METRICS_FILE, SUMMARY_FILE, check_metrics, read_json
from trainers.runs.reader import RunFolder, find_runs, without_endings


@dataclass(frozen=True)
class Run:
    """A training run, a sweep's cell, or a file of episodes.

    Attributes:
        name: its path below the root, with `/`; `"."` for the root itself.
        kind: `"training"`, `"cell"` or `"file"`.
        group: the folder it is listed under, by its path below the root: a sweep's for its cells.
        title: its name within its group; a cell's policy goes before.
        about: facts worth a line each, by their names.
        limit: of turns, as a sweep's option; empty where none was given.
        problem: the unreadable parts of its own files, in words; empty where all can be read.
        has_options: there is a record with its options.
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
    problem: str = ""
    has_options: bool = False

    def to_json(self, policies: dict[str, str]) -> dict[str, Any]:
        """Return the run's JSON values for the page, with short names of `policies`."""
        return {
            "name": self.name,
            "kind": self.kind,
            "group": self.group,
            "title": f"{policies[self.policy]} · {self.title}" if self.policy else self.title,
            "about": {**({"problem": self.problem} if self.problem else {}), **self.about},
            "problem": self.problem,
            "seed": self.seed,
            "limit": self.limit,
            "has_options": self.has_options,
        }


@dataclass(frozen=True)
class EpisodeFile:
    """A file that may hold episodes, by its path below the root.

    `phase` distinguishes the parts of a run, such as `"train_000010"`. The processes of one run and
    the batches of one cell share theirs.
    """

    path: Path
    name: str
    run: Run
    phase: str


@dataclass(frozen=True)
class FolderContent:
    """The runs under a folder, and their files in a fixed order."""

    runs: list[Run]
    files: list[EpisodeFile]


def read_folder(root: Path) -> FolderContent:
    """List the runs and files under a folder, or the run of a single file.

    Links that lead out of the folder are not followed.
    """
    home = root.resolve()
    runs, files = [], []
    for folder in find_runs(root, may_be_atif):
        run = _run_of(folder, root)
        inside = {file: _why_not_read(file, home) for file in folder.files}
        readable = [file for file, problem in inside.items() if problem is None]
        problems = [problem for problem in [run.problem, *inside.values()] if problem]
        if readable or problems or folder.kind == "training":
            run = replace(run, problem="; ".join(problems))
            runs.append(run)
        files += [EpisodeFile(f, _name(f, root), run, folder.phase(f)) for f in readable]
    return FolderContent(runs, files)


def _run_of(source: RunFolder, root: Path) -> Run:
    """Return a run, with unreadable facts left out and named as its problem."""
    try:
        run = _MAKERS[source.kind](source, root)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        name = _name(source.path, root)
        group = _sweep_of(name) if source.kind == "cell" else name.rpartition("/")[0]
        own = source.path.resolve().name
        cause = str(error) if isinstance(error, OSError | ValueError) else repr(error)
        problem = f"its record cannot be read ({cause})"
        run = Run(name, source.kind, group, own, {}, source.path, problem=problem)
    if source.kind != "training":
        return run
    metrics = source.path / METRICS_FILE
    with suppress(OSError):
        stat = metrics.stat()
        problems = [run.problem, *_metrics_problems(source.path, stat.st_size, stat.st_mtime_ns)]
        return replace(run, problem="; ".join(filter(None, problems)))
    return run


@lru_cache(maxsize=1024)
def _metrics_problems(folder: Path, _size: int, _changed: int) -> list[str]:
    """Return the problems of a run's metrics file, read again once the file has changed."""
    return check_metrics(folder)[1]


def _why_not_read(file: Path, home: Path) -> str | None:
    """Return why a file is not read: None where it is, `""` where it is ignored."""
    try:
        if not file.resolve().is_relative_to(home):
            return ""
        if file.is_file():
            return None
        kind = "a link to nothing" if file.is_symlink() else "no regular file"
        return f"{file.name} is {kind}"
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        return f"{file.name} cannot be read ({error})"


def _name(path: Path, root: Path) -> str:
    return path.name if path == root and path.is_file() else path.relative_to(root).as_posix()


def _file_run(source: RunFolder, root: Path) -> Run:
    name = _name(source.path, root)
    group, _, own = name.rpartition("/")
    return Run(name, "file", group, without_endings(own), {}, source.path.parent)


def _cell_run(source: RunFolder, root: Path) -> Run:
    name = _name(source.path, root)
    cell = Cell.from_json(source.record)
    turns = _turn_limit(source, cell)
    about = {
        "policy": cell.policy,
        "environment": f"{cell.scenario}, {cell.split}",
        "turn limit": turns,
        "seed": str(cell.seed),
        "asked": f"{counted(len(cell.tasks), 'task')} x {cell.samples}, "
        f"temperature {cell.temperature:g}",
    }
    limit = [turns.partition(" (")[0]] if turns[0].isdigit() else []
    parts = [cell.scenario, *limit, f"seed {cell.seed}"]
    return Run(
        name,
        "cell",
        _sweep_of(name),
        " · ".join(parts),
        about,
        source.path,
        policy=cell.policy,
        seed=str(cell.seed),
        limit=turns,
        has_options=True,
    )


def _turn_limit(source: RunFolder, cell: Cell) -> str:
    """Return a cell's turn limit in words, the environment's own as its batches note it."""
    if cell.max_turns is not None:
        return f"{cell.max_turns} turns"
    for file in source.files[:1]:
        limit = read_json(file.with_suffix(".json")).get("max_turns")
        if type(limit) is int:
            return f"{limit} turns (its own limit)"
    return "its own turn limit"


def _sweep_of(name: str) -> str:
    """Return the path of a cell's sweep, empty for the root's."""
    return f"/{name}".rpartition(f"/{CELLS}/")[0].removeprefix("/")


def _training_run(source: RunFolder, root: Path) -> Run:
    name, record = _name(source.path, root), source.record
    environments = ", ".join(record.get("EnvArguments", {}).get("env", []))
    seed = str(record.get("seed", ""))
    about = {
        "command": str(record.get("command_line") or record.get("command", "")),
        "environment": environments,
        "seed": seed,
        "started": str(record.get("started", "")),
        "ended": _ended(record.get("ended")),
        "commit": str(record.get("git") or ""),
        **_summary(read_json(source.path / SUMMARY_FILE)),
    }
    known = {key: value for key, value in about.items() if value}
    group, _, own = name.rpartition("/")
    title = root.resolve().name if name == "." else own
    has_options = bool(record)
    return Run(
        name, "training", group, title, known, source.path, seed=seed, has_options=has_options
    )


def _ended(record: Any) -> str:
    """Return when a run's training ended, and after how many steps, in words."""
    if not isinstance(record, dict):
        return ""
    step, weights = record.get("global_step"), record.get("weights_step")
    best = "" if weights == step else f", with the weights of step {weights}"
    return f"{record.get('at')}, after step {step}{best}"


def _summary(record: dict[str, Any]) -> dict[str, str]:
    """Describe the success of a run's weights, or of a quickstart's before and after training."""
    if isinstance(record.get("success_plateau", record.get("success")), float):
        return {"success": _best_weights_success(record)}
    if not {"success_before", "success_after", "ci95_gain", "n_tasks"} <= set(record):
        return {}
    before, after = record["success_before"], record["success_after"]
    low, high = record["ci95_gain"]
    change = (
        f"{before:.1%} before, {after:.1%} after training, on {record['n_tasks']} held-out tasks"
    )
    return {"success": f"{change} (gain {low:+.1%} to {high:+.1%}, 95%)"}


def _best_weights_success(record: dict[str, Any]) -> str:
    """Return a training run's success in words, the least biased number first."""
    parts = []
    if "success" in record:
        fresh = " in fresh episodes" * record["is_fresh"]
        parts.append(f"{record['success']:.1%}{_interval(record['ci95'])}{fresh}")
    if "success_plateau" in record:
        count = record["plateau_evaluations"]
        parts.append(f"plateau {record['success_plateau']:.1%} over the last {count} evaluations")
    if "success_best" in record:
        parts.append(
            f"the best evaluation, which chose the weights, {record['success_best']:.1%} at step "
            f"{record['best_step']}"
        )
    return "; ".join(parts)


def _interval(bounds: Sequence[float | None]) -> str:
    low, high = bounds
    return "" if low is None or high is None else f" ({low:.1%} to {high:.1%})"


_MAKERS: dict[str, Callable[[RunFolder, Path], Run]] = {
    "training": _training_run,
    "cell": _cell_run,
    "file": _file_run,
}
