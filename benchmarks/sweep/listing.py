"""`agentgym suites`: the shipped suites, and the panels of one suite."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing

from agentgym_envs.errors import for_each
from benchmarks.cli.listing import table
from benchmarks.sweep.suite_files import find_suite, suite_names
from benchmarks.sweep.suites import Panel, task_digest
from trainers.evaluation.baselines import strongest
from trainers.options.parser import OptionParser

_FORMAT = """\
A suite is a YAML file:

  description: what my lab measures
  panels:
    - env: TextCraft                   # an id, a short name, or module:id
      split: test                      # default: test
      subtasks: {depth 1: 10, depth 2: 10}
    - env: guess:mylab/Guess-v0
      tasks: [high, guess_7]
      max_turns: 8
    - env: SearchQA
      name: SearchQA on NQ
      env_kwargs: {data_dir: data/nq, corpus: data/wiki-18.jsonl}

keys of a panel, all but env optional:
  env          the environment
  name         its name in folders and tables; needed where two panels play one environment
  split        the split, or panel of a split, that tasks are from
  tasks        these alone: subtasks, depths or task ids
  every        of each subtask every so many tasks
  subtasks     how many of each, spread evenly over it; a list takes all of those
  max_turns    the turn limit, where agentgym sweep is given none; default: the environment's own
  env_kwargs   further arguments of the environment; paths are seen from the current folder
  digest       refuse other tasks than those of this digest, which agentgym suites FILE prints
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table of suites, or the panels of one."""
    parser = OptionParser(
        prog="agentgym suites",
        description="List the suites that agentgym sweep plays, or show what one holds, by its "
        "name or its file.",
        epilog=_FORMAT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suite", nargs="?", help="a suite's name, or a YAML file of your own")
    options = parser.parse_args(argv)
    try:
        print(_all_suites() if options.suite is None else _description(options.suite))
    except ValueError as error:
        parser.error(str(error))
    return 0


def _all_suites() -> str:
    rows = [("suite", "tasks", "panels", "description")]
    for name in suite_names():
        suite = find_suite(name)
        sizes = {panel.scenario: _pinned_size(panel) for panel in suite.panels}
        panels = ", ".join(f"{scenario} {size}" for scenario, size in sizes.items())
        rows.append((name, str(sum(sizes.values())), panels, suite.description))
    return table(rows)


def _pinned_size(panel: Panel) -> int:
    """Return how many tasks a shipped panel holds, which names the number of each subtask."""
    return sum(size or 0 for size in panel.sizes.values())


def _description(name: str) -> str:
    suite = find_suite(name)
    header = ("panel", "env", "split", "turns", "tasks", "subtasks", "digest", "source", "baseline")
    rows = [header, *for_each(_row, suite.panels)]
    return f"{suite.name}: {suite.description or 'no description'}\n\n{table(rows)}"


def _row(panel: Panel) -> tuple[str, ...]:
    tasks = panel.tasks()
    with closing(panel.make()) as env:
        turns, source = panel.max_turns or env.default_max_turns, env.source
    counts = ", ".join(f"{subtask} {len(ids)}" for subtask, ids in tasks.items())
    total = sum(map(len, tasks.values()))
    env_id = f"{panel.module}:{panel.env_id}" if panel.module else panel.env_id
    row = (panel.scenario, env_id, panel.split, str(turns), str(total), counts)
    return (*row, task_digest(tasks), source, _baseline(panel, source, tasks))


def _baseline(panel: Panel, source: str, tasks: Mapping[str, Sequence[str]]) -> str:
    """Return the strongest baseline that was measured with the panel's tasks, if any."""
    task_ids = [task_id for ids in tasks.values() for task_id in ids]
    baseline = None
    if not panel.env_kwargs:
        limit = panel.max_turns
        baseline = strongest(panel.env_id, source, panel.split, task_ids, max_turns=limit)
    return "" if baseline is None else f"{baseline.policy} {baseline.success.value:.1%}"
