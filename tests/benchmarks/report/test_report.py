import re
from base64 import b64encode
from dataclasses import replace
from itertools import pairwise

import pytest
from matplotlib.figure import Figure

from agentgym_envs import read_jsonl, write_jsonl
from benchmarks.compare import command as compare
from benchmarks.report import command, plots
from benchmarks.report.blocks import plain
from benchmarks.report.plots import PICTURES
from benchmarks.report.results import read_sweep
from benchmarks.report.tables import METRICS
from benchmarks.sweep.plan import grid
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.suites import Suite
from tests.benchmarks.report.samples import SEARCHQA, TEXTCRAFT, played, reported, textcraft_sweep

EVIL = "<script>alert(1)</script>|x"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """A sweep that tests read, with its report."""
    folder = SweepFolder(tmp_path_factory.mktemp("sweep"))
    cells = grid(
        Suite("two", "", (TEXTCRAFT, SEARCHQA)),
        ["good", EVIL],
        max_turns=[5, 30],
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
    assert command.main([str(folder.path)]) == 0
    return folder


@pytest.mark.full
def test_a_report_has_the_papers_numbers_only_beside_the_papers_panel(sweep):
    text = (sweep.path / "report.md").read_text()
    searchqa, textcraft = text.partition("## TextCraft")[::2]
    assert "## SearchQA (embedded)" in searchqa
    assert "ScalingInter-7B" in textcraft and "91.0" in textcraft
    assert "ScalingInter-7B" not in searchqa
    assert "does not compare with the paper's numbers" in searchqa


@pytest.mark.full
def test_the_page_is_one_file_and_shows_names_as_text(sweep):
    page = (sweep.path / "report.html").read_text()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert page.count('<svg role="img"') == len(list(sweep.path.rglob("*.png")))
    drawn = {path.stem for path in sweep.path.rglob("*.png")}
    assert {"turns_TextCraft", "pass_TextCraft", "cost_tokens", "cost_seconds"} <= drawn


def test_an_unfinished_sweep_says_what_is_missing(tmp_path):
    folder = textcraft_sweep(tmp_path, ["p", "q"])
    next(tmp_path.rglob("batch_0000.jsonl")).unlink()
    assert "Unfinished: 100 episodes are still to be played" in reported(folder)


def test_every_metric_is_told_for_each_subtask_and_folded_on_the_page(sweep):
    text = (sweep.path / "report.md").read_text()
    (table,) = (
        part for part in text.partition("## TextCraft")[2].split("\n\n") if "| subtask" in part
    )
    rows = [[cell.strip() for cell in line.split(" | ")] for line in table.splitlines()]
    assert rows[0][1:] == ["subtask", *METRICS[:-1], f"{METRICS[-1]} |"]
    assert rows[2][1:5] == ["depth 1", "100", "200", "0"] and len(rows) == 2 + 4
    page = (sweep.path / "report.html").read_text()
    folded = re.findall(r"<details>.*?</details>", page, re.DOTALL)
    assert sum("<th>subtask</th>" in part for part in folded) == 2
    assert page.count("<th>subtask</th>") == 2


def test_the_page_leads_with_one_table_of_scenarios_and_policies(sweep):
    text = (sweep.path / "report.md").read_text()
    first = next(part for part in text.split("\n\n") if part.startswith("|"))
    head, _, *rows = first.splitlines()
    assert [cell.strip() for cell in head.split("|")[1:-1]] == [
        "policy", "SearchQA (embedded)", "TextCraft",
    ]  # fmt: skip
    assert len(rows) == 4 and all(row.count("%") == 2 for row in rows)
    page = (sweep.path / "report.html").read_text()
    (anchor,) = re.findall(r'<h2 id="(searchqa-embedded-\w+)">', page)
    assert f'<a href="#{anchor}">' in page


def test_each_scenarios_plots_stand_in_its_section(sweep):
    text = (sweep.path / "report.md").read_text()
    searchqa, textcraft = text.partition("\n## TextCraft")[::2]
    assert "turns_SearchQA.png" in searchqa and "pass_SearchQA.png" in searchqa
    assert "SearchQA.png" not in textcraft and "turns_TextCraft.png" in textcraft


def test_drawings_take_the_pages_ink_and_keep_their_names_apart(sweep):
    page = (sweep.path / "report.html").read_text()
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert drawings
    assert all("currentColor" in drawing for drawing in drawings)
    assert not any(plots.INK in drawing or "#ffffff" in drawing for drawing in drawings)
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    used = set(re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"', page))
    assert {a or b for a, b in used} <= set(ids)


def test_axes_are_marked_at_what_was_played_and_a_policy_keeps_its_colour(tmp_path):
    folder = textcraft_sweep(tmp_path, ["p", "q"], max_turns=[3, 7, 30], seeds=[0, 1, 2, 3])
    settings = read_sweep(folder.path).settings
    colours = plots.policy_colours(read_sweep(folder.path))
    turns, passes = Figure().add_subplot(), Figure().add_subplot()
    plots.success_by_turns(settings, colours)(turns)
    plots.pass_at_k_curves(settings, colours)(passes)
    assert list(turns.get_xticks()) == [3, 7, 30]
    assert [label.get_text() for label in passes.get_xticklabels()] == ["1", "2", "4"]
    drawn = [line for line in passes.get_lines() if len(line.get_xdata())]
    assert [line.get_marker() for line in drawn] == ["o", "x"] * 6
    assert {line.get_color() for line in drawn} == set(colours.values())
    assert len({line.get_linestyle() for line in drawn}) == 3
    assert passes.get_legend_handles_labels()[1] == ["p", "q", "3 turns", "7 turns", "30 turns"]


def test_the_environments_own_limit_has_its_place_where_an_episode_reached_it(tmp_path):
    settings = read_sweep(textcraft_sweep(tmp_path, ["p"], max_turns=[30, None, 7]).path).settings
    own = next(setting for setting in settings if setting.max_turns is None)
    for reached, marked in [(0, [7, 30]), (20, [7, 20, 30])]:
        own.whole.longest_cut = reached
        axes = Figure().add_subplot()
        plots.success_by_turns(settings, {"p": "black"})(axes)
        assert list(axes.get_xticks()) == marked
        assert list(axes.get_lines()[0].get_xdata()) == marked


def test_the_environments_own_turn_limit_is_a_number(tmp_path):
    folder = textcraft_sweep(tmp_path / "a", ["p"], max_turns=[None, 7])
    alone = textcraft_sweep(tmp_path / "b", ["p"])
    for sweep in (folder, alone):
        for cell in sweep.cells():
            for number in range(len(cell.batches)):
                episodes = list(sweep.batches(cell))[number][0]
                sweep.write(cell, number, episodes, seconds=1.0, max_turns=cell.max_turns or 30)
    names = [setting.name for setting in read_sweep(folder.path).settings]
    assert names == ["p, 30 turns (its own limit)", "p, 7 turns"]
    text = reported(alone)
    assert "All were allowed 30 turns." in text and "| p " in text


def test_labels_of_turn_limits_do_not_run_into_each_other():
    assert plots._apart([5, 10, 20]) == [5, 10, 20]
    many = [*range(1, 41), 300]
    shown = plots._apart(many)
    assert shown[0] == 1 and shown[-1] == 300 and len(shown) <= plots.MOST_LABELS + 1
    least = (300 - 1) / plots.MOST_LABELS
    assert all(after - before >= least for before, after in pairwise(shown))


def test_pairs_of_unequal_turn_limits_are_folded(tmp_path):
    folder = textcraft_sweep(tmp_path, ["p", "q"], max_turns=[3, 30])
    reported(folder)
    page = (tmp_path / "report.html").read_text()
    folds = [part for part in page.split("<details>")[1:] if "unequal turn limits" in part]
    assert len(folds) == 1
    assert folds[0].partition("</details>")[0].count("<tr>") == 1 + 4


def test_calls_that_differ_in_their_time_alone_are_told_once(tmp_path):
    folder = textcraft_sweep(tmp_path, ["p"])
    for day in (1, 2, 3):
        folder.note_call(
            {"argv": ["sweep", "--env-kwargs", '{"a": 1}'], "started": f"2026-01-0{day}"}
        )
    folder.note_call({"argv": ["sweep", "--seeds", "1"], "started": "2026-01-04"})
    text = reported(folder).partition("## How it was made")[2]
    assert text.count("agentgym sweep") == 2
    assert "`agentgym sweep --env-kwargs '{\"a\": 1}'`" in text
    assert "called 3 times, from 2026-01-01 to 2026-01-03" in text


@pytest.mark.full
def test_a_policy_without_tokens_beside_one_with_tokens_does_not_stop_the_report(tmp_path):
    def tokens(policy):
        return 0 if policy == "expert" else 5

    folder = textcraft_sweep(tmp_path, ["expert", "model"], tokens=tokens)
    assert command.main([str(folder.path)]) == 0
    names = {path.name for path in folder.path.rglob("*.svg")}
    assert names == {"cost_tokens.svg", "cost_seconds.svg"}


def test_what_episodes_cost_is_drawn_and_added_up_by_policy(tmp_path):
    folder = textcraft_sweep(tmp_path, ["p", "q"], cost=lambda policy: 0.25 if policy == "p" else 0)
    report = reported(folder)
    assert "The episodes cost, in the currency of the prices: p 25.0, q 0; 25.0 together." in report
    assert (folder.path / "report_images" / "cost_cost.png").exists()


@pytest.mark.parametrize("kind", ["tokens", "seconds"])
def test_what_cost_nothing_is_not_on_the_plot_of_costs(tmp_path, kind):
    def tokens(policy):
        return 0 if policy == "expert" else 5

    folder = textcraft_sweep(tmp_path, ["expert", "model"], tokens=tokens)
    axes = Figure().add_subplot()
    plots.success_by_cost(read_sweep(folder.path), kind)(axes)
    labels = axes.get_legend_handles_labels()[1]
    assert ("expert" in labels) == (kind == "seconds")
    drawn = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata())]
    assert drawn == pytest.approx([5.0] if kind == "tokens" else [0.02, 0.02])


def test_where_nothing_cost_anything_there_is_no_plot_of_costs(tmp_path):
    folder = textcraft_sweep(tmp_path, ["expert"], seconds=0.0, tokens=lambda policy: 0)
    reported(folder)
    assert not list(folder.path.rglob("cost_*"))


def test_a_fault_of_the_report_is_not_shown_as_one_of_the_command_line(tmp_path, monkeypatch):
    folder = textcraft_sweep(tmp_path, ["p"])

    def broken(*args):
        raise ValueError("a fault in drawing")

    monkeypatch.setattr(plots, "success_by_cost", broken)
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
    sides = [str(sweep.path / "cells" / name) for name in (other, good)]
    assert compare.main([*sides, "--max-turns", "5"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"TextCraft +\| 100 +\| 50.0% +\| 50.0%|TextCraft +\| 100", told)
    with pytest.raises(SystemExit):
        compare.main([str(sweep.path / "nix"), str(sweep.path)])


def test_a_panel_that_was_not_played_whole_is_not_the_papers(sweep):
    settings = read_sweep(sweep.path).settings
    assert all(setting.published is not None for setting in settings)
    assert replace(settings[0], digest="other").published is None


@pytest.mark.parametrize("name", ["my panel", "../../../away", "a/b", "v1.5"])
def test_a_panels_name_leads_no_picture_out_of_its_folder(tmp_path, name):
    panel = replace(TEXTCRAFT, name=name)
    folder = textcraft_sweep(tmp_path / "in" / "a" / "sweep", ["x"], panel=panel, max_turns=(5, 10))
    told = reported(folder)
    (picture,) = re.findall(r"!\[.*\]\((.*turns.*)\)", told)
    assert re.fullmatch(r"report_images/[\w.-]+\.png", picture)
    assert (folder.path / picture).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_name_with_a_dot_keeps_its_picture(tmp_path):
    picture = plots.draw_picture(tmp_path, "turns_v1.5", "t", lambda axes: None)
    assert (tmp_path / f"{picture.file}.png").exists()
    assert (tmp_path / f"{picture.file}.svg").exists()


@pytest.mark.parametrize("text", ["", "not JSON\n"])
def test_a_damaged_batch_is_named_with_its_remedy(tmp_path, text):
    folder = textcraft_sweep(tmp_path, ["x"])
    assert "Damaged" not in reported(folder)
    (cell,) = folder.cells()
    (file, *_) = folder.files(cell)
    file.write_text(text)
    told = reported(folder)
    assert f"**Damaged: {plain(str(file))}.**" in told
    assert "deleted, the same `agentgym sweep` plays its batch again" in told
    file.unlink()
    assert folder.missing(cell) == [0]


def test_a_policy_whose_form_is_wrong_is_named_before_the_tables(tmp_path):
    folder = textcraft_sweep(tmp_path, ["x", "y"])
    assert "Nearly all actions" not in reported(folder)
    (cell, _) = folder.cells()
    (file, *_) = folder.files(cell)
    episodes = list(read_jsonl(file))
    for turn in (turn for episode in episodes for turn in episode.turns):
        turn.is_valid_action = False
    write_jsonl(file, episodes)
    told = reported(folder)
    assert "**Nearly all actions were invalid: x in TextCraft.** Read some" in told
    assert told.index("Nearly all") < told.index("Success by policy")


@pytest.mark.parametrize("words", [[], ["--leaderboard"]])
def test_an_out_that_cannot_be_made_is_refused(tmp_path, capsys, words):
    folder = textcraft_sweep(tmp_path / "sweep", ["x"])
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match="2"):
        command.main([str(folder.path), "--out", str(tmp_path / "file" / "out"), *words])
    assert "file is not a folder" in capsys.readouterr().err
