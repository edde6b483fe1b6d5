from __future__ import annotations

from pathlib import Path

import pytest

from lab.studies import grounds
from lab.studies.learning import (
    ALGORITHMS,
    EPISODES_PER_BATCH,
    GROUNDS,
    measurement,
    run_of,
)
from lab.studies.runs import LOG, Run, making_of, play_all, start_of
from trainers.options.errors import UsageError
from trainers.runs.lock import holding


@pytest.mark.full
def test_a_run_that_is_done_is_not_played_again(tmp_path: Path) -> None:
    run = Run(tmp_path / "one", (("envs",), ("--version",)))
    assert not run.is_done
    play_all([run], workers=1, threads=1)
    assert run.is_done
    log = (tmp_path / "one" / LOG).read_text()
    assert "TextCraft" in log
    play_all([run], workers=1, threads=1)
    assert (tmp_path / "one" / LOG).read_text() == log


def test_a_command_that_fails_stops_the_study_and_names_its_log(tmp_path: Path) -> None:
    bad = Run(tmp_path / "bad", (("envs", "--no_such_option"), ("--version",)))
    after = Run(tmp_path / "after", (("--version",),))
    with pytest.raises(
        RuntimeError, match=r"agentgym envs --no_such_option .* status 2; see .*bad"
    ):
        play_all([bad, after], workers=1, threads=1)
    assert not bad.is_done


@pytest.mark.full
def test_a_run_goes_on_with_the_command_that_did_not_end(tmp_path: Path) -> None:
    folder, later = tmp_path / "run", tmp_path / "later"
    with pytest.raises(RuntimeError):
        play_all([Run(folder, (("--version",), ("view", str(later))))], workers=1, threads=1)
    first = (folder / LOG).read_text()
    # Were the first command called again, it would fail now.
    play_all([Run(folder, (("no_such_command",), ("envs",)))], workers=1, threads=1)
    assert "TextCraft" in (folder / LOG).read_text().removeprefix(first)


def test_a_run_is_played_by_one_study_at_a_time(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", (("--version",),))
    with holding(run.folder, "study"), pytest.raises(UsageError, match=r"run is held by .*study"):
        play_all([run], workers=1, threads=1)
    play_all([run], workers=1, threads=1)
    assert run.is_done


@pytest.mark.parametrize("ground", grounds.GROUNDS)
def test_studies_share_the_starts_of_their_grounds(ground: str, tmp_path: Path) -> None:
    start = grounds.GROUNDS[ground].start
    studies = [tmp_path / f"study_{name}" / ground for name in ("credit", "horizons")]
    models, makings = (
        {found(start, folder) for folder in studies} for found in (start_of, making_of)
    )
    assert len(models) == len(makings) == 1
    if start:
        assert Path(models.pop()).is_relative_to(tmp_path)


@pytest.mark.parametrize("ground", GROUNDS)
def test_every_algorithms_run_ends_with_the_same_measurement(ground: str, tmp_path: Path) -> None:
    for name in ALGORITHMS:
        run = run_of(ground, name, 3, tmp_path)
        words = run.commands[-1]
        model, out = Path(words[words.index("--model") + 1]), Path(words[words.index("--out") + 1])
        assert words == measurement(ground, str(model), out, 3)
        assert {model.parent, out.parent} == {run.folder}
        assert "--resume" in next(words for words in run.commands if words[0] == "train")
        assert all("3" in words for words in run.commands)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in ("agentevol", "dpo")])
def test_algorithms_that_play_get_equally_many_episodes(
    ground: str, name: str, tmp_path: Path
) -> None:
    words = run_of(ground, name, 0, tmp_path).commands[0]

    def value(option: str) -> int:
        return int(words[words.index(option) + 1])

    a_step = value("--per_device_train_batch_size") * value("--gradient_accumulation_steps")
    assert a_step * value("--max_steps") == GROUNDS[ground].batches * EPISODES_PER_BATCH
