"""`agentgym report`: the tables and plots of a sweep, or the leaderboard of many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.report.evaluations import is_evaluation
from benchmarks.report.leaderboard import write_leaderboard
from benchmarks.report.page import write_report
from benchmarks.report.plots import NoTrainingRun
from benchmarks.report.results import read_sweep
from benchmarks.report.standings import read_standings
from trainers.options.errors import check_folder
from trainers.options.parser import OptionParser


def main(argv: Sequence[str] | None = None) -> int:
    """Write the report or the leaderboard, and print where it is."""
    parser = OptionParser(
        prog="agentgym report",
        description="Write report.md, report.html (one file with everything in it) and the plots "
        "of a sweep, finished or not. Of several sweeps and evaluations write leaderboard.html, "
        "one file that any web server can give.",
        epilog="examples: agentgym report runs/sweep; agentgym report runs/sweep_a runs/sweep_b "
        "runs/eval.json --out runs/leaderboard",
    )
    parser.add_argument(
        "results",
        nargs="+",
        metavar="RESULT",
        help="folder of an agentgym sweep, or what agentgym eval wrote: --out FILE.json, or "
        "--trajectories FILE.jsonl",
    )
    parser.add_argument(
        "--out",
        help="folder of what is written; by default a sweep's own, and runs/leaderboard for a "
        "leaderboard",
    )
    parser.add_argument(
        "--run",
        action="append",
        default=[],
        help="a training run whose learning curve belongs to the report; repeat for several",
    )
    parser.add_argument(
        "--leaderboard", action="store_true", help="write the leaderboard of a single sweep"
    )
    options = parser.parse_args(argv)
    first, *others = options.results
    try:
        if others or options.leaderboard or is_evaluation(Path(first)):
            if options.run:
                parser.error("--run belongs to the report of one sweep, not to a leaderboard")
            out = Path(options.out or "runs/leaderboard")
            check_folder("--out", out)
            print(write_leaderboard(read_standings(options.results), out))
            return 0
        results = read_sweep(first)
        out = Path(options.out or first)
        check_folder("--out", out)
    except ValueError as error:
        parser.error(str(error))
    try:
        page = write_report(results, out, runs=[Path(run) for run in options.run])
    except NoTrainingRun as error:  # other errors are ours, and no fault of the command line
        parser.error(str(error))
    print(f"{out / 'report.md'}\n{page}")
    return 0
