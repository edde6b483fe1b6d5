from __future__ import annotations

import subprocess
import sys

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from benchmarks.cli import play
from tests.helpers import COUNTING_ID, register_helpers

TASK = ["TextCraft", "--task-id", "textcraft_30"]
EXPERT_TURNS = 4


@pytest.fixture(scope="module")
def first_move() -> str:
    env = gym.make("agentgym/TextCraft-v0")
    env.reset(options={"task_id": TASK[-1]})
    return str(next(env.unwrapped.expert()))  # type: ignore[attr-defined]


def run(monkeypatch: pytest.MonkeyPatch, argv: list[str], *lines: str) -> int:
    answers = iter(lines)

    def read(prompt: str) -> str:
        print(prompt, end="")
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", read)
    return play.main(argv)


def test_the_expert_can_play_the_task_to_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, TASK, *[":expert"] * EXPERT_TURNS, ":quit") == 0
    text = capsys.readouterr().out
    assert "Success after 4 turns: score 1.00, total reward 1." in text
    assert "daylight detector" in text


def test_a_hint_is_shown_and_not_played(
    first_move: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, TASK, ":hint", ":hint", ":quit")
    text = capsys.readouterr().out
    assert text.splitlines().count(first_move) == 2
    assert "[1/30]" not in text


def test_the_expert_goes_on_from_where_the_person_stands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, TASK, "get 3 quartz", *[":expert"] * (EXPERT_TURNS - 1), ":quit")
    assert "Success after 4 turns" in capsys.readouterr().out


def test_a_bad_action_is_answered_and_marked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, TASK, "fly away", ":quit")
    assert "(reward 0, score 0.00, not a valid action)" in capsys.readouterr().out


def test_restart_plays_the_same_task_and_new_draws_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, [*TASK, "--seed", "0"], "get 3 glass", ":restart", ":new", ":quit")
    starts = [line for line in capsys.readouterr().out.splitlines() if line.startswith("---")]
    assert starts[0] == starts[1] != starts[2]
    assert "train" in starts[2]


def test_after_the_end_nothing_is_played(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, [*TASK, "--max-turns", "1"], "get 3 glass", "get 3 glass", ":expert")
    text = capsys.readouterr().out
    assert "No success after 1 turn, stopped by max_turns" in text
    assert "The episode is over: :restart, :new or :quit." in text
    assert play.NO_MOVE in text


def test_the_other_commands_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    register_helpers()
    argv = [COUNTING_ID, "--task-id", "4"]
    run(monkeypatch, argv, ":help", ":goal", ":actions", ":bogus", ":quit")
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in play.COMMANDS)
    assert "bring the counter to 5" in text
    assert "add 9\ndouble" in text
    assert "Unknown command :bogus" in text


def test_an_action_may_take_several_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["```python\\", "get(3, 'glass')\\", "```", ":quit"]
    run(monkeypatch, [*TASK, "--action_format", "code"], *lines)
    assert "Got 3 glass" in capsys.readouterr().out


def test_ctrl_c_leaves_cleanly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    assert play.main(TASK) == 0


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["Chess"], "agentgym/TextCraft-v0"),
        (["TextCraft", "--task-id", "textcraft_9999"], "textcraft_9999"),
        (["TextCraft", "--split", "dev"], "validation"),
        (["TextCraft", "--max-turns", "0"], "max_turns must be >= 1"),
        (["TextCraft", "--seed", "-1"], "--seed must be >= 0, got -1"),
        (["CartPole-v1"], "CartPole-v1 is no text environment"),
        (["TextCraft", "--env-kwargs", "{}}"], "env_kwargs must be a JSON object, got '{}}'"),
        (
            ["TextCraft", "--env-kwargs", '{"top_k": 3}'],
            "TextCraft-v0 takes no argument 'top_k'; it takes recipes_dir, book, split",
        ),
    ],
)
def test_a_mistake_on_the_command_line_is_told(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        play.main(argv)
    assert left.value.code == 2
    assert told in capsys.readouterr().err


def test_a_pipe_can_play(first_move: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "play", *TASK],
        input=":expert\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"[0/30] > :expert\n{first_move}\n\nGot" in result.stdout
    assert result.stderr == ""
