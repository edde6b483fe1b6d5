"""`agentgym envs`: the registered environments with splits, subtasks and turn limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import gymnasium as gym

from agentgym_envs import TextEnv, registered_ids, resolve_env_id
from agentgym_envs.registration.registry import NEEDS
from trainers.options.parser import OptionParser

MAX_SUBTASKS = 8
"""Subtasks named in the table of all. `agentgym envs NAME` lists every one."""

HEADER = ("id", "splits", "test subtasks", "turns", "source")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table of environments, or everything about one."""
    parser = OptionParser(
        prog="agentgym envs",
        description="List the registered environments: splits with their numbers of tasks, the "
        "test split's subtasks, the default turn limit and the data source.",
        epilog="example: agentgym envs TextCraft",
    )
    parser.add_argument("env", nargs="?", help="show one environment in full: its id or short name")
    options = parser.parse_args(argv)
    if options.env is None:
        rows = [_row(env_id) for env_id in registered_ids()]
        rows += [_remark(env_id, f"needs {needs}") for env_id, needs in NEEDS.items()]
        print(table([HEADER, *rows]))
        return 0
    try:
        print(_description(resolve_env_id(options.env)))
    except ValueError as error:
        parser.error(str(error))
    return 0


def table(rows: Sequence[Sequence[str]], *, numbers_from: int | None = None) -> str:
    """Format rows as a Markdown table with aligned columns, with bars in cells escaped.

    The first row is the header. Columns from `numbers_from` on are aligned to the right.
    """
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    num_texts = len(widths) if numbers_from is None else numbers_from
    lines = [
        "| "
        + " | ".join(
            cell.ljust(width) if place < num_texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in cells
    ]
    rule = ["-" * (width + 1) + ("-" if n < num_texts else ":") for n, width in enumerate(widths)]
    return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]])


def _make(env_id: str) -> TextEnv:
    env = gym.make(env_id, disable_env_checker=True).unwrapped
    if not isinstance(env, TextEnv):
        raise TypeError(f"{env_id} is a {type(env).__name__}, expected a TextEnv")
    return env


def _sizes(env: TextEnv) -> dict[str, int]:
    names = (*env.task_set.splits, *env.task_set.panels)
    return {name: len(env.task_set.numbers(name)) for name in names}


def _subtasks(env: TextEnv, split: str) -> Counter[str]:
    return Counter(env.task_set.spec(n).subtask for n in env.task_set.numbers(split))


def _row(env_id: str) -> tuple[str, ...]:
    try:
        env = _make(env_id)
    except ImportError as error:
        return _remark(env_id, f"not installed: {error}")
    splits = ", ".join(f"{split} {size}" for split, size in _sizes(env).items())
    counts = [f"{name} {count}" for name, count in _subtasks(env, "test").items()]
    if len(counts) > MAX_SUBTASKS:
        counts[MAX_SUBTASKS - 1 :] = [f"{len(counts) - MAX_SUBTASKS + 1} more"]
    subtasks = ", ".join(counts)
    row = (env_id, splits, subtasks, str(env.default_max_turns), env.source)
    env.close()
    return row


def _remark(env_id: str, text: str) -> tuple[str, ...]:
    return (env_id, text, *[""] * (len(HEADER) - 2))


def _description(env_id: str) -> str:
    env = _make(env_id)
    rows = [("split", "tasks", "first id", "subtasks")]
    for split, size in _sizes(env).items():
        counts = ", ".join(f"{name} {count}" for name, count in _subtasks(env, split).items())
        rows.append((split, str(size), env.task_set.task_ids(split)[0], counts))
    text = (
        f"{env_id}\n\nsource: {env.source}\nturns:  {env.default_max_turns}\n\n{table(rows)}\n\n"
        f"system prompt:\n\n{env.system_prompt}"
    )
    env.close()
    return text
