"""`agentgym compare`: two policies on the same tasks, from whatever their episodes were kept in.

Knows folders and files of episodes; the statistics are `benchmarks.report.metrics`'.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentgym_envs.trajectory import Trajectory, read_jsonl
from benchmarks.listing import table
from benchmarks.report.metrics import Tally, paired
from benchmarks.report.tables import points

ALL = "all"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(
        prog="agentgym compare",
        description="Compare two sets of episodes task by task: sweeps, cells of a sweep, runs "
        "that kept trajectories, or JSONL files of episodes.",
        epilog="example: agentgym compare runs/sweep/cells/random runs/sweep/cells/expert",
    )
    parser.add_argument("first", help="folder or JSONL file")
    parser.add_argument("second", help="folder or JSONL file")
    parser.add_argument("--split", help="only episodes of this split")
    options = parser.parse_args(argv)
    try:
        first = tallies(options.first, split=options.split)
        second = tallies(options.second, split=options.split)
        print(comparison(first, second, names=(options.first, options.second)))
    except ValueError as error:
        parser.error(str(error))
    return 0


def tallies(path: str | Path, *, split: str | None = None) -> dict[str, Tally]:
    """Sum up the episodes under a path: in all, by scenario and by subtask.

    Args:
        path: a JSONL file, or a folder with such files anywhere below.
        split: only episodes of this split.

    Raises:
        ValueError: there are no episodes.
    """
    found: dict[str, Tally] = {}
    for episode in _episodes(Path(path)):
        if split is not None and episode.split != split:
            continue
        scenario = episode.env_id.rpartition("/")[2].rpartition("-v")[0] or episode.env_id
        for name in (ALL, scenario, f"{scenario}: {episode.subtask}"):
            found.setdefault(name, Tally()).add(episode)
    if not found:
        raise ValueError(
            f"{path} holds no episodes" + (f" of split {split!r}" if split is not None else "")
        )
    return found


def comparison(first: dict[str, Tally], second: dict[str, Tally], *, names: tuple[str, str]) -> str:
    """Return the table of what the second gained over the first.

    Raises:
        ValueError: the two share no task.
    """
    rows: list[tuple[str, ...]] = [
        ("", "tasks", "first", "second", "gain of the second (95% interval)", "better", "worse")
    ]
    for name in first:
        if name not in second:
            continue
        theirs, ours = first[name].task_success, second[name].task_success
        found = paired(ours, theirs)
        if found is None:
            continue
        shared = [task for task in theirs if task in ours]
        rows.append(
            (
                name,
                str(found.n_tasks),
                f"{sum(theirs[task] for task in shared) / len(shared):.1%}",
                f"{sum(ours[task] for task in shared) / len(shared):.1%}",
                points(found.gain),
                str(found.better),
                str(found.worse),
            )
        )
    if len(rows) == 1:
        raise ValueError(f"{names[0]} and {names[1]} share no task, so they cannot be compared")
    return f"first:  {names[0]}\nsecond: {names[1]}\n\n{table(rows)}"


def _episodes(path: Path) -> Iterator[Trajectory]:
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}")
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    for file in files:
        if file.name != "metrics.jsonl":
            yield from read_jsonl(file)


if __name__ == "__main__":
    sys.exit(main())
