"""`agentgym new env`: what it writes works as it stands, by the commands that it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym_envs.trajectories.trajectory import read_jsonl
from benchmarks.cli import new

ROOT = Path(__file__).parents[3]
ENV = "tidy_up:mylab/TidyUp-v0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("new") / "tidy_up"
    assert new.main(["env", "TidyUp", "--out", str(out)]) == 0
    return out


def run(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, as a user does who stands in it."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def agentgym(folder: Path, *words: str, stdin: str = "") -> str:
    done = run(folder, "-m", "benchmarks", *words, stdin=stdin)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_test_that_comes_along_passes_at_once(folder: Path) -> None:
    done = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_it_is_in_good_style(folder: Path) -> None:
    pytest.importorskip("ruff", reason="needs the dev extra")
    for words in (
        ("check", "--select", "E,F,I,UP,B", "--line-length", "100"),
        ("format", "--check"),
    ):
        done = run(folder, "-m", "ruff", *words, "--config", str(ROOT / "pyproject.toml"), ".")
        assert done.returncode == 0, done.stdout + done.stderr


def test_files_beside_the_code_are_installed_with_it(folder: Path, tmp_path: Path) -> None:
    words = folder / "tidy_up" / "words.txt"
    words.write_text("broom\n")
    try:
        build = "from setuptools import setup; setup()"
        done = run(folder, "-c", build, "-q", "build", "--build-base", str(tmp_path))
        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / "lib" / "tidy_up" / "words.txt").read_text() == "broom\n"
    finally:
        words.unlink()


@pytest.mark.full
def test_it_is_checked_played_and_evaluated_by_its_module_and_id(folder: Path) -> None:
    assert ", 0 failed" in agentgym(folder, "check", ENV)
    out = agentgym(folder, "play", ENV, "--task-id", "tidy_up_0", stdin=":expert\n" * 30)
    assert "Success after" in out
    agentgym(folder, "eval", "--env", ENV, "--policy", "expert", "--trajectories", "episodes.jsonl")
    episodes = list(read_jsonl(folder / "episodes.jsonl"))
    assert len(episodes) == 100 and all(episode.success for episode in episodes)
    assert len(agentgym(folder, "suites", "suite.yaml").splitlines()) == 5


@pytest.mark.slow
def test_it_trains_a_step(folder: Path) -> None:
    words = ["train", "grpo", "--env", ENV, "--model", "tiny", "--max_steps", "1"]
    words += ["--num_generations", "2", "--per_device_train_batch_size", "4", "--max_turns", "2"]
    words += ["--max_tokens_per_turn", "8", "--output_dir", "out", "--report_to", "none"]
    words += ["--eval_strategy", "no", "--use_cpu"]
    agentgym(folder, *words)
    assert (folder / "out" / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("name", "env_id", "module"),
    [
        ("TidyUp", "mylab/TidyUp-v0", "tidy_up"),
        ("tidy-up", "mylab/TidyUp-v0", "tidy_up"),
        ("tidy_up2", "mylab/TidyUp2-v0", "tidy_up2"),
        ("acme/SQLRoom", "acme/SQLRoom-v0", "sql_room"),
        ("mastermind", "mylab/Mastermind-v0", "mastermind"),
    ],
)
def test_a_name_gives_the_id_and_the_module(name: str, env_id: str, module: str) -> None:
    names = new.EnvironmentNames.from_name(name)
    assert (names.env_id, names.module) == (env_id, module)


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["env", "7up"], "begin with a letter"),
        (["env", "a b"], "such as TidyUp"),
        (["env", "a/b/c"], "got 'a/b/c'"),
        (["env", "json"], "must not be Python's own 'json'"),
        (["env", "class"], "must not be Python's own 'class'"),
        (["env", "numpy"], "a module 'numpy' is installed already"),
        (["env", "TidyUp", "--out", "."], "is there already; pass another --out"),
        (["env", "TidyUp", "--out", "file/out"], "file is not a folder"),
        (["trainer", "TidyUp"], "choose from"),
    ],
)
def test_what_cannot_be_written_is_refused(
    argv: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        new.main(argv)
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
