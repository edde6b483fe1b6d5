"""`agentgym rescore`: plays recorded episodes again, and lists the differences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentgym_envs import resolve_env_id
from agentgym_envs.arguments import whole_number
from agentgym_envs.content.files import write_atomically
from agentgym_envs.trajectories.trajectory import read_jsonl
from benchmarks.recorded import evaluation_of, evaluation_options, saved_options
from benchmarks.rescore.differences import Difference, is_equal
from benchmarks.rescore.origins import Origins
from benchmarks.rescore.replays import Replay, Replayer
from benchmarks.rescore.report import Report
from trainers.evaluation.summary import summarize
from trainers.options.environments import EnvConstructionArguments
from trainers.options.errors import UsageError, check_output
from trainers.options.parser import OptionParser
from trainers.options.values import seed_list
from trainers.runs.folder import EPISODES, read_json
from trainers.runs.progress_bar import Watch
from trainers.runs.reader import find_runs, is_set_aside
from wrappers.vector.backends import LOCAL_BACKENDS

Evaluation = tuple[Path, dict[str, Any]]
"""The path of the result of an evaluation, and its JSON values."""

_CLAIMS = (
    *("n_tasks", "samples_per_task", "success", "ci95", "score", "mean_turns", "invalid_rate"),
    *("failures", "unscored", "truncated", "subtasks", "tasks", "episodes", "panels"),
    *("environments", "seeds", "ci95_seeds"),
)
"""The fields of `EvalResult` that follow from the episodes, without tokens and seconds."""


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
            num_envs=whole_number("--num-envs", options.num_envs, least=1),
        )
        try:
            for file, evaluation in _sources(options.paths):
                _replay(file, evaluation, replayer, report)
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
    parser.add_argument("--num-envs", type=int, default=8, help="episodes at once")
    return parser


def _sources(paths: Sequence[str]) -> Iterator[tuple[Path, Evaluation | None]]:
    """Yield the files of episodes that paths name, each with the evaluation that wrote it.

    Those of earlier runs in a folder are passed over.

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
            yield file, evaluation_of(file)


def _evaluated(path: Path) -> tuple[Path, Evaluation]:
    """Return the episodes of an evaluation from its result."""
    result = read_json(path)
    try:
        name = evaluation_options(result)["trajectories"]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    for file in () if name is None else (path.parent / Path(name).name, Path(name)):
        if file.is_file():
            return file, (path, result)
    raise ValueError(
        f"{path}: its episodes are not here; agentgym eval keeps them with --trajectories FILE"
    )


def _replay(file: Path, evaluation: Evaluation | None, replayer: Replayer, report: Report) -> None:
    """Replay a file's episodes, and add them and their evaluation's result to the report."""
    episodes = []
    for episode in read_jsonl(file):
        episode.traces = []  # most of the memory, and not replayed
        episodes.append(episode)
    options = (
        saved_options(file.parent) if evaluation is None else evaluation_options(evaluation[1])
    )
    with Watch(file.name, len(episodes)) as watch:
        replays = replayer.replay(episodes, options, on_trajectory=watch)
    if evaluation is not None:
        path, result = evaluation
        report.add_claims(path, _claim_differences(result, replays))
    report.add(file, replays)


def _claim_differences(result: Mapping[str, Any], replays: Sequence[Replay]) -> list[Difference]:
    """List the differences of an evaluation's result from the replays of its episodes.

    An episode that was not replayed counts as it is recorded.

    Args:
        result: the JSON values of an `EvalResult`; others claim nothing that is checked.
        replays: those of all its episodes, in their order.
    """
    if "samples_per_task" not in result:
        return []
    episodes = [one.recorded if one.replayed is None else one.replayed for one in replays]
    seeds = seed_list(str(evaluation_options(result).get("seeds", 0)))
    replayed: dict[str, Any] = {}
    with suppress(UsageError):  # none of them has a score
        replayed = summarize(episodes, seeds=seeds).to_json()
    return [
        difference
        for name in _CLAIMS
        if name in result
        for difference in _differing(name, result[name], replayed.get(name))
    ]


def _differing(name: str, stored: Any, replayed: Any) -> Iterator[Difference]:
    """Yield the differences of one field, of a table row by row."""
    if isinstance(stored, dict) and isinstance(replayed, dict):
        for key in {**stored, **replayed}:
            yield from _differing(f"{name} {key}", stored.get(key), replayed.get(key))
    elif not is_equal(stored, replayed):
        yield Difference(None, name, stored, replayed)
