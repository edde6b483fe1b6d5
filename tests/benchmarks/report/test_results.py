import re

import pytest

from agentgym_envs.trajectories.trajectory import read_jsonl, write_jsonl
from benchmarks.report.results import read_sweep
from benchmarks.sweep.suite_files import find_suite
from tests.benchmarks.report.samples import (
    SEARCHQA,
    TEXTCRAFT,
    played,
    reported,
    rows_of,
    textcraft_sweep,
)
from tests.benchmarks.sweep.samples import episodes_of
from trainers.evaluation.summary import summarize


def test_seeds_are_pooled_as_further_samples_of_a_task(tmp_path):
    textcraft_sweep(tmp_path, ["p"], seeds=[0, 1, 2])
    (setting,) = read_sweep(tmp_path).settings
    assert (setting.seeds, setting.whole.samples) == ([0, 1, 2], 3)
    assert setting.whole.seconds == pytest.approx(6.0)


@pytest.mark.parametrize("seeds", [[0], [0, 1, 2]], ids=["once", "several times"])
def test_an_evaluation_and_a_report_give_the_same_episodes_one_interval(tmp_path, seeds):
    folder = textcraft_sweep(tmp_path, ["p"], seeds=seeds)
    cells = folder.cells()
    for cell in cells[1:]:  # some tasks are solved by some seeds only
        (number, episodes), *_ = played(cell, 3)
        folder.write(cell, number, episodes, seconds=1.0)
    (setting,) = read_sweep(tmp_path).settings
    episodes = [episode for cell in cells for episode in episodes_of(folder, cell)]
    for order in (episodes, episodes[::-1]):
        result = summarize(order)
        estimate, score = setting.whole.success(), setting.whole.score()
        assert (estimate.value, estimate.low, estimate.high) == (result.success, *result.ci95)
        assert (len(setting.whole.successes), score.value) == (result.n_tasks, result.score)


def test_cells_of_other_settings_are_rows_of_their_own_named_by_what_differs(tmp_path):
    textcraft_sweep(tmp_path, ["p"], action_format="react")
    other = {"env_kwargs": '{"compat": "agentgym"}', "temperature": 0.2}
    folder = textcraft_sweep(tmp_path, ["p"], seeds=[1], action_format="react", **other)
    rows = rows_of(folder)
    assert list(rows) == ["p, temperature 0.2, compat agentgym", "p, temperature 1.0"]
    assert [row.whole.samples for row in rows.values()] == [1, 1]
    assert "| p, temperature 0.2, compat agentgym |" in reported(folder)


def test_a_panel_and_a_thin_slice_of_it_are_not_pooled(tmp_path):
    (thin,) = (p for p in find_suite("quick").panels if p.env_id == TEXTCRAFT.env_id)
    textcraft_sweep(tmp_path, ["p"], panel=thin)
    folder = textcraft_sweep(tmp_path, ["p"], seeds=[1])
    rows = rows_of(folder)
    assert {name: len(row.whole.successes) for name, row in rows.items()} == {
        "p, 22 tasks": 22,
        "p, 100 tasks": 100,
    }
    assert "They compare with p, 100 tasks." in reported(folder)


def test_panels_stand_in_the_order_of_their_suite_or_of_the_paper(tmp_path):
    textcraft_sweep(tmp_path, ["p"])
    folder = textcraft_sweep(tmp_path, ["p"], panel=SEARCHQA)
    assert list(read_sweep(folder.path).scenarios()) == ["SearchQA", "TextCraft"]
    folder.note_call({"started": "2026-01-01", "panels": ["TextCraft", "SearchQA"]})
    assert list(read_sweep(folder.path).scenarios()) == ["TextCraft", "SearchQA"]


def test_two_models_that_a_folder_held_one_after_the_other_are_not_pooled(tmp_path):
    textcraft_sweep(tmp_path, ["p"], fingerprints={"p": "a" * 16})
    folder = textcraft_sweep(tmp_path, ["p"], seeds=[1], fingerprints={"p": "b" * 16})
    assert list(rows_of(folder)) == ["p, files aaaaaaaa", "p, files bbbbbbbb"]


def test_how_episodes_are_played_and_an_unknown_fingerprint_keep_no_seeds_apart(tmp_path):
    textcraft_sweep(tmp_path, ["p"], env_backend="sync")
    folder = textcraft_sweep(
        tmp_path, ["p"], seeds=[1], env_backend="thread", fingerprints={"p": "a"}
    )
    assert {name: row.seeds for name, row in rows_of(folder).items()} == {"p": [0, 1]}


def test_the_papers_numbers_do_not_stand_beside_a_part_of_the_panel(tmp_path):
    folder = textcraft_sweep(tmp_path, ["p"])
    assert "ScalingInter-7B" in reported(folder)
    (cell,) = folder.cells()
    ((number, episodes),) = played(cell, 2)
    folder.write(cell, number, episodes[:32], seconds=1.0)
    assert "ScalingInter-7B" not in reported(folder)


def test_the_papers_numbers_stand_only_beside_what_was_played_as_the_paper_did(tmp_path):
    short = reported(textcraft_sweep(tmp_path / "short", ["p"], max_turns=[3]))
    other = reported(
        textcraft_sweep(tmp_path / "other", ["p"], env_kwargs='{"compat": "agentgym"}')
    )
    both = reported(textcraft_sweep(tmp_path / "both", ["p"], max_turns=[3, 30]))
    own = reported(textcraft_sweep(tmp_path / "own", ["p"]))
    assert "ScalingInter-7B" not in short and "arXiv 2509.08755" not in short
    assert "ScalingInter-7B" not in other
    assert "| ScalingInter-7B (paper, 30 turns) |" in both
    assert "They compare with p, 30 turns." in both
    below = own.partition("| ScalingInter-7B (paper, 30 turns) |")[2]
    assert below.split("\n\n")[1].startswith(
        "The paper's numbers: arXiv 2509.08755, with the original environments"
    )
    assert "our choice of goals" in below and "They compare" not in below


def test_the_papers_panel_sizes_are_claimed_only_for_whole_panels(tmp_path):
    (thin,) = (p for p in find_suite("quick").panels if p.env_id == SEARCHQA.env_id)
    whole = reported(textcraft_sweep(tmp_path / "whole", ["p"], panel=SEARCHQA))
    slim = reported(textcraft_sweep(tmp_path / "slim", ["p"], panel=thin))
    assert "with the paper's panel sizes" in whole
    assert "embedded tasks of our own. It does" in slim


def test_seconds_of_a_batch_are_shared_out_by_turns(tmp_path):
    folder = textcraft_sweep(tmp_path, ["p"], seconds=3.0)
    file = next(tmp_path.rglob("batch_0000.jsonl"))
    first, *others = read_jsonl(file)
    first.subtask, first.turns = "depth 2", first.turns * 51
    write_jsonl(file, [first, *others])
    (setting,) = read_sweep(folder.path).settings
    assert setting.subtasks["depth 2"].seconds == pytest.approx(3.0 * 51 / 150)
    assert setting.whole.seconds == pytest.approx(3.0)


def test_long_paths_go_by_short_names_with_their_full_ones_once(tmp_path):
    runs = [f"/data/studies/2026/{name}/seed_0/model" for name in ("grpo", "ppo")]
    text = reported(textcraft_sweep(tmp_path, runs))
    for run, name in zip(runs, ("grpo/seed_0/model", "ppo/seed_0/model"), strict=True):
        assert text.count(run) == 1
        assert re.search(rf"\| {name} +\| {run} ", text)


def test_what_cannot_be_read_is_named_and_the_rest_is_reported(tmp_path, caplog):
    folder = textcraft_sweep(tmp_path, ["p", "q"])
    (whole,) = [setting.whole.num_played for setting in read_sweep(tmp_path).settings[:1]]
    bad, good = folder.cells()
    folder._folder(bad).joinpath("cell.json").write_text("[]")
    batch = folder.files(good)[0]
    batch.write_text(f"{batch.read_text()}not JSON\n")
    batch.with_suffix(".json").write_text("{")
    (tmp_path / "sweep.json").write_text("{")
    results = read_sweep(tmp_path)
    assert [setting.whole.num_played for setting in results.settings] == [whole]
    assert results.calls == []
    lines = len(batch.read_text().splitlines())
    for name in ("cell.json", f"{batch.name}, line {lines}", batch.stem + ".json", "sweep.json"):
        assert name in caplog.text
