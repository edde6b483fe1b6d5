from __future__ import annotations

from pathlib import Path

import pytest

from agentgym_envs.core.text import counted
from agentgym_envs.trajectories.trajectory import Trajectory, read_jsonl
from trainers.options.errors import UsageError
from trainers.runs.progress_bar import Watch

SUCCESS = Trajectory("e", "e_0", status="terminated", success=True)
OTHER = Trajectory("e", "e_1", status="terminated")


def keep(watch: Watch, place: int, episode: Trajectory) -> None:
    assert watch.finished is not None
    watch.finished[place] = episode


def test_what_has_ended_outlives_an_interruption_and_a_second_attempt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "episodes.json"
    for name, episodes in (("unfinished", [SUCCESS, OTHER]), ("unfinished2", [OTHER])):
        with pytest.raises(KeyboardInterrupt), Watch("tiny", 3, output_file=out) as watch:
            for place, episode in enumerate(episodes):
                keep(watch, place, episode)
            raise KeyboardInterrupt
        kept = tmp_path / f"episodes.{name}.jsonl"
        assert list(read_jsonl(kept)) == episodes
        told = capsys.readouterr().err
        assert f"{counted(len(episodes), 'episode')} had ended, kept in {kept}" in told
    assert len(list(tmp_path.iterdir())) == 2


def test_a_call_that_plays_anew_tells_of_what_an_earlier_one_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "episodes.jsonl"
    with Watch("tiny", 2, output_file=out) as watch:
        keep(watch, 0, SUCCESS)
    capsys.readouterr()
    Watch("tiny", 2, output_file=out, resume=True)
    assert not capsys.readouterr().err
    Watch("tiny", 2, output_file=out)
    told = capsys.readouterr().err
    assert "episodes.unfinished.jsonl keeps what an earlier call played; --resume would" in told


def test_what_is_finished_is_not_played_again_by_resuming(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    out.write_text("")
    with pytest.raises(UsageError, match=r"episodes.jsonl is finished.*leave `resume` out"):
        Watch("tiny", 2, output_file=out, resume=True)
    Watch("tiny", 2, output_file=out)


def test_each_episode_is_there_as_soon_as_it_has_ended(tmp_path: Path) -> None:
    with Watch("tiny", 2, output_file=tmp_path / "new" / "episodes.jsonl") as watch:
        keep(watch, 0, SUCCESS)
        assert list(read_jsonl(tmp_path / "new" / "episodes.unfinished.jsonl")) == [SUCCESS]


def test_nothing_stays_once_the_episodes_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Watch("tiny", 1, output_file=tmp_path / "episodes.jsonl") as watch:
        keep(watch, 0, SUCCESS)
        watch.forget()
    assert not list(tmp_path.iterdir())
    assert not capsys.readouterr().err


def test_nothing_is_kept_where_there_is_no_file_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt), Watch("tiny", 2) as watch:
        watch(SUCCESS)
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    assert not capsys.readouterr().err


def test_a_later_call_takes_in_what_was_kept_but_for_a_half_line_of_a_kill(
    tmp_path: Path,
) -> None:
    out = tmp_path / "episodes.jsonl"
    with Watch("tiny", 3, output_file=out, options=("a",)) as watch:
        keep(watch, 2, SUCCESS)
        keep(watch, 0, OTHER)
    with (tmp_path / "episodes.unfinished.jsonl").open("ab") as file:
        file.write(b'{"place": 1, "opti')
    with Watch("tiny", 3, output_file=out, resume=True, options=("a",)) as watch:
        assert watch.finished == {2: SUCCESS, 0: OTHER}
        keep(watch, 1, OTHER)
    with Watch("tiny", 3, output_file=out, resume=True, options=("a",)) as watch:
        assert watch.finished == {2: SUCCESS, 0: OTHER, 1: OTHER}
    with pytest.raises(UsageError, match=r"unfinished.jsonl holds episodes .* other options"):
        Watch("tiny", 3, output_file=out, resume=True, options=("b",))
