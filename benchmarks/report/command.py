"""`agentgym report`: the tables and plots of a sweep."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report.page import write_report
from benchmarks.report.plots import NoTrainingRun
from benchmarks.report.results import read_sweep


def main(argv: Sequence[str] | None = None) -> int:
    """Write a sweep's report, and print where it is."""
    parser = argparse.ArgumentParser(
        prog="agentgym report",
        description="Write report.md, report.html (one file with everything in it) and the plots "
        "of a sweep, finished or not.",
    )
    parser.add_argument("sweep", help="folder of an agentgym sweep")
    parser.add_argument("--out", help="folder of the report; by default the sweep's own")
    parser.add_argument(
        "--run",
        action="append",
        default=[],
        help="a training run whose learning curve belongs to the report; repeat for several",
    )
    options = parser.parse_args(argv)
    out = Path(options.out or options.sweep)
    try:
        results = read_sweep(options.sweep)
    except ValueError as error:
        parser.error(str(error))
    try:
        page = write_report(results, out, runs=[Path(run) for run in options.run])
    except NoTrainingRun as error:  # other errors are ours, and no fault of the command line
        parser.error(str(error))
    print(f"{out / 'report.md'}\n{page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
