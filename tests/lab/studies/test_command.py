from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.studies.command import main
from lab.studies.study import Plan, load_study, study_names
from tests.lab.studies.test_table import write


def test_all_studies_are_listed_with_their_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert study_names()
    for name in study_names():
        assert f"  {name} " in listed and load_study(name).question in listed


def test_an_unknown_study_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learnin"]) == 2
    assert "did you mean learning?" in capsys.readouterr().err


@pytest.mark.parametrize("name", study_names())
def test_the_help_of_a_study_is_its_question(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert load_study(name).question in shown
    assert ("--small" in shown) == ("--model" in shown) == (name == "rl_alone")


def test_what_is_left_is_printed_and_the_table_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["horizons", "--out", str(tmp_path), "--env", "ALFWorld", "--seeds", "0", "--table_only"]
    argv += ["--variants", "fixed_short", "fixed_long", "staged", "backward"]
    done = Plan(load_study("horizons"), tmp_path).run("ALFWorld", "staged", 0)
    done.folder.mkdir(parents=True)
    (done.folder / "done").touch()
    assert main(argv) == 0
    assert capsys.readouterr().out.strip() == (
        "ALFWorld: 1 of 4 runs are done; left: fixed_short/seed_0, fixed_long/seed_0, "
        "backward/seed_0"
    )
    write(tmp_path / "ALFWorld" / "start" / "seed_0", 1, of=2)
    assert main(argv) == 0
    assert "(the start)" in capsys.readouterr().out
    assert "(the start)" in (tmp_path / "ALFWorld" / "table.md").read_text()


@pytest.mark.slow
def test_a_rehearsal_trains_and_tests_and_what_was_cut_is_tested_by_its_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["rl_alone", "--model", "tiny", "--small", "--variants", "fixed", "--seeds", "0"]
    words += ["--env", "listed", "--out", str(tmp_path)]
    assert main([*words, "--minutes", "0.001"]) == 0
    shown = capsys.readouterr().out
    assert "as it is" in shown and "listed: 0 of 1 runs are done; left: fixed/seed_0" in shown
    assert "GRPO, fixed horizon" not in shown and "unlisted" not in shown
    assert main(words) == 0
    assert "GRPO, fixed horizon" in capsys.readouterr().out
    own = tmp_path / "listed" / "fixed" / "seed_0"
    assert (own / "after.jsonl").is_file()
    # As if the training had been cut behind its checkpoint:
    for path in (own / "done", own / "done_0", own / "after.json", own / "after.jsonl"):
        path.unlink()
    assert main([*words, "--minutes", "0"]) == 0
    assert "GRPO, fixed horizon" in capsys.readouterr().out
    measured = json.loads((own / "checkpoint-2" / "after.json").read_text())
    assert measured["policy"].endswith("checkpoint-2")
