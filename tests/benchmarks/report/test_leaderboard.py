import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agentgym_envs.trajectories.trajectory import Trajectory, write_jsonl
from benchmarks.report import command
from benchmarks.report.blocks import Table, Text
from benchmarks.report.leaderboard import leaderboard_parts
from benchmarks.report.results import Setting, add_episodes
from benchmarks.report.standings import read_standings
from benchmarks.sweep.plan import grid
from benchmarks.sweep.suite_files import find_suite
from benchmarks.sweep.suites import Suite
from tests.benchmarks.report.samples import SEARCHQA, TEXTCRAFT, played, textcraft_sweep
from trainers.evaluation.summary import summarize

RUN = {
    "argv": ["eval", "--env", "TextCraft"],
    "started": "2026-03-04T05:06:07+00:00",
    "EnvArguments": {"env": ["agentgym/TextCraft-v0"], "action_format": "react"},
}


def tables(*paths):
    """Return the tables of a leaderboard: that of all panels, then one for each."""
    parts = leaderboard_parts(read_standings(paths))
    return [part.rows for part in parts if isinstance(part, Table)]


def column(rows, name):
    place = rows[0].index(name)
    return {row[0]: row[place] for row in rows[1:]}


def episodes_of(panel, policy, every):
    """Return an episode of each task, as the environment names its subtasks."""
    subtasks = {task_id: name for name, ids in panel.tasks().items() for task_id in ids}
    (cell,) = grid(
        Suite("one", "", (panel,)), [policy], max_turns=[None], seeds=[0], samples=1,
        temperature=1.0, batch_size=400, settings={},
    )  # fmt: skip
    ((_, episodes),) = played(cell, every)
    return [replace(episode, subtask=subtasks[episode.task_id]) for episode in episodes]


def evaluated(path, policy, every, *, panel=TEXTCRAFT, run=RUN, **values):
    """Write what `agentgym eval --out` writes."""
    result = summarize(episodes_of(panel, policy, every), policy=policy, temperature=1.0)
    path.write_text(json.dumps({**result.to_json(), "run": run, **values}))
    return path


def test_sweeps_and_evaluations_of_the_same_tasks_are_ranked_on_one_panel(tmp_path):
    textcraft_sweep(tmp_path / "sweep", ["p", "q"], action_format="react")
    result = evaluated(tmp_path / "better.json", "r", 1)
    overall, panel = tables(tmp_path / "sweep", result)
    assert [row[0] for row in overall[1:]] == ["1. r", "2. p", "3. q"]
    assert column(overall, "TextCraft")["1. r"] == "100.0% (96.3 to 100.0)"
    assert column(overall, "TextCraft")["2. p"] == "50.0% (40.4 to 59.6)"
    assert column(panel, "against the first")["r"] == ""
    assert column(panel, "against the first")["q"].startswith("-50.0 points (-")
    assert panel[-1][:2] == ["ScalingInter-7B (paper, 30 turns)", "91.0%"]


def test_the_mean_is_over_panels_and_only_who_played_all_has_one(tmp_path):
    textcraft_sweep(tmp_path / "a", ["p", "q"])
    textcraft_sweep(tmp_path / "b", ["p"], panel=SEARCHQA)
    overall, searchqa, textcraft = tables(tmp_path / "a", tmp_path / "b")
    assert overall[0][:4] == ["policy", "mean", "SearchQA (embedded)", "TextCraft"]
    assert [row[0] for row in overall[1:]] == ["1. p", "q"]
    assert column(overall, "mean")["q"] == "" != column(overall, "mean")["1. p"]
    assert len(searchqa) == 2 and [row[0] for row in textcraft[1:3]] == ["p", "q"]


def test_who_has_played_the_easiest_tasks_alone_has_no_rank(tmp_path):
    """A panel's tasks stand subtask by subtask, and batches are played in order."""
    textcraft_sweep(tmp_path / "whole", ["p"])
    textcraft_sweep(tmp_path / "ended", ["p"], batch_size=20)
    for batch in sorted((tmp_path / "ended").rglob("batch_*.jsonl"))[1:]:
        batch.unlink()
    (_, first, ended), panel = tables(tmp_path / "whole", tmp_path / "ended")
    assert first[0].startswith("1. p") and not ended[0].startswith("2.")
    assert ended[1].endswith(", 20 of 100 episodes")
    assert panel[1][0] == first[0].removeprefix("1. ")


def test_other_tasks_are_another_panel_with_a_title_of_its_own(tmp_path):
    (thin,) = (p for p in find_suite("quick").panels if p.env_id == TEXTCRAFT.env_id)
    textcraft_sweep(tmp_path / "a", ["p"])
    textcraft_sweep(tmp_path / "b", ["p"], panel=thin)
    overall, *_ = tables(tmp_path / "a", tmp_path / "b")
    assert {"TextCraft, 100 tasks", "TextCraft, 22 tasks"} <= set(overall[0])
    assert [row[0] for row in overall[1:]] == ["1. p"]


def test_equal_names_are_told_apart_by_settings_files_and_folders(tmp_path):
    textcraft_sweep(tmp_path / "warm", ["p"], action_format="react")
    textcraft_sweep(tmp_path / "cold", ["p"], action_format="react", temperature=0.2)
    textcraft_sweep(tmp_path / "cold_again", ["p"], action_format="react", temperature=0.2)
    textcraft_sweep(tmp_path / "m1", ["m"], fingerprints={"m": "a" * 16}, action_format="react")
    textcraft_sweep(tmp_path / "m2", ["m"], fingerprints={"m": "b" * 16}, action_format="react")
    names = ["warm", "cold", "cold_again", "m1", "m2"]
    overall, _ = tables(*(tmp_path / name for name in names))
    assert {row[0].partition(" ")[2] for row in overall[1:]} == {
        "p, temperature 1.0",
        "p, temperature 0.2, cold",
        "p, temperature 0.2, cold_again",
        "m, files aaaaaaaa, temperature 1.0",
        "m, files bbbbbbbb, temperature 1.0",
    }


def test_costs_and_days_are_told_where_they_were_recorded(tmp_path):
    textcraft_sweep(tmp_path / "sweep", ["p"], action_format="react")
    free, priced = evaluated(tmp_path / "a.json", "a", 2), tmp_path / "b.json"
    evaluated(priced, "b", 2, cost=0.5)
    overall, _ = tables(tmp_path / "sweep", free, priced)
    assert column(overall, "cost an episode") == {"1. a": "", "2. b": "0.00500", "3. p": ""}
    today = datetime.now(UTC).date().isoformat()
    assert column(overall, "played") == {"1. a": "2026-03-04", "2. b": "2026-03-04", "3. p": today}
    without, _ = tables(tmp_path / "sweep", free)
    assert "cost an episode" not in without[0]


def test_episodes_that_carry_their_cost_add_up(tmp_path):
    class Priced(Trajectory):
        cost = 0.25

    setting = Setting("p", "e", "test", None, "")
    add_episodes(setting, [Priced("e", "e_1"), Trajectory("e", "e_2"), Priced("e", "e_3")], 0.0)
    assert setting.whole.cost == 0.5


def test_options_that_differ_between_environments_are_those_of_the_panels_own(tmp_path):
    options = {**RUN["EnvArguments"], "max_turns": {"TextCraft": 20, "BabyAI": 12}}
    options["action_format"] = {"BabyAI": "plain", "default": "react"}
    several = evaluated(tmp_path / "a.json", "a", 2, run={**RUN, "EnvArguments": options})
    alone = {**options, "max_turns": 20, "action_format": "react"}
    one = evaluated(tmp_path / "b.json", "b", 2, run={**RUN, "EnvArguments": alone})
    overall, _ = tables(several, one)
    assert [row[0] for row in overall[1:]] == ["1. a, 20 turns", "2. b, 20 turns"]


def test_lone_files_of_episodes_are_read_too(tmp_path):
    path = tmp_path / "episodes.jsonl"
    write_jsonl(path, episodes_of(TEXTCRAFT, "solo", 2))
    textcraft_sweep(tmp_path / "sweep", ["p"], action_format="react")
    overall, panel = tables(path, tmp_path / "sweep")
    assert [row[0] for row in overall[1:]] == ["1. p", "2. solo"]
    assert len(column(panel, "success")) == 2 + 3


def test_several_samples_of_a_task_come_back_from_a_result(tmp_path):
    episodes = episodes_of(TEXTCRAFT, "p", 2) + episodes_of(TEXTCRAFT, "p", 3)
    result = summarize(episodes, policy="p", temperature=1.0)
    path = tmp_path / "twice.json"
    path.write_text(json.dumps({**result.to_json(), "run": RUN}))
    (setting,) = read_standings([path]).settings
    success = setting.whole.success()
    assert success.value == pytest.approx(result.success)
    assert (success.low, success.high) == pytest.approx(result.ci95)
    assert setting.whole.episodes == 200 and setting.published is not None


def test_the_page_is_one_file_with_bars_and_how_it_was_played(tmp_path, capsys):
    folder = textcraft_sweep(tmp_path / "sweep", ["<b>p</b>"], action_format="react")
    folder.note_call({"argv": ["sweep", "--x"], "started": "2026-01-01"})
    result = evaluated(tmp_path / "r.json", "r", 1)
    out = tmp_path / "site"
    assert command.main([str(folder.path), str(result), "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out / "leaderboard.html")
    assert [path.name for path in out.iterdir()] == ["leaderboard.html"]
    page = (out / "leaderboard.html").read_text()
    assert "<script" not in page and "&lt;b&gt;" in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert 'style="--v:100.0;--l:96.3;--h:100.0"' in page
    (anchor,) = re.findall(r'<h2 id="(textcraft-\w+)">', page)
    assert f'<a href="#{anchor}">' in page
    assert "agentgym sweep --x" in page and "agentgym eval --env TextCraft" in page


def test_one_sweep_has_a_leaderboard_where_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    textcraft_sweep(tmp_path / "sweep", ["p"])
    assert command.main(["sweep", "--leaderboard"]) == 0
    assert (tmp_path / "runs" / "leaderboard" / "leaderboard.html").exists()
    assert not (tmp_path / "sweep" / "report.html").exists()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("other.json", "{}", "is no result of agentgym eval"),
        ("broken.json", "{", "is not a JSON object"),
        ("empty.jsonl", "", "holds no episodes"),
        ("nowhere", None, "holds no sweep"),
    ],
)
def test_what_is_no_result_is_refused_by_name(tmp_path, capsys, name, text, told):
    sweep = textcraft_sweep(tmp_path / "sweep", ["p"])
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit) as stopped:
        command.main([str(sweep.path), str(tmp_path / name)])
    assert stopped.value.code == 2
    message = capsys.readouterr().err
    assert told in message and name in message


def test_a_learning_curve_belongs_to_a_report(tmp_path, capsys):
    sweep = textcraft_sweep(tmp_path / "sweep", ["p"])
    with pytest.raises(SystemExit):
        command.main([str(sweep.path), "--leaderboard", "--run", "x"])
    assert "--run belongs to the report of one sweep" in capsys.readouterr().err


def test_real_data_is_never_called_embedded(tmp_path):
    for name, source in (("ours", "agentgym-world v9 (abc)"), ("real", "nq (def)")):
        episodes = episodes_of(SEARCHQA, name, 2)
        for episode in episodes:
            episode.source = source
        write_jsonl(tmp_path / f"{name}.jsonl", episodes)
    overall, *_ = tables(tmp_path / "ours.jsonl", tmp_path / "real.jsonl")
    assert {"SearchQA (embedded)", "SearchQA"} <= set(overall[0])


def test_a_limit_that_a_panel_has_from_its_suite_makes_no_row_of_its_own(tmp_path):
    textcraft_sweep(tmp_path / "a", ["p"], max_turns=[20])
    textcraft_sweep(tmp_path / "b", ["p"], panel=SEARCHQA)
    standings = read_standings([tmp_path / "a", tmp_path / "b"])
    overall, *_ = tables(tmp_path / "a", tmp_path / "b")
    assert [row[0] for row in overall[1:]] == ["1. p"]
    texts = [part.markdown for part in leaderboard_parts(standings) if isinstance(part, Text)]
    assert [text.endswith("All were allowed 20 turns.") for text in texts[2:]] == [False, True]
    textcraft_sweep(tmp_path / "c", ["p"], max_turns=[5])
    overall, *_ = tables(tmp_path / "a", tmp_path / "b", tmp_path / "c")
    assert [row[0] for row in overall[1:]] == ["p", "p, 20 turns", "p, 5 turns"]
