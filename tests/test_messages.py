"""The messages of common mistakes are those of `tests/messages.txt`, one page to judge them by.

`python -m tests.test_messages` writes the file's answers anew.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401
from benchmarks.cli.main import main

FILE = Path(__file__).parent / "messages.txt"


def blocks() -> list[str]:
    """List the file's blocks: a comment, or a mistake with its message."""
    return FILE.read_text("utf-8").strip().split("\n\n")


def message(mistake: str, folder: Path) -> str:
    """Return the answer to a mistake, made in an empty folder."""
    previous = Path.cwd()
    os.chdir(folder)
    try:
        kind, _, text = mistake.partition(" ")
        answer = of_command(text) if kind == "$" else of_expression(text)
    finally:
        os.chdir(previous)
    return answer.replace(sys.executable, "python").replace(str(folder), ".").strip()


def of_command(line: str) -> str:
    words = shlex.split(line.replace('"', '\\"'))[1:]
    with redirect_stderr(StringIO()) as errors, redirect_stdout(StringIO()):
        try:
            status: Any = main(words)
        except SystemExit as left:
            status = left.code
    assert status == 2, f"{line} ends with {status}"
    return "\n".join(line for line in errors.getvalue().splitlines() if line.startswith("agentgym"))


def of_expression(text: str) -> str:
    from trainers import AgentGRPOConfig, AgentGRPOTrainer
    from wrappers import HorizonCurriculum, TextVectorEnv

    names = {
        "gym": gym,
        "env": gym.make("agentgym/TextCraft-v0"),
        "HorizonCurriculum": HorizonCurriculum,
        "TextVectorEnv": TextVectorEnv,
        "AgentGRPOConfig": AgentGRPOConfig,
        "AgentGRPOTrainer": AgentGRPOTrainer,
    }
    try:
        eval(text, names)
    except (TypeError, ValueError, gym.error.Error) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{text} raises nothing")


@pytest.mark.parametrize("block", [block for block in blocks() if block[0] in "$>"], ids=str)
def test_a_common_mistake_gets_the_message_of_the_page(block: str, tmp_path: Path) -> None:
    mistake, _, answer = block.partition("\n")
    assert message(mistake, tmp_path) == answer


def _give_up(*_: object) -> None:
    raise AssertionError("it begins in place of a message")


def write() -> None:
    """Write the file with the answers of today."""
    signal.signal(signal.SIGALRM, _give_up)
    written = []
    for block in blocks():
        mistake = block.partition("\n")[0]
        if block[0] in "$>":
            with TemporaryDirectory() as folder:
                signal.alarm(60)
                try:
                    block = f"{mistake}\n{message(mistake, Path(folder))}"
                except AssertionError as error:
                    block = f"{mistake}\n?? {error}"
                signal.alarm(0)
        written.append(block)
    FILE.write_text("\n\n".join(written) + "\n", "utf-8")


if __name__ == "__main__":
    write()
