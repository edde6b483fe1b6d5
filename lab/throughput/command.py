"""`python -m lab.throughput`: runs the measurements, prints the table and writes the JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from benchmarks.cli.listing import table
from lab.throughput.measure import Row, machine
from trainers.options.errors import check_output
from trainers.options.parser import OptionParser

GROUPS: dict[str, tuple[str, str]] = {
    "babyai": ("lab.throughput.environments", "babyai_rows"),
    "textcraft": ("lab.throughput.environments", "textcraft_rows"),
    "alfworld": ("lab.throughput.environments", "alfworld_rows"),
    "sql": ("lab.throughput.environments", "sql_rows"),
    "webshop": ("lab.throughput.environments", "webshop_rows"),
    "maze": ("lab.throughput.environments", "maze_rows"),
    "wordle": ("lab.throughput.environments", "wordle_rows"),
    "snapshots": ("lab.throughput.snapshots", "snapshot_rows"),
    "sciworld": ("lab.throughput.sciworld", "sciworld_rows"),
    "searchqa": ("lab.throughput.searchqa", "searchqa_rows"),
    "webarena": ("lab.throughput.webarena", "webarena_rows"),
    "vector": ("lab.throughput.vectors", "vector_rows"),
    "ray": ("lab.throughput.vectors", "ray_rows"),
    "slots": ("lab.throughput.slots", "slot_rows"),
    "rollout": ("lab.throughput.rollouts", "rollout_rows"),
    "overlap": ("lab.throughput.overlap", "overlap_rows"),
    "async": ("lab.throughput.ahead", "ahead_rows"),
    "adapters": ("lab.throughput.adapters", "adapter_rows"),
    "scheduler": ("lab.throughput.scheduler", "scheduler_rows"),
    "requests": ("lab.throughput.requests", "request_rows"),
    "sweep": ("lab.throughput.sweeps", "sweep_rows"),
    "update": ("lab.throughput.updates", "update_rows"),
    "serve": ("lab.throughput.serving", "serving_rows"),
    "agentgym": ("lab.throughput.agentgym_servers", "agentgym_rows"),
    "viewer": ("lab.throughput.viewer", "viewer_rows"),
    "heap": ("lab.throughput.heap", "heap_rows"),
    "language_model": ("lab.throughput.language_model", "language_model_rows"),
}
"""Imported when they are run.

Only `rollout`, `overlap`, `async`, `adapters`, `scheduler`, `update`, `heap` and `language_model`
need the train extra.
"""
_ASKED_FOR = {"language_model", "ray", "async", "adapters"}
"""Measurements that run only by name, as they fetch a model or need Ray or vLLM."""

HEADER = ("measured", "per second", "against", "per second", "speed (least to most)", "notes")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the requested groups."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.repeats < 1:
        parser.error(f"--repeats must be >= 1, got {options.repeats}")
    try:
        check_output("--out", options.out)
    except ValueError as error:
        parser.error(str(error))
    # torch's waiting threads spin by default: beside another busy process, they slow both sides of
    # a comparison many times, and not alike. Read when torch is first imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    stamp = machine()
    rows: list[Row] = []
    for name in options.only or [group for group in GROUPS if group not in _ASKED_FOR]:
        print(f"measuring {name} ...", flush=True)
        for row in _rows_of(name)(options.repeats):
            rows.append(row)
    print(f"\n{speed_table(rows)}\n\n{_stamp_line(stamp)}")
    if options.out is not None:
        path = Path(options.out)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"machine": stamp, "rows": [asdict(row) for row in rows]}
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        print(f"written to {path}")
    return 0


def speed_table(rows: Sequence[Row]) -> str:
    """Return the measurements as a table.

    `speed` is the baseline's time over ours for the same work: 2.0 is twice as fast.
    """
    return table([HEADER, *(_cells(row) for row in rows)])


def _cells(row: Row) -> tuple[str, ...]:
    notes = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in row.notes.items())
    ours = (row.name, f"{row.rate:,.0f} {row.unit}")
    if row.baseline_rate is None or row.speed is None or row.speed_range is None:
        return (*ours, "", "", "", notes)
    least, most = row.speed_range
    return (
        *ours,
        row.baseline,
        f"{row.baseline_rate:,.0f} {row.baseline_unit}",
        f"{row.speed:.2f} ({least:.2f} to {most:.2f})",
        notes,
    )


def _stamp_line(stamp: dict[str, object]) -> str:
    return (
        f"{stamp['date']}; commit {stamp['commit']}; {stamp['cpu']}, {stamp['cores']} cores, "
        f"load {stamp['load_1min']}; "
        f"Python {stamp['python']}; {stamp['versions']}"
    )


def _rows_of(group: str) -> Callable[[int], Iterator[Row]]:
    module, function = GROUPS[group]
    rows: Callable[[int], Iterator[Row]] = getattr(import_module(module), function)
    return rows


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="python -m lab.throughput",
        description="Measure the speed of the environments, of TextVectorEnv and of rollouts. Both "
        "sides of a comparison do the same work in turns; medians are shown. Takes a few minutes.",
        epilog="example: python -m lab.throughput --only babyai vector --out runs/throughput.json",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=GROUPS,
        help="measure only these groups; language_model, ray, async and adapters only if named",
    )
    parser.add_argument("--out", help="write the result to this JSON file")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs per side (default: 5)")
    return parser
