"""The episodes of one side of a comparison, from a run, a sweep or files.

A side is one policy at one optimizer step and, on each panel, under one turn limit: where a folder
holds more, the reader chooses, and nothing is pooled. A panel is an environment, but for the named
panels of a suite, of which several may be of one environment.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs.trajectories.trajectory import Trajectory, read_jsonl
from benchmarks.cli.listing import table
from benchmarks.recorded import run_options
from benchmarks.report.evaluations import read_result
from benchmarks.sweep.plan import Cell, conditions
from trainers.evaluation.tally import Tally
from trainers.options.values import value_for
from trainers.runs.folder import CELL_FILE
from trainers.runs.progress_bar import is_unfinished
from trainers.runs.reader import find_runs, is_set_aside, nearest_record
from trainers.runs.success import FRESH

_LOG = logging.getLogger(__name__)

_MOST_STEPS = 8

OWN_LIMIT = "default"
"""The turn limit where none is noted down: the environment's own, as `--max-turns` calls it."""

AS = " as "
"""Stands in an origin's `env_id` before the own name of a panel."""

Row = tuple[str, ...]
"""Names a row of a comparison: nothing for all, an origin's `env_id`, or that and a subtask."""

Conditions = tuple[tuple[str, str], ...]


class Origin(NamedTuple):
    """The origin of an episode, which distinguishes a side's policies."""

    env_id: str
    policy: str
    global_step: int
    split: str
    max_turns: str
    conditions: Conditions


@dataclass(frozen=True)
class Choice:
    """A filter of a side's episodes, where None takes any. `max_turns` may be `OWN_LIMIT`."""

    policy: str | None = None
    global_step: int | None = None
    split: str | None = None
    max_turns: str | None = None

    def takes(self, origin: Origin) -> bool:
        """Return whether an episode is among them."""
        return all(value in (None, getattr(origin, name)) for name, value in vars(self).items())

    def __str__(self) -> str:
        named = (
            ("policy", self.policy),
            ("step", self.global_step),
            ("split", self.split),
            ("turn limit", self.max_turns),
        )
        return ", ".join(f"{name} {value}" for name, value in named if value is not None)


EVERYTHING = Choice()


def tallies(path: str | Path, choice: Choice = EVERYTHING) -> dict[Row, Tally]:
    """Tally the episodes under a path: in all, by panel and by subtask.

    The path is a JSONL file, a result of `agentgym eval`, or a folder above such files. Failed
    episodes are skipped.

    Raises:
        ValueError: there are no such episodes, or they are of more than one policy.
    """
    totals: dict[Row, Tally] = {}
    there: Counter[Origin] = Counter()
    for episode, origin in _episodes(Path(path)):
        there[origin] += 1
        if choice.takes(origin):
            for row in ((), (episode.env_id,), (episode.env_id, episode.subtask)):
                totals.setdefault(row, Tally()).add(episode)
    if not there:
        raise ValueError(f"{path} holds no episodes that have a score")
    if not totals:
        raise ValueError(f"{path} holds no episodes of {choice}, but these:\n\n{_listed(there)}")
    _check_one_policy(path, {origin: n for origin, n in there.items() if choice.takes(origin)})
    return totals


def _episodes(path: Path) -> Iterator[tuple[Trajectory, Origin]]:
    """Yield the episodes under a path that did not fail, with where they are from."""
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}")
    if path.is_file() and path.suffix == ".json":
        result, counted, record = read_result(path)
        limits = run_options(record.get("run")).get("max_turns")
        for episode in counted:
            yield _placed(replace(episode, global_step=result.global_step), "", limits, ())
        return
    for run in find_runs(path):
        for file in run.files:
            if (file != path and _is_biased(file)) or is_set_aside(file, path):
                continue
            if is_unfinished(file):
                _LOG.warning(
                    "%s holds the episodes that ended first, and who wins ends first: its success "
                    "misleads until the command has gone on with --resume",
                    file,
                )
            try:
                circumstances = _circumstances(file.parent)
                episodes = read_jsonl(file, on_problem=_pass_over)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                _pass_over(f"{file}: the record beside it cannot be read ({error!r})")
                continue
            for episode in episodes:
                # One that failed at its start does not even know its split; none enters a number.
                if episode.status == "failed":
                    continue
                yield _placed(episode, *circumstances)


def _is_biased(file: Path) -> bool:
    """Return whether a file is of the evaluation that chose the weights, which reads too high.

    Fresh episodes beside it stand for it.
    """
    fresh = file.name.replace("eval_", f"{FRESH}_", 1)
    return fresh != file.name and file.with_name(fresh).is_file()


def _placed(
    episode: Trajectory, panel: str, limits: Any, settings: Conditions
) -> tuple[Trajectory, Origin]:
    """Return an episode with its origin, with a named panel as an environment of its own.

    Two panels of one environment may have other tasks under the same ids. `limits` are the turn
    limit, or those by environment, that the record has; the episode's own arguments win over it.
    """
    limit = (episode.env_kwargs or {}).get("max_turns") or value_for(limits, episode.env_id)
    if panel:
        episode = replace(episode, env_id=f"{episode.env_id}{AS}{panel}")
    named = (episode.env_id, episode.policy, episode.global_step, episode.split)
    return episode, Origin(*named, str(limit or OWN_LIMIT), settings)


def _pass_over(problem: str) -> None:
    _LOG.warning("skipped: %s", problem)


def _circumstances(folder: Path) -> tuple[str, Any, Conditions]:
    """Return a panel's own name, the turn limits and the conditions, as a cell or run has them."""
    name, record = nearest_record(folder)
    if name == CELL_FILE:
        cell = Cell.from_json(record)
        return cell.panel, cell.max_turns, tuple(conditions(cell).items())
    return "", run_options(record).get("max_turns"), ()


def _check_one_policy(path: str | Path, there: Mapping[Origin, int]) -> None:
    """Refuse to pool episodes that were not played by one policy under one setting."""
    options = []
    if len({origin.policy for origin in there}) > 1:
        options.append("--policy NAME")
    if len({origin.global_step for origin in there}) > 1:
        options.append("--step N")
    # A suite's panels are of differently named splits and turn limits.
    num_places = len({origin.env_id for origin in there})
    if len({(origin.env_id, origin.split) for origin in there}) > num_places:
        options.append("--split NAME")
    if len({(origin.env_id, origin.max_turns) for origin in there}) > num_places:
        options.append("--max-turns N")
    if options:
        raise ValueError(
            f"{path} holds more than one policy, optimizer step, split or turn limit:\n\n"
            f"{_listed(there)}\n\nchoose with {' and '.join(options)}, or name one file or folder "
            "of them; --policy, --step and --max-turns given twice are for the first side and for "
            "the second"
        )
    if len({(origin.env_id, origin.conditions) for origin in there}) > num_places:
        every = [origin.conditions for origin in there]
        differing = {
            entry for one in every for entry in one if any(entry not in other for other in every)
        }
        names = sorted({name for name, _ in differing})
        raise ValueError(
            f"{path} holds episodes of one policy that were played under different settings: "
            f"{', '.join(names)}; name folders of one setting each, such as a cell's, "
            "POLICY/SCENARIO/turns_N/seed_N"
        )


def _listed(there: Mapping[Origin, int]) -> str:
    """Return a table of a side's episodes, with a row for each policy on each split."""
    groups: dict[tuple[str, str], list[Origin]] = {}
    for origin in there:
        groups.setdefault((origin.policy, origin.split), []).append(origin)
    rows = [("policy", "split", "episodes", "steps", "turn limits")]
    for (policy, split), origins in sorted(groups.items()):
        limits = {origin.max_turns for origin in origins}
        in_order = sorted(limits, key=lambda limit: (limit == OWN_LIMIT, limit.zfill(9)))
        count = sum(there[origin] for origin in origins)
        steps = _listed_steps({origin.global_step for origin in origins})
        rows.append((policy or '""', split or '""', str(count), steps, ", ".join(in_order)))
    return table(rows)


def _listed_steps(steps: Collection[int]) -> str:
    """Write optimizer steps down: all of a few, the first and the last of many."""
    known = [str(step) for step in sorted(steps)]
    if len(known) <= _MOST_STEPS:
        return ", ".join(known)
    return f"{', '.join(known[: _MOST_STEPS - 2])} ... {known[-1]} ({len(known)} steps)"
