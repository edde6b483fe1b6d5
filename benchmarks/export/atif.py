"""`agentgym export atif`: writes episodes as trajectories of ATIF."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import agentgym_envs
from agentgym_envs.content.files import COMPRESSED, atomic_folder, atomic_write
from agentgym_envs.content.row_files import is_document
from agentgym_envs.trajectories.agenttraj import read_trajectories
from agentgym_envs.trajectories.atif import to_atif, to_line
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.cli.new import check_free
from trainers.options.errors import UsageError, check_output
from trainers.options.parser import OptionParser

LINES = ".jsonl"
_NOT_OF_NAMES = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 100
"""Bytes of a document's name. Disks take 255 in all."""


def main(argv: Sequence[str] | None = None) -> int:
    """Write the trajectories, and print how many there are."""
    parser = _parser()
    options = parser.parse_args(argv)
    out = Path(options.out)
    try:
        count = _write(_documents(options.files), out)
    except ValueError as error:
        parser.error(str(error))
    print(f"wrote {count} trajectories to {out}")
    return 0


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym export atif",
        description="Write episodes in the Agent Trajectory Interchange Format (ATIF 1.7): text, "
        "tokens and log-probabilities, metrics, rewards and outcomes. --data of the trainers and "
        "agentgym view read it back.",
        epilog="example: agentgym export atif episodes.jsonl --out episodes_atif",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="file of episodes, of any form that --data reads"
    )
    parser.add_argument(
        "--out",
        required=True,
        help="a folder, for a file per episode; NAME.jsonl or NAME.jsonl.gz, for a line per "
        "episode; or NAME.json, for one episode",
    )
    return parser


def _documents(files: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the episodes as documents, with their number and task as id."""
    for number, episode in enumerate(_episodes(files), 1):
        name = _NOT_OF_NAMES.sub("-", f"{number:05d}_{episode.task_id}")
        name = name.encode()[:_LONGEST_NAME].decode(errors="ignore")
        yield to_atif(episode, trajectory_id=name, agent_version=agentgym_envs.__version__)


def _episodes(files: Sequence[str]) -> Iterator[Trajectory]:
    for path in files:
        try:
            yield from read_trajectories(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def _write(documents: Iterator[dict[str, Any]], out: Path) -> int:
    """Write all documents or nothing, and return how many there are."""
    is_file = is_document(out) or out.name.removesuffix(COMPRESSED).endswith(LINES)
    if is_file:
        check_output("`out`", str(out))
    else:
        check_free(out)
    first = list(islice(documents, 2))
    if not first:
        raise UsageError("the files hold no episodes")
    if is_document(out) and len(first) > 1:
        raise UsageError(
            f"`out={out}` would be one document, and the files hold several episodes; name a "
            f"folder, or a file that ends in {LINES}"
        )
    everything = chain(first, documents)
    return _write_lines(everything, out) if is_file else _write_folder(everything, out)


def _write_lines(documents: Iterator[dict[str, Any]], out: Path) -> int:
    count = 0
    with atomic_write(out) as unfinished:
        is_compressed = out.suffix == COMPRESSED
        with gzip.open(unfinished, "wb") if is_compressed else unfinished.open("wb") as file:
            for document in documents:
                file.write(to_line(document))
                count += 1
    return count


def _write_folder(documents: Iterator[dict[str, Any]], out: Path) -> int:
    count = 0
    with atomic_folder(out) as draft:
        for document in documents:
            (draft / f"{document['trajectory_id']}.json").write_bytes(to_line(document))
            count += 1
    return count
