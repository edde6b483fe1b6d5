"""The `agentgym` command: calls the subcommand with the rest of the line.

A subcommand's module is imported only when it is called, and what shows help imports no torch.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

import agentgym_envs
from agentgym_envs.errors import did_you_mean, install_command
from trainers import installed_trainers
from trainers.options.errors import refuse, run_command

COMMANDS: dict[str, tuple[str, str]] = {
    "envs": ("benchmarks.cli.listing:main", "list the environments: splits, subtasks, turn limits"),
    "play": ("benchmarks.cli.play:main", "play one in the terminal, with an expert to ask"),
    "quickstart": (
        "benchmarks.cli.quickstart:main",
        "watch a small policy learn to pursue the goal (minutes)",
    ),
    "collect": ("trainers.collect:main", "write episodes of an expert or a policy to JSONL"),
    "train": ("", "train a policy: agentgym train ALGORITHM [options]"),
    "eval": ("trainers.evaluate:main", "measure a policy's success with a 95% interval"),
    "rescore": (
        "benchmarks.rescore.command:main",
        "play recorded episodes again, and list what differs",
    ),
    "headroom": (
        "trainers.headroom:main",
        "say before a run whether RL can work, and what to change",
    ),
    "suites": ("benchmarks.sweep.listing:main", "list the benchmark suites; a file may be one"),
    "sweep": ("benchmarks.sweep.command:main", "play a benchmark suite with several policies"),
    "report": ("benchmarks.report.command:main", "write a sweep's report, or a leaderboard"),
    "compare": ("benchmarks.compare.command:main", "compare policies on the tasks both played"),
    "view": ("benchmarks.viewer.command:main", "read runs and trajectories in the browser"),
    "new": ("benchmarks.cli.new:main", "write the package of a new environment"),
    "check": ("benchmarks.cli.check:main", "check that an environment keeps the contract"),
    "serve": ("benchmarks.cli.serve:main", "serve environments to other programs"),
    "export": (
        "benchmarks.export.command:main",
        "write an environment for OpenEnv, or episodes as ATIF",
    ),
    "doctor": (
        "benchmarks.doctor.command:main",
        "check this machine, and print the commands that mend faults",
    ),
    "serve-retriever": (
        "benchmarks.retrieval.serve:main",
        "serve a corpus by Search-R1's protocol",
    ),
    "build-index": ("benchmarks.retrieval.build_index:main", "encode a corpus for dense retrieval"),
}

SPECIALIST_COMMANDS = ("serve-retriever", "build-index")
"""The commands at the end of the help."""

_HELP = """\
usage: agentgym COMMAND [options]

Text environments of the AgentGym scenarios, and trainers that make language models better on them.

commands:
{everyday}

for search servers:
{specialist}

algorithms of agentgym train: {trainers}

`agentgym COMMAND --help` and `agentgym train ALGORITHM --help` list the options; they may be
written with - or _. Environments go by id or short name: agentgym/TextCraft-v0, TextCraft.

examples:
  agentgym envs
  agentgym play TextCraft --task-id textcraft_7
  agentgym collect --env TextCraft --policy expert --out episodes.jsonl
  agentgym train sft --env TextCraft --model tiny --max-steps 100
  agentgym train grpo --env TextCraft --model Qwen/Qwen2.5-3B-Instruct --use-peft
  agentgym eval --env TextCraft --model runs/grpo --split test
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after `agentgym`; None takes the program's own.

    Returns:
        the exit status: 0 on success, 2 for a mistake on the command line, 130 on Ctrl-C, 141
        where the reader of what is printed has gone, as `head` does.
    """
    try:
        try:
            return _dispatch(list(sys.argv[1:] if argv is None else argv))
        finally:
            sys.stdout.flush()  # here, and not at the interpreter's end, where it cannot be caught
    except BrokenPipeError:
        unread = [stream for stream in (sys.stdout, sys.stderr) if _is_unread(stream)]
        if not unread:
            raise
        for stream in unread:  # what is left in their buffers has to go somewhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 141


def _is_unread(stream: TextIO) -> bool:
    """Return whether a stream is a pipe whose reader has gone."""
    try:
        stream.flush()
    except BrokenPipeError:
        return True
    with contextlib.suppress(OSError, AttributeError):  # no file, or a system without `poll`
        poll = select.poll()
        poll.register(stream.fileno(), select.POLLOUT)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    return False


def _dispatch(words: list[str]) -> int:
    if os.getcwd() not in sys.path:  # as `python -m` has it, but last: it hides nothing installed
        sys.path.append(os.getcwd())  # `--env module:id` and `--wrapper module:Class` look there
    if words[:1] == ["help"] and words[1:]:  # `help train` is `train --help`
        words = [*words[1:], "--help"]
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help(), end="")
        return 0
    if words[0] == "--version":
        print(agentgym_envs.__version__)
        return 0
    name, *rest = words
    if name not in COMMANDS:
        hint = did_you_mean(name, COMMANDS, otherwise=f"commands: {', '.join(COMMANDS)}")
        if name in installed_trainers():
            hint = f"; did you mean train {name}?"
        return refuse(f"unknown command {name!r}{hint}")
    return _train(rest) if name == "train" else _run(COMMANDS[name][0], rest)


def _train(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(f"usage: agentgym train ALGORITHM [options]\nalgorithms: {_trainer_names()}")
        return 0
    algorithm, *rest = words
    trainers = installed_trainers()
    if algorithm not in trainers:
        hint = did_you_mean(algorithm, trainers, otherwise=f"algorithms: {_trainer_names()}")
        return refuse(f"unknown algorithm {algorithm!r}{hint}")
    target = trainers[algorithm]
    if {"-h", "--help"} & set(rest) and target == f"trainers.{algorithm}:main":
        from trainers.options.files import help_page  # without TRL, which the rest imports

        print(help_page(algorithm), end="")
        return 0
    return _run(target, rest)


def _run(target: str, argv: list[str]) -> int:
    module, _, function = target.partition(":")
    return run_command(lambda: getattr(import_module(module), function)(argv))


def _trainer_names() -> str:
    return (
        ", ".join(sorted(installed_trainers())) or f"none; install with: {install_command('train')}"
    )


def _help() -> str:
    lines = {name: f"  {name:<15} {summary}" for name, (_, summary) in COMMANDS.items()}
    specialist = [lines.pop(name) for name in SPECIALIST_COMMANDS]
    return _HELP.format(
        everyday="\n".join(lines.values()),
        specialist="\n".join(specialist),
        trainers=_trainer_names(),
    )
