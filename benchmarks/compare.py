"""`agentgym compare`: two policies on the same tasks, from whatever their episodes were kept in.

Knows folders and files of episodes; the statistics are `benchmarks.report.metrics`'. A side is one
policy at one optimizer step: where a folder holds more, the reader chooses, and nothing is pooled.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from agentgym_envs.registry import short_env_name
from agentgym_envs.trajectory import Trajectory, read_jsonl
from benchmarks.listing import table
from benchmarks.report.metrics import Tally, paired
from benchmarks.report.tables import points

ALL = "all"
_MOST_STEPS = 8
_EARLIER_RUN = re.compile(r"previous-\d+")
"""Where a run that starts anew in a folder puts what an earlier one left there."""

Value = TypeVar("Value")


class Origin(NamedTuple):
    """Where an episode is from: what tells a side's policies apart."""

    env_id: str
    policy: str
    global_step: int
    split: str


@dataclass(frozen=True)
class Choice:
    """Which of a side's episodes are meant.

    Attributes:
        policy: those of this policy; None takes any.
        global_step: those played at this optimizer step; None takes any.
        split: those on tasks of this split; None takes any.
    """

    policy: str | None = None
    global_step: int | None = None
    split: str | None = None

    def takes(self, origin: Origin) -> bool:
        """Tell whether an episode is among them."""
        return (
            self.policy in (None, origin.policy)
            and self.global_step in (None, origin.global_step)
            and self.split in (None, origin.split)
        )

    def __str__(self) -> str:
        named = (("policy", self.policy), ("step", self.global_step), ("split", self.split))
        return ", ".join(f"{name} {value}" for name, value in named if value is not None)


EVERYTHING = Choice()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        policies = _for_two_sides("--policy", options.policy)
        steps = _for_two_sides("--step", options.step)
        choices = [Choice(policies[side], steps[side], options.split) for side in (0, 1)]
        first = tallies(options.first, choices[0])
        second = tallies(options.second, choices[1])
        names = _named(options.first, choices[0]), _named(options.second, choices[1])
        print(comparison(first, second, names=names))
    except ValueError as error:
        parser.error(str(error))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentgym compare",
        description="Compare two sets of episodes task by task: cells of a sweep, runs that kept "
        "trajectories, or JSONL files of episodes. Each side is one policy at one optimizer step "
        "and, in each environment, on one split; where a folder holds more, it is listed, and "
        "--policy, --step and --split choose. Earlier runs in previous-N are passed over.",
        epilog="examples: agentgym compare runs/sweep/cells/random runs/sweep/cells/expert; "
        "agentgym compare runs/grpo runs/grpo --split validation --step 0 --step 200",
    )
    parser.add_argument("first", help="folder or JSONL file")
    parser.add_argument("second", help="folder or JSONL file")
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="only this policy's episodes; given twice: the first's, then the second's",
    )
    parser.add_argument(
        "--step",
        action="append",
        type=int,
        metavar="N",
        help="only episodes played at this optimizer step; given twice: the first's, then "
        "the second's",
    )
    parser.add_argument(
        "--split", metavar="NAME", help="only episodes of this split, on both sides"
    )
    return parser


def _for_two_sides(option: str, given: Sequence[Value] | None) -> tuple[Value | None, Value | None]:
    """Return an option's value for the first and the second side."""
    if not given:
        return None, None
    if len(given) > 2:
        raise ValueError(
            f"{option} is given once for both sides or twice, for the first and the second; got "
            f"it {len(given)} times"
        )
    return given[0], given[-1]


def _named(path: str, choice: Choice) -> str:
    return path if choice == EVERYTHING else f"{path} ({choice})"


def tallies(path: str | Path, choice: Choice = EVERYTHING) -> dict[str, Tally]:
    """Sum up the episodes under a path: in all, by scenario and by subtask.

    Failed episodes are passed over.

    Args:
        path: a JSONL file, or a folder with such files anywhere below.
        choice: which episodes.

    Raises:
        ValueError: there are no such episodes, or they are of more than one policy.
    """
    found: dict[str, Tally] = {}
    there: Counter[Origin] = Counter()
    for episode in _episodes(Path(path)):
        origin = Origin(episode.env_id, episode.policy, episode.global_step, episode.split)
        there[origin] += 1
        if choice.takes(origin):
            scenario = short_env_name(episode.env_id)
            for name in (ALL, scenario, f"{scenario}: {episode.subtask}"):
                found.setdefault(name, Tally()).add(episode)
    if not there:
        raise ValueError(f"{path} holds no episodes that have a score")
    if not found:
        raise ValueError(f"{path} holds no episodes of {choice}, but these:\n\n{_listed(there)}")
    _check_one_policy(path, {origin: n for origin, n in there.items() if choice.takes(origin)})
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
        raise ValueError(
            "the two share no task (environment, source and id), so they cannot be compared\n"
            f"first:  {names[0]}: {_places(first)}\nsecond: {names[1]}: {_places(second)}"
        )
    return f"first:  {names[0]}\nsecond: {names[1]}\n\n{table(rows)}"


def _episodes(path: Path) -> Iterator[Trajectory]:
    """Yield the episodes under a path that did not fail, file by file."""
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}")
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    for file in files:
        above = file.relative_to(path).parent.parts
        if file.name == "metrics.jsonl" or any(map(_EARLIER_RUN.fullmatch, above)):
            continue
        for episode in read_jsonl(file):
            # One that failed at its start does not even know its split; none enters a number.
            if episode.status != "failed":
                yield episode


def _check_one_policy(path: str | Path, there: Mapping[Origin, int]) -> None:
    """Refuse what would be pooled though it was not played by one policy.

    Raises:
        ValueError: there are several policies, optimizer steps, or splits of one environment.
    """
    options = []
    if len({origin.policy for origin in there}) > 1:
        options.append("--policy NAME")
    if len({origin.global_step for origin in there}) > 1:
        options.append("--step N")
    # A suite's panels are of differently named splits, one in each environment.
    if len({(origin.env_id, origin.split) for origin in there}) > len({o.env_id for o in there}):
        options.append("--split NAME")
    if options:
        raise ValueError(
            f"{path} holds more than one policy, optimizer step or split:\n\n{_listed(there)}\n\n"
            f"choose with {' and '.join(options)}, or name one file or folder of them; --policy "
            "and --step given twice are for the first side and for the second"
        )


def _listed(there: Mapping[Origin, int]) -> str:
    """Return a table of what a side holds: a row for each policy on each split."""
    steps: dict[tuple[str, str], set[int]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for origin, count in there.items():
        steps.setdefault((origin.policy, origin.split), set()).add(origin.global_step)
        counts[origin.policy, origin.split] += count
    rows = [("policy", "split", "episodes", "steps")]
    for (policy, split), number in sorted(counts.items()):
        rows.append((policy or '""', split or '""', str(number), _told(steps[policy, split])))
    return table(rows)


def _told(steps: Collection[int]) -> str:
    """Write optimizer steps down: all of a few, the first and the last of many."""
    known = [str(step) for step in sorted(steps)]
    if len(known) <= _MOST_STEPS:
        return ", ".join(known)
    return f"{', '.join(known[: _MOST_STEPS - 2])} ... {known[-1]} ({len(known)} steps)"


def _places(found: Mapping[str, Tally]) -> str:
    """Say how many tasks of which environment and source a side played."""
    counts = Counter((env_id, source) for env_id, source, _ in found[ALL].successes)
    return "; ".join(
        f"{count} tasks of {env_id} on {source or 'no named source'}"
        for (env_id, source), count in counts.items()
    )


if __name__ == "__main__":
    sys.exit(main())
