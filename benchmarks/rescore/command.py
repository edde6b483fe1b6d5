"""`agentgym rescore`: plays recorded episodes again, and lists the differences."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym_envs import resolve_env_id
from agentgym_envs.content.files import write_atomically
from agentgym_envs.trajectories.trajectory import read_jsonl
from benchmarks.recorded import evaluation_of, evaluation_options, saved_options
from benchmarks.rescore.claims import claim_differences
from benchmarks.rescore.origins import Origins
from benchmarks.rescore.replays import Replayer
from benchmarks.rescore.report import Report
from trainers.options.environments import EnvConstructionArguments
from trainers.options.errors import check_output
from trainers.options.parser import OptionParser
from trainers.runs.folder import EPISODES, read_json
from trainers.runs.progress_bar import Watch
from trainers.runs.reader import find_runs, is_set_aside
from wrappers.vector.backends import LOCAL_BACKENDS


def main(argv: Sequence[str] | None = None) -> int:
    """Replay the episodes, and print the differences and a summary.

    Returns:
        0 where every episode but the failed ones was replayed and equal, else 1.
    """
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        check_output("out", options.out)
        for name in options.env:
            resolve_env_id(name)
        arguments = EnvConstructionArguments(env_kwargs=options.env_kwargs)
        report = Report()
        replayer = Replayer(
            Origins(arguments.extra_kwargs, options.wrapper),
            backend=options.env_backend,
            num_envs=options.num_envs,
        )
        try:
            for source in _sources(options.paths):
                source.replay(replayer, report)
        finally:
            replayer.close()
    except ValueError as error:
        parser.error(str(error))
    print(report)
    if options.out is not None:
        write_atomically(options.out, json.dumps(report.to_json(), indent=2) + "\n")
    return 0 if report.is_equal else 1


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym rescore",
        description="Play recorded episodes again, action by action, and compare observations, "
        "rewards, validity, scores, ends and success with the record, and the result of agentgym "
        "eval --out beside a file with its episodes. Ends with status 1 where something differs, "
        "or an episode that counts cannot be replayed. How environments were made is read from "
        "the episodes, or else from the run.json, the cell.json or the result.",
        epilog="example: agentgym rescore runs/eval.jsonl runs/sweep",
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="file",
        help=".jsonl or .jsonl.gz, a folder above such files, or the .json of agentgym eval --out",
    )
    parser.add_argument("--out", "--output", help="write all differences to this JSON file")
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        help="import an environment that is not this package's, as module:id; repeat for several",
    )
    parser.add_argument(
        "--env-kwargs",
        action="append",
        help="arguments of the environments that no record has, as JSON; of one: "
        "'SearchQA={\"top_k\": 3}'",
    )
    parser.add_argument(
        "--wrapper",
        action="append",
        default=[],
        help="Gymnasium wrapper as module:Class; repeat for several, innermost first",
    )
    parser.add_argument(
        "--env-backend", choices=LOCAL_BACKENDS, default="sync", help="where environments run"
    )
    parser.add_argument("--num-envs", type=_count, default=8, help="episodes at once")
    return parser


def _count(word: str) -> int:
    if not (word.isascii() and word.isdecimal()) or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 1")
    return int(word)


@dataclass(frozen=True)
class _Source:
    """A file of episodes, and the result of the evaluation that wrote it."""

    file: Path
    evaluation: tuple[Path, dict[str, Any]] | None

    def replay(self, replayer: Replayer, report: Report) -> None:
        """Replay the episodes, and add them and their evaluation's result to the report."""
        episodes = []
        for episode in read_jsonl(self.file):
            episode.traces = []  # most of the memory, and not replayed
            episodes.append(episode)
        options = saved_options(self.file.parent)
        if self.evaluation is not None:
            options = evaluation_options(self.evaluation[1])
        with Watch(self.file.name, len(episodes)) as watch:
            replays = replayer.replay(episodes, options, on_trajectory=watch)
        if self.evaluation is not None:
            path, result = self.evaluation
            report.add_claims(path, claim_differences(result, replays))
        report.add(self.file, replays)


def _sources(paths: Sequence[str]) -> Iterator[_Source]:
    """Yield the files of episodes that paths name, without those of earlier runs in a folder.

    Raises:
        ValueError: a path is not there, or names no episodes.
    """
    for name in paths:
        path = Path(name)
        if not path.exists():
            raise ValueError(f"there is no file or folder {path}")
        if path.is_file() and path.suffix == ".json":
            yield _evaluated(path)
            continue
        if path.is_file() and EPISODES not in path.suffixes:
            raise ValueError(f"{path} is no .jsonl, .jsonl.gz or .json file")
        files = [file for run in find_runs(path) for file in run.files]
        files = [file for file in files if not is_set_aside(file, path)]
        if not files:
            raise ValueError(f"{path} holds no .jsonl or .jsonl.gz files of episodes")
        for file in files:
            yield _Source(file, evaluation_of(file))


def _evaluated(path: Path) -> _Source:
    """Return the episodes of an evaluation from its result."""
    result = read_json(path)
    try:
        name = evaluation_options(result)["trajectories"]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    for file in () if name is None else (path.parent / Path(name).name, Path(name)):
        if file.is_file():
            return _Source(file, (path, result))
    raise ValueError(
        f"{path}: its episodes are not here; agentgym eval keeps them with --trajectories FILE"
    )
