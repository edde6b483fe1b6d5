"""`python -m worlds`: makes a world's content again, or a fresh world by another seed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

WORLDS = ("searchqa", "sites", "sql", "webshop")
"""Each is a package with a module `make`, whose `make` makes the world."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the world that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m worlds", description=__doc__)
    parser.add_argument("world", choices=WORLDS, help="which world to make")
    parser.add_argument(
        "--out", type=Path, help="where it is written; without it, where the packages ship it"
    )
    parser.add_argument("--seed", type=int, default=0, help="0 is the world that is shipped")
    parser.add_argument("--scale", type=int, default=1, help="how many times the rows")
    options = parser.parse_args(arguments)
    if options.out is None and (options.seed, options.scale) != (0, 1):
        parser.error("another --seed or --scale needs --out FOLDER: the shipped world has 0 and 1")
    if options.scale < 1:
        parser.error(f"--scale must be >= 1, got {options.scale}")
    make = import_module(f"worlds.{options.world}.make").make
    try:
        make(options.out, seed=options.seed, scale=options.scale)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
