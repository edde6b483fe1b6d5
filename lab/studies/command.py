"""`python -m lab.studies`: runs a study, or goes on with it, and prints its tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from agentgym_envs.errors import did_you_mean
from lab.studies.pictures import DRAWINGS
from lab.studies.results import Results
from lab.studies.runs import Run, progress, run_all
from lab.studies.study import Plan, Study, load_study, study_names
from lab.studies.table import tables_of
from trainers.options.errors import refuse
from trainers.options.parser import OptionParser

Entry = tuple[str, str, int]
"""The ground, the variant and the seed of a run."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one study.

    Returns:
        the exit status: 2 where there is no such study.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    names = study_names()
    if not words or words[0] in ("-h", "--help"):
        listed = "".join(f"  {name:<14} {load_study(name).question}\n" for name in names)
        print(f"usage: python -m lab.studies NAME [options]\n\nstudies:\n{listed}", end="")
        return 0
    name, *rest = words
    if name not in names:
        hint = did_you_mean(name, names, otherwise=f"studies: {', '.join(names)}")
        return refuse(f"unknown study {name!r}{hint}")
    study = load_study(name)
    options = _parser(study).parse_args(rest)
    plan = Plan(
        study,
        Path(options.out),
        small=getattr(options, "small", False),
        model=getattr(options, "model", ""),
    )
    entries = {
        ground: [(ground, variant, seed) for seed in options.seeds for variant in chosen]
        for ground in options.env
        if (chosen := [name for name in study.variants_on(ground) if name in options.variants])
    }
    if not options.table_only:
        _run(plan, options, entries)
    _show(plan, {ground: [plan.run(*entry) for entry in ours] for ground, ours in entries.items()})
    return 0


def _run(plan: Plan, options: argparse.Namespace, entries: Mapping[str, Sequence[Entry]]) -> None:
    """Make the starts, measure them, train, and measure trainings that had no time to end."""
    run = partial(run_all, workers=options.workers, threads=options.threads)
    makings = dict.fromkeys(making for ground in entries if (making := plan.making(ground)))
    if makings:
        run([*makings])
    run([one for ground in entries for one in plan.measurements(ground, options.seeds)])
    runs = {entry: plan.run(*entry) for ours in entries.values() for entry in ours}
    run([*runs.values()], seconds=None if options.minutes is None else 60 * options.minutes)
    cut = [plan.cut(*entry) for entry, one in runs.items() if not one.is_done]
    if any(cut):
        run([one for one in cut if one])


def _show(plan: Plan, runs: dict[str, list[Run]]) -> None:
    """Print each ground's tables and remaining commands, and draw the curves."""
    measured = []
    for ground, ours in runs.items():
        folder = plan.out / ground
        print(f"{ground or plan.study.name}: {progress(ours)}\n")
        results = Results(plan.study, folder)
        if results.is_measured:
            measured.append(results)
            text = tables_of(results)
            (folder / "table.md").write_text(text + "\n", encoding="utf-8")
            print(f"{text}\n")
    if plan.study.curves:
        for path in DRAWINGS[plan.study.curves](plan.out, measured):
            print(f"curves: {path}")


def _parser(study: Study) -> OptionParser:
    parser = OptionParser(prog=f"python -m lab.studies {study.name}", description=study.question)
    parser.add_argument("--out", default=f"runs/study_{study.name}", help="the study's folder")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(study.seeds))
    parser.add_argument("--env", nargs="+", choices=study.grounds, default=list(study.grounds))
    names = list(study.variants)
    parser.add_argument("--variants", nargs="+", choices=names, default=names)
    if study.is_given_its_start:
        parser.add_argument("--model", required=True, help="what the runs begin with")
    if study.small:
        parser.add_argument("--small", action="store_true", help="a rehearsal")
    parser.add_argument("--workers", type=int, default=study.workers, help="runs at a time")
    parser.add_argument("--threads", type=int, default=study.threads, help="torch threads of each")
    parser.add_argument(
        "--minutes", type=float, help="end the trainings after so many, and measure checkpoints"
    )
    parser.add_argument("--table_only", action="store_true", help="print what is there")
    return parser
