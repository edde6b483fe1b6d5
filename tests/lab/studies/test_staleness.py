from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from agentgym_envs.trajectory import Trajectory
from lab.studies.runs import DONE
from lab.studies.staleness import CASES, draw_curves, run_of, staleness_table
from trainers.evaluation.summary import summarize


def test_the_runs_differ_in_nothing_but_staleness_and_correction(tmp_path: Path) -> None:
    def words(name: str) -> str:
        text = " ".join(run_of(name, 0, tmp_path).commands[0]).replace(" ".join(CASES[name]), "")
        return text.replace(name.replace(" = ", "").replace(", ", "_").replace(" ", "_"), "")

    assert len(CASES) == 7
    assert len({words(name) for name in CASES}) == 1


def test_a_run_is_measured_once_it_is_trained(tmp_path: Path) -> None:
    training = run_of("K = 1", 0, tmp_path)
    assert training.commands[0][1:3] == ("train", "grpo")
    training.folder.mkdir(parents=True)
    (training.folder / DONE).touch()
    assert run_of("K = 1", 0, tmp_path).commands[0][0] == "eval"


def test_the_table_has_what_was_measured(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no measurement of the start"):
        staleness_table(tmp_path)
    for folder, wins in (("start", 1), ("K2", 2)):
        own = tmp_path / folder / "seed_0"
        (own / "model").mkdir(parents=True)
        played = [
            Trajectory("e", f"a_{i}", status="terminated", success=i < wins) for i in range(2)
        ]
        summarize(played).save(own / "after.json")
        (own / "model" / "metrics.jsonl").write_text(
            "".join(
                f'{{"global_step": {step}, "episodes/success": 0.5, "step_time": 3, '
                '"async/staleness": 2}\n'
                for step in range(1, 9)
            )
        )
    row = staleness_table(tmp_path).splitlines()[-1]
    assert "K = 2 " in row
    assert "100.0% (1)" in row
    assert "2.00" in row
    with Image.open(draw_curves(tmp_path)) as picture:
        assert picture.width > 1000
