import re
from base64 import b64encode
from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from agentgym_envs.trajectory import Trajectory, Turn
from benchmarks import compare
from benchmarks.report import command, plots
from benchmarks.report.page import PICTURES
from benchmarks.report.results import read_sweep
from benchmarks.suites import SEARCHQA, TEXTCRAFT, Suite
from benchmarks.sweep.plan import grid
from benchmarks.sweep.store import SweepFolder

EVIL = "<script>alert(1)</script>|x"


def played(cell, success, *, tokens=5):
    """Write a cell's episodes; every `success`-th one succeeds."""
    for number, tasks in enumerate(cell.batches):
        yield (
            number,
            [
                Trajectory(
                    cell.env_id,
                    task,
                    subtask="depth 1" if cell.env_id == TEXTCRAFT.env_id else "nq",
                    split=cell.split,
                    status="terminated",
                    success=place % success == 0,
                    turns=[Turn("o", "a", 0.0, True, 0.0, tokens)],
                    policy=cell.policy,
                )
                for place, task in enumerate(tasks)
            ],
        )


def textcraft_sweep(path, policies, *, seeds=(0,), seconds=2.0, tokens=lambda policy: 5):
    """Write a sweep of one panel, one episode a task and seed."""
    folder = SweepFolder(path)
    cells = grid(
        Suite("one", "", (TEXTCRAFT,)), policies, max_turns=[None], seeds=list(seeds), samples=1,
        temperature=1.0, batch_size=100, settings={},
    )  # fmt: skip
    folder.claim(cells)
    for cell in cells:
        for number, episodes in played(cell, 2, tokens=tokens(cell.policy)):
            folder.write(cell, number, episodes, seconds=seconds)
    return folder


@pytest.fixture
def sweep(tmp_path):
    folder = SweepFolder(tmp_path / "sweep")
    cells = grid(
        Suite("two", "", (TEXTCRAFT, SEARCHQA)),
        ["good", EVIL],
        max_turns=[5, 10],
        seeds=[0],
        samples=2,
        temperature=1.0,
        batch_size=40,
        settings={},
    )
    folder.claim(cells)
    folder.note_call({"argv": ["sweep", EVIL], "started": "2026-01-01"})
    for cell in cells:
        for number, episodes in played(cell, 2 if cell.policy == "good" else 4):
            folder.write(cell, number, episodes, seconds=1.5)
    return folder


def test_a_report_has_the_papers_numbers_only_beside_the_papers_panel(sweep, capsys):
    assert command.main([str(sweep.path)]) == 0
    text = (sweep.path / "report.md").read_text()
    searchqa, textcraft = text.partition("## TextCraft")[::2]
    assert "## SearchQA (embedded)" in searchqa
    assert "ScalingInter-7B" in textcraft and "91.0" in textcraft
    assert "ScalingInter-7B" not in searchqa
    assert "does not compare with the paper's numbers" in searchqa


def test_the_page_is_one_file_and_shows_names_as_text(sweep):
    command.main([str(sweep.path)])
    page = (sweep.path / "report.html").read_text()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert page.count("data:image/svg+xml") == len(list(sweep.path.rglob("*.png")))
    drawn = {path.stem for path in sweep.path.rglob("*.png")}
    assert {"turns_TextCraft", "pass_TextCraft", "cost_tokens", "cost_seconds"} <= drawn


def test_an_unfinished_sweep_says_what_is_missing(sweep):
    next(sweep.path.rglob("batch_0000.jsonl")).unlink()
    command.main([str(sweep.path)])
    text = (sweep.path / "report.md").read_text()
    assert "Unfinished: 40 episodes are still to be played" in text


def test_seeds_are_pooled_as_further_samples_of_a_task(tmp_path):
    textcraft_sweep(tmp_path, ["p"], seeds=[0, 1, 2])
    (setting,) = read_sweep(tmp_path).settings
    assert (setting.seeds, setting.whole.samples, setting.seconds) == ([0, 1, 2], 3, 6.0)


def test_a_policy_without_tokens_beside_one_with_tokens_does_not_stop_the_report(tmp_path):
    def tokens(policy):
        return 0 if policy == "expert" else 5

    folder = textcraft_sweep(tmp_path, ["expert", "model"], tokens=tokens)
    assert command.main([str(folder.path)]) == 0
    names = {path.name for path in folder.path.rglob("*.svg")}
    assert names == {"cost_tokens.svg", "cost_seconds.svg"}


@pytest.mark.parametrize("kind", ["tokens", "seconds"])
def test_what_cost_nothing_is_not_on_the_plot_of_costs(tmp_path, kind):
    def tokens(policy):
        return 0 if policy == "expert" else 5

    folder = textcraft_sweep(tmp_path, ["expert", "model"], tokens=tokens)
    axes = Figure().add_subplot()
    _, draw = plots._cost(read_sweep(folder.path), kind)
    draw(axes)
    labels = axes.get_legend_handles_labels()[1]
    assert ("expert" in labels) == (kind == "seconds")
    drawn = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata())]
    assert drawn == ([5.0] if kind == "tokens" else [0.02, 0.02])


def test_where_nothing_cost_anything_there_is_no_plot_of_costs(tmp_path):
    folder = textcraft_sweep(tmp_path, ["expert"], seconds=0.0, tokens=lambda policy: 0)
    assert command.main([str(folder.path)]) == 0
    assert not list(folder.path.rglob("cost_*"))


def test_a_fault_of_the_report_is_not_shown_as_one_of_the_command_line(tmp_path, monkeypatch):
    folder = textcraft_sweep(tmp_path, ["p"])

    def broken(*args):
        raise ValueError("a fault in drawing")

    monkeypatch.setattr(plots, "_cost", broken)
    with pytest.raises(ValueError, match="a fault in drawing"):
        command.main([str(folder.path)])


def training_run(path, png):
    path.mkdir(parents=True)
    (path / "learning_curve.png").write_bytes(png)
    return str(path)


def test_runs_of_one_name_and_of_any_name_are_shown_each(tmp_path):
    folder = textcraft_sweep(tmp_path / "sweep", ["p"])
    names = ("fixed/seed_0", "scaling/seed_0", "my run (1)", "odd [x](y) ](z")
    runs = [training_run(tmp_path / name, name.encode()) for name in names]
    assert command.main([str(folder.path), *(f"--run={run}" for run in runs)]) == 0
    pictures = sorted((folder.path / PICTURES).glob("training_*.png"))
    assert [path.read_bytes().decode() for path in pictures] == list(names)
    assert pictures[0].name == "training_1_seed_0.png"
    page = (folder.path / "report.html").read_text()
    for name, run in zip(names, runs, strict=True):
        assert b64encode(name.encode()).decode() in page
        assert f'alt="Training: {run}"' in page


def test_a_run_that_is_none_is_refused_before_anything_is_written(tmp_path, capsys):
    folder = textcraft_sweep(tmp_path / "sweep", ["p"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit):
        command.main([str(folder.path), "--run", str(tmp_path / "empty")])
    assert "holds no training run" in capsys.readouterr().err
    assert not (folder.path / PICTURES).exists()


def test_a_folder_without_a_sweep_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        command.main([str(tmp_path)])
    assert "holds no sweep" in capsys.readouterr().err


def test_compare_pairs_two_cells_by_task(sweep, capsys):
    names = sorted(path.name for path in (sweep.path / "cells").iterdir())
    good = next(name for name in names if name == "good")
    other = next(name for name in names if name != "good")
    assert compare.main([str(sweep.path / "cells" / other), str(sweep.path / "cells" / good)]) == 0
    told = capsys.readouterr().out
    assert re.search(r"TextCraft +\| 100 +\| 50.0% +\| 50.0%|TextCraft +\| 100", told)
    with pytest.raises(SystemExit):
        compare.main([str(sweep.path / "nix"), str(sweep.path)])


def test_a_panel_that_was_not_played_whole_is_not_the_papers(sweep):
    settings = read_sweep(sweep.path).settings
    assert settings[0].panel is not None or settings[-1].panel is not None
    assert replace(settings[0], digest="other").panel is None
