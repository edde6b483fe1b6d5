from __future__ import annotations

import time
from pathlib import Path

import pytest

from lab.studies.runs import LOG, Run, run_all
from trainers.options.errors import UsageError
from trainers.runs.folder import holding


@pytest.mark.full
def test_a_run_that_is_done_is_not_run_again(tmp_path: Path) -> None:
    run = Run(tmp_path / "one", (("agentgym", "envs"), ("agentgym", "--version")))
    assert not run.is_done
    run_all([run], workers=1, threads=1)
    assert run.is_done
    log = (tmp_path / "one" / LOG).read_text()
    assert "TextCraft" in log
    run_all([run], workers=1, threads=1)
    assert (tmp_path / "one" / LOG).read_text() == log


def test_a_command_that_fails_stops_the_study_and_names_its_log(tmp_path: Path) -> None:
    failing = ("agentgym", "envs", "--no_such_option")
    bad = Run(tmp_path / "bad", (failing, ("agentgym", "--version")))
    after = Run(tmp_path / "after", (("agentgym", "--version"),))
    with pytest.raises(
        RuntimeError, match=r"agentgym envs --no_such_option .* status 2; see .*bad"
    ):
        run_all([bad, after], workers=1, threads=1)
    assert not bad.is_done


def test_a_run_goes_on_with_the_command_that_did_not_end(tmp_path: Path) -> None:
    say, fail = ("python", "-c", "print('first')"), ("python", "-c", "raise SystemExit(3)")
    with pytest.raises(RuntimeError):
        run_all([Run(tmp_path, (say, fail))], workers=1, threads=1)
    # Were the first command called again, it would fail now.
    run = Run(tmp_path, (fail, ("python", "-c", "print('second')")))
    run_all([run], workers=1, threads=1)
    assert (tmp_path / LOG).read_text() == "first\nsecond\n" and run.is_done


def test_a_run_is_run_by_one_study_at_a_time(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", (("python", "-c", ""),))
    with holding(run.folder, "study"), pytest.raises(UsageError, match=r"run is held by .*study"):
        run_all([run], workers=1, threads=1)
    run_all([run], workers=1, threads=1)
    assert run.is_done


def test_commands_are_terminated_at_the_end_and_are_not_done(tmp_path: Path) -> None:
    sleeping = ("python", "-c", "import time; time.sleep(60)")
    runs = [Run(tmp_path / name, (sleeping,)) for name in ("first", "second")]
    before = time.monotonic()
    run_all(runs, workers=1, threads=1, seconds=0.5)
    assert time.monotonic() - before < 30
    assert not any(run.is_done for run in runs)


def test_an_evaluation_is_not_terminated_at_the_end(
    tmp_path: Path,
) -> None:
    evaluation = Run(tmp_path / "run", (("agentgym", "eval", "--help"),))
    run_all([evaluation], workers=1, threads=1, seconds=0.0)
    assert evaluation.is_done
