"""`eval` and `collect` wait for a disk that is full, and can be resumed where it stays so."""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentgym_envs import read_jsonl
from trainers.collect import main as collect
from trainers.evaluate import main as evaluate
from trainers.options.errors import run_command
from trainers.runs import progress_bar

PLAY = ["--env", "Wordle", "--policy", "random", "--num_tasks", "4", "--seed", "1"]


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file of this process grow beyond a byte."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def command(name: str, out: Path, *options: str) -> int:
    main, flag = (evaluate, "--trajectories") if name == "eval" else (collect, "--out")
    return run_command(lambda: main([*PLAY, flag, str(out), *options]))


@pytest.mark.parametrize("name", ["eval", "collect"])
def test_a_disk_that_stays_full_ends_a_command_that_can_be_resumed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "episodes.jsonl"
    with full_disk(), pytest.raises(SystemExit) as ended:
        command(name, out, "--max_outage", "0")
    assert ended.value.code == 75
    assert "agentgym: the disk took no more: " in capsys.readouterr().err
    assert not out.exists() and not list(tmp_path.rglob("*.tmp"))
    assert command(name, out, "--resume") == 0
    assert len(list(read_jsonl(out))) == 4


@pytest.mark.parametrize("name", ["eval", "collect"])
def test_a_disk_that_is_full_for_a_while_is_waited_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    append, left = progress_bar.append_whole, [2]

    def refuse_twice(path: Path, content: bytes) -> None:
        if left[0]:
            left[0] -= 1
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        append(path, content)

    monkeypatch.setattr(progress_bar, "append_whole", refuse_twice)
    monkeypatch.setattr("wrappers.failures.FIRST_PAUSE", 0.01)
    out = tmp_path / "episodes.jsonl"
    assert command(name, out) == 0
    assert caplog.text.count("once more in") == 2
    assert len(list(read_jsonl(out))) == 4
