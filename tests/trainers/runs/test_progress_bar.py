"""How far episodes are played, where there is no terminal."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest

from agentgym_envs.trajectories.trajectory import ModelCall, Trajectory, Turn
from tests.trainers.toys import ENV_ID, make_folder
from trainers.agentevol import main as agentevol
from trainers.collect import expert_episodes
from trainers.dpo import main as dpo
from trainers.ledger import Answer, Ledger
from trainers.options.arguments import EnvArguments
from trainers.rollout.environments import Environments
from trainers.runs import progress_bar
from trainers.runs.progress_bar import EpisodeProgress, Watch


class Clock:
    now = 50.0

    def __call__(self) -> float:
        return self.now


def test_the_facts_are_how_episodes_ended_what_they_cost_and_the_time_left() -> None:
    clock = Clock()
    spent: dict[str, float | None] = {"small": None}
    progress = EpisodeProgress({"small": 40}, spent=lambda: spent, clock=clock)
    assert progress.facts() == {"small": "0 of 40 episodes"}
    progress.add("small", episodes=10, won=9, lost=1, earlier=True)
    assert progress.facts() == {
        "small": "10 of 40 episodes, 9 won, 1 lost, 30 under way or to come"
    }
    clock.now += 30
    progress.add("small", won=1)
    progress.add("small", failed=1)
    spent["small"] = 0.123456
    # Two episodes in 30 s, and 28 to play: those of an earlier command took no time of this one.
    assert progress.facts() == {
        "small": "12 of 40 episodes, 10 won, 1 lost, 1 failed, 28 under way or to come, "
        "cost 0.1235, 0:07:00 left"
    }


def test_those_that_win_first_are_shown_as_counts_and_never_as_a_rate() -> None:
    progress = EpisodeProgress({"small": 100}, clock=Clock())
    for _ in range(63):
        progress.add("small", won=1)
    assert progress.facts()["small"].startswith(
        "63 of 100 episodes, 63 won, 0 lost, 37 under way or to come, "
    )
    for place in range(37):
        assert "%" not in progress.facts()["small"]
        progress.add("small", won=place < 3, lost=place >= 3)
    assert progress.facts()["small"].startswith("100 of 100 episodes, 66 won, 34 lost, 0:00:00")


def test_of_several_that_play_each_has_a_row_and_its_lines_are_written_where_they_changed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_bar, "LINE_SECONDS", 0.02)
    progress = EpisodeProgress({"small": 4, "large": 4}, spent=lambda: {"small": 0.5, "large": 1})
    with progress:
        time.sleep(0.2)
        progress.add("large", lost=1)
        progress.add("large", won=1)
        time.sleep(0.2)
    lines = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("all: ")]
    assert lines[:2] == ["small: 0 of 4 episodes, cost 0.5", "large: 0 of 4 episodes, cost 1"]
    assert lines[-1] == "large: 2 of 4 episodes, 1 won, 1 lost, 2 under way or to come, cost 1"
    assert len(lines) in (3, 4)  # between the two that ended a line may have been written
    assert progress.facts()["all"].startswith("2 of 8 episodes, 1 won, 1 lost, 6 ")


def test_a_line_is_written_now_and_then_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress_bar, "LINE_SECONDS", 0.02)
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    progress = EpisodeProgress({"small": 4})
    progress.add("small", lost=1)
    with progress:
        deadline = time.monotonic() + 10
        while told.getvalue().count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
    lines = told.getvalue().splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("small: 1 of 4 episodes, 0 won, 1 lost, ") for line in lines), lines
    time.sleep(0.1)
    assert told.getvalue().splitlines() == lines


def test_a_watch_counts_what_was_spent_and_says_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger()
    with (
        pytest.raises(KeyboardInterrupt),
        Watch("small", 2, output_file=tmp_path / "a.jsonl", ledger=ledger) as watch,
    ):
        ledger.add("key", Answer("a", cost=0.5))
        watch(Trajectory("e", "e_0", status="failed"))
        facts = watch._progress.facts()["small"]
        assert facts.startswith("1 of 2 episodes, 1 failed, 1 under way or to come")
        assert "cost 0.5" in facts
        raise KeyboardInterrupt
    assert "0 episodes had ended" in (told := capsys.readouterr().err)
    assert "and the answers that have cost 0.5. The same command with --resume" in told
    assert [file.name for file in tmp_path.iterdir()] == ["a.unfinished.answers"]


def test_a_failed_episodes_cost_is_its_turns() -> None:
    turns = [
        Turn("o", "a", 0.0, is_valid_action=True, score=0.0, call=ModelCall(cost=cost))
        for cost in (0.25, None, 0.5)
    ]
    assert Trajectory("e", "e_0", turns=turns).cost == 0.75
    assert Trajectory("e", "e_0", turns=turns[1:2]).cost is None
    assert Trajectory("e", "e_0").cost is None


# Training that plays first --------------------------------------------------------------------


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is shown at the end of each watch."""
    shown: list[str] = []
    leave = EpisodeProgress.__exit__

    def note(self: EpisodeProgress, *error: object) -> None:
        shown.extend(f"{name}: {facts}" for name, facts in self.facts().items())
        leave(self, *error)  # type: ignore[arg-type]

    monkeypatch.setattr(EpisodeProgress, "__exit__", note)
    return shown


def test_the_experts_episodes_are_shown(names: list[str]) -> None:
    environments = Environments(EnvArguments(env=[ENV_ID], action_format="plain"))
    expert_episodes(environments, ["letters_0", "letters_1"])
    assert names[0].startswith("expert: 2 of 2 episodes, 2 won, 0 lost")
    environments.close()


@pytest.mark.full
def test_agentevol_shows_what_each_round_explores(names: list[str], tmp_path: Path) -> None:
    words = f"--env {ENV_ID} --model {make_folder(tmp_path / 'model')} --action_format plain"
    words += f" --num_explored_tasks 3 --num_samples 2 --output_dir {tmp_path / 'run'}"
    words += " --max_tokens_per_turn 4 --max_steps 1 --num_rounds 1 --expert_episodes 2"
    assert agentevol(f"{words} --num_eval_tasks 1 --disable-tqdm".split()) == 0
    assert [line.partition(" episodes")[0] for line in names] == [
        *("expert: 2 of 2", "round 1 explores: 6 of 6")
    ]


def test_dpo_shows_what_it_plays_before_it_trains(names: list[str], tmp_path: Path) -> None:
    words = f"--env {ENV_ID} --model {make_folder(tmp_path / 'model')} --action_format plain"
    words += f" --num_tasks 3 --num_samples 2 --num_eval_tasks 1 --output_dir {tmp_path / 'run'}"
    words += " --max_tokens_per_turn 4 --max_steps 1 --disable-tqdm"
    dpo(words.split())
    assert [line.partition(" episodes")[0] for line in names] == [
        *("expert: 3 of 3", "sampling for pairs: 6 of 6")
    ]
