"""`agentgym compare`: policies on the same tasks, from runs, sweeps or files.

`benchmarks.compare.sides` reads the episodes; `trainers.evaluation.tally` has the statistics.
"""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from agentgym_envs.registration.registry import short_env_name
from benchmarks.cli.listing import table
from benchmarks.compare.sides import AS, EVERYTHING, OWN_LIMIT, Choice, Row, tallies
from benchmarks.recorded import evaluation_of, evaluation_options, saved_options
from benchmarks.report.tables import p_value, points
from trainers.evaluation.intervals import mean_of
from trainers.evaluation.tally import Difference, Tally, p_of, paired
from trainers.options.parser import OptionParser
from trainers.runs.folder import read_json

Value = TypeVar("Value")
_SETTINGS = (
    *("action_format", "actions_per_turn", "max_turns", "max_tokens_per_turn"),
    *("max_tokens_per_episode", "history", "keep_last_turns", "env_kwargs", "wrapper"),
    *("temperature", "top_p", "top_k"),
)
"""Options that change how an episode is played."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        paths = [options.first, *options.others]
        policies = _for_sides("--policy", options.policy, len(paths))
        steps = _for_sides("--step", options.step, len(paths))
        limits = _for_sides("--max-turns", options.max_turns, len(paths))
        choices = [
            Choice(policy, step, options.split, limit)
            for policy, step, limit in zip(policies, steps, limits, strict=True)
        ]
        sides = [tallies(path, choice) for path, choice in zip(paths, choices, strict=True)]
        names = [_named(path, choice) for path, choice in zip(paths, choices, strict=True)]
        tables = [
            comparison(sides[0], side, names=(names[0], name))
            for side, name in zip(sides[1:], names[1:], strict=True)
        ]
        notes = differing([settings_of(Path(path)) for path in paths])
        print("\n\n".join([*tables, *notes]))
    except ValueError as error:
        parser.error(str(error))
    return 0


def settings_of(path: Path) -> dict[str, Any]:
    """Return the options by which a side was played, empty where no record has them."""
    if path.suffix == ".json":
        with contextlib.suppress(ValueError):
            return evaluation_options(read_json(path))
        return {}
    evaluation = evaluation_of(path) if path.is_file() else None
    if evaluation is not None:
        return evaluation_options(evaluation[1])
    return saved_options(path if path.is_dir() else path.parent)


def differing(sides: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a note for each setting that all sides record and that is not the same."""
    notes = []
    for name in _SETTINGS:
        values = [side[name] for side in sides if name in side]
        if len(values) == len(sides) and any(value != values[0] for value in values):
            notes.append(f"note: the sides differ in {name}: {', '.join(map(str, values))}")
    return ["\n".join(notes)] * bool(notes)


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym compare",
        description="Compare sets of episodes task by task, each with the first: cells of a sweep, "
        "runs that kept trajectories, JSONL files of episodes, or what agentgym eval --out wrote. "
        "Each side is one policy at one optimizer step "
        "and, in each environment, on one split under one turn limit; where a folder holds more, "
        "it is listed, and --policy, --step, --split and --max-turns choose. Earlier runs in "
        "previous-N are passed over.",
        epilog="examples: agentgym compare runs/sweep/cells/random runs/sweep/cells/expert; "
        "agentgym compare runs/grpo runs/grpo --split validation --step 50 --step 200",
    )
    parser.add_argument("first", help="folder, JSONL file, or JSON file of an evaluation")
    parser.add_argument(
        "others", nargs="+", metavar="second", help="the same; each is compared with the first"
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="only this policy's episodes; given once for each side: in their order",
    )
    parser.add_argument(
        "--step",
        action="append",
        type=int,
        metavar="N",
        help="only episodes played at this optimizer step; given once for each side: in their "
        "order",
    )
    parser.add_argument(
        "--max-turns",
        action="append",
        type=_turn_limit,
        metavar="N",
        help="only episodes played under this turn limit; default is the environment's own; given "
        "once for each side: in their order",
    )
    parser.add_argument("--split", metavar="NAME", help="only episodes of this split, on all sides")
    return parser


def _turn_limit(word: str) -> str:
    if word == OWN_LIMIT:
        return word
    if not (word.isascii() and word.isdecimal()) or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is neither {OWN_LIMIT} nor a number from 1")
    return str(int(word))


def _for_sides(option: str, values: Sequence[Value] | None, count: int) -> list[Value | None]:
    """Return an option's value for each side."""
    if not values:
        return [None] * count
    if len(values) == 1:
        return [values[0]] * count
    if len(values) != count:
        raise ValueError(
            f"{option} is given once for all sides or once for each of the {count}, in their "
            f"order; got it {len(values)} times"
        )
    return list(values)


def _named(path: str, choice: Choice) -> str:
    return path if choice == EVERYTHING else f"{path} ({choice})"


def comparison(first: dict[Row, Tally], second: dict[Row, Tally], *, names: tuple[str, str]) -> str:
    """Return the table of the second side's gains over the first.

    Of several panels the first row is the mean over them: pooled, the one with the most tasks would
    speak for all. Its test flips the signs of all their tasks.

    Raises:
        ValueError: the two share no task.
    """
    found = {row: _line(first[row], second[row]) for row in first if row in second}
    lines = {row: line for row, line in found.items() if line is not None}
    if not lines:
        raise ValueError(
            "the two share no task (environment, source and id), so they cannot be compared\n"
            f"first:  {names[0]}: {_places(first)}\nsecond: {names[1]}: {_places(second)}"
        )
    labels = _labels([row[0] for row in first if len(row) == 1])
    panels = {row: line for row, line in lines.items() if len(row) == 1}
    whole = "all"
    if len(panels) > 1:
        whole, lines[()] = f"mean of {len(panels)}", _mean([*panels.values()])
    gain = "gain of the second (95% interval)"
    head = ("", "tasks", "first", "second", gain, "p", "better", "worse")
    rows = [
        (": ".join([labels[row[0]], *row[1:]]) if row else whole, *line.cells())
        for row, line in lines.items()
    ]
    return f"first:  {names[0]}\nsecond: {names[1]}\n\n{table([head, *rows])}"


def _labels(env_ids: Sequence[str]) -> dict[str, str]:
    """Return the short name of each panel, or the whole one where others have the same."""
    short = {name: name.partition(AS)[2] or short_env_name(name) for name in env_ids}
    counts = Counter(short.values())
    return {name: label if counts[label] == 1 else name for name, label in short.items()}


class _Line(NamedTuple):
    """A row: the success of each side on shared tasks, and the differences, one per panel."""

    first: float
    second: float
    parts: Sequence[Difference]

    def cells(self) -> tuple[str, ...]:
        gain = mean_of([part.gain for part in self.parts])
        # One task says nothing of others.
        is_one = len(self.parts) == self.parts[0].n_tasks == 1
        shown = points(gain).partition(" (")[0] if is_one else points(gain)
        counts = (sum(getattr(part, of) for part in self.parts) for of in ("better", "worse"))
        return (
            str(sum(part.n_tasks for part in self.parts)),
            *(f"{self.first:.1%}", f"{self.second:.1%}", shown, p_value(p_of(self.parts))),
            *map(str, counts),
        )


def _line(first: Tally, second: Tally) -> _Line | None:
    before, after = first.task_success, second.task_success
    result = paired(after, before)
    if result is None:
        return None
    shared = [task for task in before if task in after]
    means = (fmean(before[task] for task in shared), fmean(after[task] for task in shared))
    return _Line(*means, [result])


def _mean(lines: Sequence[_Line]) -> _Line:
    return _Line(
        fmean(line.first for line in lines),
        fmean(line.second for line in lines),
        [part for line in lines for part in line.parts],
    )


def _places(side: Mapping[Row, Tally]) -> str:
    """Return how many tasks of which environment and source a side played."""
    counts = Counter((env_id, source) for env_id, source, _ in side[()].successes)
    return "; ".join(
        f"{count} tasks of {env_id} on {source or 'no named source'}"
        for (env_id, source), count in counts.items()
    )
