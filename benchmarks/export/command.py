"""`agentgym export`: calls the command of the form that is named."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from trainers.options.parser import OptionParser

KINDS = ("openenv", "verifiers", "atif")


def main(argv: Sequence[str] | None = None) -> int:
    """Write the export, by the module of this package that its kind names."""
    kind, *rest = list(sys.argv[1:] if argv is None else argv) or [""]
    if kind in KINDS:
        return int(import_module(f"benchmarks.export.{kind}").main(rest))
    parser = OptionParser(
        prog="agentgym export",
        description="Write an environment as a package for OpenEnv or verifiers, or episodes as "
        "trajectories of ATIF. `agentgym export KIND --help` lists the options.",
        epilog="examples: agentgym export openenv --env TextCraft; agentgym export atif "
        "episodes.jsonl --out atif",
    )
    parser.add_argument("kind", choices=KINDS, help="whose conventions the export follows")
    parser.parse_args([kind] if kind else [])
    return 0
