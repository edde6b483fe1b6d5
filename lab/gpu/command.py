"""The command: chooses the parts and the size, runs them, writes the report."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from lab.gpu.parts import PARTS, select
from lab.gpu.records import Status
from trainers.options.errors import check_folder
from trainers.options.parser import OptionParser

FOLDER = "runs/gpu"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts, or make the pack.

    Returns:
        the exit status: 1 where a part has failed or was ended at its limit, else 0.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    if options.pack is not None:
        from lab.gpu.pack import make_pack

        make_pack(Path(options.pack), there=options.there, also=options.also, python=options.python)
        return 0
    for name in ("there", "also", "python"):
        if getattr(options, name) is not None:
            parser.error(f"--{name} is of --pack FOLDER")
    if options.minutes is not None and not options.minutes > 0:
        parser.error(f"--minutes must be above 0, got {options.minutes}")
    return measure(
        Path(options.out), only=options.only, small=options.small, minutes=options.minutes
    )


def measure(
    folder: Path,
    *,
    only: Sequence[str] | None = None,
    small: bool = False,
    minutes: float | None = None,
) -> int:
    """Run parts, and write the report of all that are on record.

    Args:
        folder: where records, report and what the parts make go.
        only: names of parts; None takes all.
        small: run at the size of a rehearsal, as is done without a CUDA device in any case.
        minutes: that they may take together.

    Returns:
        the exit status, as `main`'s.
    """
    import torch

    from lab.gpu.report import write_report  # needs what the rollouts need
    from lab.gpu.runner import run_parts

    check_folder("--out", folder)
    if not small and not torch.cuda.is_available():
        small = True
        print(f"torch {torch.__version__} sees no CUDA device: a rehearsal in small, on the CPU")
    # As Ctrl-C does: the part that is under way is ended, and not left to run on.
    signal.signal(signal.SIGTERM, _end)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        records = run_parts(
            select(only), folder, small=small, seconds=None if minutes is None else minutes * 60
        )
    finally:
        print(f"written to {write_report(folder)}", flush=True)
    has_failed = any(record.status in (Status.FAILED, Status.TIMED_OUT) for record in records)
    return 1 if has_failed else 0


def _end(_number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + signal.SIGTERM)


def _parser() -> OptionParser:
    described = "\n".join(
        f"  {part.name:<10} at most {part.seconds / 60:g} minutes: {part.purpose}"
        for part in PARTS.values()
    )
    parser = OptionParser(
        prog="python -m lab.gpu",
        description="Measure and try what only a GPU can show, without a network: each part in a "
        "process of its own, ended at its limit. A second call runs what is not done yet. Without "
        "a GPU everything is rehearsed in small.",
        epilog=f"parts:\n{described}\n\nexample: python -m lab.gpu --out runs/gpu --only "
        "rollout step --minutes 9",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", default=FOLDER, help=f"records and report (default: {FOLDER})")
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help="only these parts")
    parser.add_argument("--small", action="store_true", help="the rehearsal's sizes on a GPU, too")
    parser.add_argument(
        "--minutes",
        type=float,
        help="end after so many, where a machine is lent for a while; the next call goes on",
    )
    packing = parser.add_argument_group("taking along what is missing where nothing can be fetched")
    packing.add_argument(
        "--pack", metavar="FOLDER", help="write wheels and the model smollm2 into FOLDER, in parts"
    )
    packing.add_argument(
        "--there",
        metavar="FILE",
        help="what `pip list --format freeze` prints there, which is left out (default: torch, "
        "transformers, accelerate, peft and what they require)",
    )
    packing.add_argument(
        "--also", nargs="+", metavar="PACKAGE", help="further packages, or files of wheels"
    )
    packing.add_argument("--python", help="its version there, such as 3.12 (default: this one's)")
    packing.add_argument(
        "--unpack",
        nargs=2,
        metavar=("FOLDER", "VENV"),
        help="there: check the parts in FOLDER, and make an environment VENV of them",
    )
    return parser
