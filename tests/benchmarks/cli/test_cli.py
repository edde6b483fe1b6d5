from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import agentgym_envs
from agentgym_envs import EnvFailure
from agentgym_envs.textcraft.env import TextCraftEnv
from benchmarks.cli import main as cli


def test_help_names_every_command_and_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in cli.COMMANDS)
    assert "grpo, ppo" in text


def test_help_lists_the_everyday_commands_before_the_specialists(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cli.main(["--help"])
    everyday, _, rest = capsys.readouterr().out.partition("\nfor search servers")
    for name in cli.COMMANDS:
        place = rest if name in cli.SPECIALIST_COMMANDS else everyday
        assert f"\n  {name} " in place


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert capsys.readouterr().out.startswith("usage: agentgym COMMAND")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == agentgym_envs.__version__


@pytest.mark.parametrize(
    ("argv", "allowed"),
    [
        (["trian"], "unknown command 'trian'; did you mean train?"),
        (["fly"], "commands: envs, play, quickstart"),
        (["grpo"], "unknown command 'grpo'; did you mean train grpo?"),
        (["train", "gpro"], "unknown algorithm 'gpro'; did you mean grpo"),
        (["train", "dqn2013"], "algorithms: agentevol, distill, dpo, grpo"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_or_all(
    argv: list[str], allowed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(argv) == 2
    message = capsys.readouterr().err
    assert repr(argv[-1]) in message
    assert allowed in message


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["help"], "usage: agentgym COMMAND"),
        (["help", "train"], "usage: agentgym train ALGORITHM"),
        (["help", "train", "grpo"], "usage: agentgym train grpo"),
        (["help", "sweep"], "usage: agentgym sweep"),
    ],
)
def test_help_shows_the_page_of_what_follows_it(
    words: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        assert cli.main(words) == 0
    except SystemExit as left:
        assert not left.code
    assert capsys.readouterr().out.startswith(usage)


def test_train_alone_lists_the_algorithms(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train"]) == 0
    assert "algorithms: agentevol, distill, dpo, grpo" in capsys.readouterr().out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_help_page(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status: int | str | None = cli.main([name, "--help"])
    except SystemExit as left:
        status = left.code
    assert status in (0, None)
    assert "usage: agentgym" in capsys.readouterr().out


@pytest.fixture
def command_that(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Put a command named `probe` into the table that runs the given function."""

    def install(run: object) -> None:
        monkeypatch.setattr(sys.modules[__name__], "probe", run, raising=False)
        monkeypatch.setitem(cli.COMMANDS, "probe", (f"{__name__}:probe", ""))

    return install


def test_a_command_gets_the_rest_of_the_line(command_that: Callable[[object], None]) -> None:
    seen: list[str] = []
    command_that(seen.extend)
    assert cli.main(["probe", "--max_steps", "3"]) == 0
    assert seen == ["--max_steps", "3"]


def test_a_command_may_give_an_exit_status(command_that: Callable[[object], None]) -> None:
    command_that(lambda argv: 3)
    assert cli.main(["probe"]) == 3


def test_ctrl_c_ends_a_command_without_a_traceback(
    command_that: Callable[[object], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(argv: list[str]) -> None:
        raise KeyboardInterrupt

    command_that(interrupt)
    assert cli.main(["probe"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted"


LONG_COMMAND = """
import sys
from benchmarks.cli import main as cli

def probe(argv):
    for number in range(100_000 if argv == ["much"] else 1):
        print(number)
    if argv == ["exits"]:
        raise SystemExit(0)

sys.modules["probe"] = sys.modules["__main__"]
cli.COMMANDS["probe"] = ("probe:probe", "")
sys.exit(cli.main(["probe", *sys.argv[1:]]))
"""


def read_by_nobody(*words: str, python: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run a command whose reader has gone, as `head` does, and return its status and complaints."""
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, *python, "-c", LONG_COMMAND, *words],
        stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
    )  # fmt: skip
    os.close(writer)
    return ended.returncode, ended.stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes that break")
@pytest.mark.parametrize("words", [["much"], ["little"], ["exits"]])
@pytest.mark.parametrize("python", [(), ("-u",)], ids=["buffered", "unbuffered"])
def test_a_reader_that_has_read_enough_ends_a_command_in_silence(
    words: list[str], python: tuple[str, ...]
) -> None:
    assert read_by_nobody(*words, python=python) == (141, "")


def test_a_pipe_that_breaks_elsewhere_is_not_hidden(
    command_that: Callable[[object], None],
) -> None:
    def broken(argv: list[str]) -> None:
        raise BrokenPipeError("a simulator's")

    command_that(broken)
    with pytest.raises(BrokenPipeError, match="a simulator's"):
        cli.main(["probe"])


@pytest.mark.full
@pytest.mark.parametrize(
    ("missing", "words", "extra"),
    [("torch", ["train", "grpo"], "train"), ("bm25s", ["play", "SearchQA"], "search")],
)
def test_without_a_package_a_command_says_what_to_install(
    missing: str, words: list[str], extra: str
) -> None:
    script = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"from benchmarks.cli import main as cli; sys.exit(cli.main({words!r}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert f'pip install "agentgym-envs[{extra}]"' in done.stderr


@pytest.mark.full
@pytest.mark.parametrize(
    "words",
    [
        ["sweep", "--suite", "quick", "--policy", "random"],
        ["suites", "quick"],
        [
            "eval",
            "--policy",
            "random",
            "--env",
            "WebArena",
            "--env",
            "SearchQA",
            "--env",
            "SciWorld",
        ],
    ],
    ids=" ".join,
)
def test_all_extras_that_are_missing_are_named_at_once(words: list[str]) -> None:
    script = (
        "import sys; sys.modules |= dict.fromkeys(['starlette', 'bm25s', 'scienceworld'])\n"
        f"from benchmarks.cli import main as cli; sys.exit(cli.main({words!r}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    extras = re.fullmatch(r'.* -m pip install "agentgym-envs\[(.+)\]"', line)
    assert extras is not None and set(extras[1].split(",")) == {"web", "search", "science"}


def test_other_import_errors_are_not_hidden(command_that: Callable[[object], None]) -> None:
    def broken(argv: list[str]) -> None:
        raise ImportError("cannot import name 'x'")

    command_that(broken)
    with pytest.raises(ImportError, match="name 'x'"):
        cli.main(["probe"])


def test_an_unknown_task_is_a_mistake_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["eval", "--env", "TextCraft", "--policy", "random", "--tasks", "7"]) == 2
    assert "the subtasks ['depth 1'," in capsys.readouterr().err


def test_asking_for_an_expert_where_there_is_none_is_one_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delattr(TextCraftEnv, "expert_moves")
    words = ["collect", "--env", "TextCraft", "--policy", "expert", "--num_episodes", "1"]
    assert cli.main([*words, "--out", str(tmp_path / "episodes.jsonl")]) == 2
    assert "TextCraftEnv has no expert" in capsys.readouterr().err


def test_what_cannot_be_done_as_told_is_one_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert cli.main(["eval", "--env", "TextCraft", "--policy", nowhere]) == 2
    assert f"there is no folder {nowhere}" in capsys.readouterr().err
    assert cli.main(["eval", "--policy", "random"]) == 2
    assert "no environment is named; pass --env" in capsys.readouterr().err
    assert cli.main(["eval", "--policy", "random", "--env", "CartPole-v1"]) == 2
    assert "CartPole-v1 is no text environment; registered: agentgym/" in capsys.readouterr().err


def test_a_trainers_refusal_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "grpo", "--env", "TextCraft", "--tasks", "depth 4", "--model", "tiny"]
    assert cli.main([*words, "--report_to", "none", "--max_steps", "1"]) == 2
    told = capsys.readouterr().err
    assert "needs 8 tasks, got 7" in told and "Traceback" not in told


def test_broken_machinery_ends_a_command_with_what_broke(
    command_that: Callable[[object], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(argv: list[str]) -> None:
        raise EnvFailure("the server is down")

    command_that(broken)
    assert cli.main(["probe"]) == 75
    assert "not the policy: the server is down" in capsys.readouterr().err


def test_help_shows_the_spellings_that_the_documentation_uses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command, option in (
        ("sweep", "--max-turns TURNS"),
        ("eval", "--policy, --model POLICY"),
        ("collect", "--policy, --model POLICY"),
    ):
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        assert f"  {option} " in capsys.readouterr().out


def test_modules_are_found_where_the_command_is_called(tmp_path: Path) -> None:
    (tmp_path / "counting_here.py").write_text("from tests.helpers import *\nregister_helpers()\n")
    command = [str(Path(sys.executable).with_name("agentgym")), "eval", "--policy", "expert"]
    command += ["--env", "counting_here:tests/Counting-v0"]
    command += ["--env_backend", "process", "--num_envs", "2"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("expert: success 100.0%")
