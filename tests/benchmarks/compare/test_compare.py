from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import Trajectory, read_jsonl, write_jsonl
from benchmarks.compare.command import main
from benchmarks.sweep.plan import Cell
from trainers.evaluation.summary import summarize

ENV_ID = "mine/Game-v0"


def keep(
    path: Path,
    success: bool,
    *,
    policy: str = "p",
    step: int = 0,
    split: str = "test",
    env_id: str = ENV_ID,
    source: str = "game/1",
    num_tasks: int = 4,
    first: int = 0,
) -> Path:
    """Write a file of episodes, one a task, as the commands do."""
    write_jsonl(
        path,
        [
            Trajectory(
                env_id, f"game_{number}", subtask="easy", split=split, source=source,
                status="terminated", success=success, policy=policy, global_step=step,
            )
            for number in range(first, first + num_tasks)
        ],
    )  # fmt: skip
    return path


def told(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> dict[str, list[str]]:
    """Return the cells of each row of the comparison, by the row's name."""
    assert main([str(word) for word in argv]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {name: cells for name, *cells in rows}


def refused(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> str:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in argv])
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return keep(tmp_path / "before.jsonl", False, policy="before")


def test_two_files_of_one_policy_each_need_no_options(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = keep(tmp_path / "after.jsonl", True, policy="after")
    row = told(capsys, before, after)["Game"]
    assert row[:3] == ["4", "0.0%", "100.0%"]
    assert row[4:] == ["0.1250", "4", "0"]  # McNemar's exact test: 2 / 2^4


def test_a_dpo_runs_expert_and_sampled_episodes_are_not_one_policy(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "dpo"
    keep(run / "pairs" / "expert.jsonl", True, policy="expert", split="train")
    keep(run / "pairs" / "sampled.jsonl", False, policy="sampled", split="train")
    message = refused(capsys, before, run)
    assert re.search(r"\| expert +\| train +\| 4 +\| 0 ", message)
    assert re.search(r"\| sampled +\| train +\| 4 +\| 0 ", message)
    assert "choose with --policy NAME, or" in message
    row = told(capsys, run, run, "--policy", "sampled", "--policy", "expert")["all"]
    assert row[:3] == ["4", "0.0%", "100.0%"]


def test_a_quickstarts_policies_before_and_after_are_not_pooled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "trajectories"
    keep(folder / "before_test.jsonl", False, policy="before")
    keep(folder / "after_test.jsonl", True, policy="after")
    keep(folder / "train_000000.jsonl", True, policy="run", split="train", first=50)
    assert "--policy NAME and --split NAME" in refused(capsys, tmp_path, tmp_path)
    argv = [tmp_path, tmp_path, "--policy", "before", "--policy", "after"]
    assert told(capsys, *argv)["all"][:3] == ["4", "0.0%", "100.0%"]


def test_the_steps_of_an_online_run_are_chosen_among(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for step in range(0, 100, 10):
        keep(tmp_path / f"train_{step:06d}.jsonl", False, step=step, split="train", first=50)
        keep(tmp_path / f"eval_{step:06d}.jsonl", step > 0, step=step, split="validation")
    message = refused(capsys, tmp_path, tmp_path)
    assert "0, 10, 20, 30, 40, 50 ... 90 (10 steps)" in message
    assert "choose with --step N and --split NAME, or" in message
    assert "choose with --split NAME, or" in refused(capsys, tmp_path, tmp_path, "--step", "90")
    argv = [tmp_path, tmp_path, "--split", "validation", "--step", "0", "--step", "90"]
    assert told(capsys, *argv)["all"][:3] == ["4", "0.0%", "100.0%"]
    assert told(capsys, *argv[:-2])["all"][:3] == ["4", "0.0%", "0.0%"]


def test_fresh_episodes_stand_for_the_evaluation_that_chose_the_weights(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    (run / "trajectories").mkdir(parents=True)
    (run / "run.json").write_text("{}")
    keep(run / "trajectories" / "eval_000002.jsonl", True, policy="run", step=2)
    assert told(capsys, before, run)["Game"][2] == "100.0%"
    keep(run / "trajectories" / "eval_fresh_000002.jsonl", False, policy="run", step=2)
    assert told(capsys, before, run)["Game"][2] == "0.0%"


def test_the_names_of_the_sides_say_what_was_chosen(
    before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(before), str(before), "--split", "test", "--step", "0"]) == 0
    assert f"first:  {before} (step 0, split test)" in capsys.readouterr().out


def test_the_panels_of_a_suite_are_of_splits_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(tmp_path / "one" / "batch_0000.jsonl", True)
    keep(tmp_path / "two" / "batch_0000.jsonl", True, env_id="mine/Other-v0", split="paper_test")
    assert told(capsys, tmp_path, tmp_path)["mean of 2"][0] == "8"


def test_failed_episodes_are_no_second_split(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = Trajectory(ENV_ID, "game_0", policy="before", status="failed", error="no simulator")
    write_jsonl(before, [lost], append=True)
    assert told(capsys, before, before)["all"][0] == "4"
    write_jsonl(tmp_path / "lost.jsonl", [lost])
    assert "no episodes that have a score" in refused(capsys, tmp_path / "lost.jsonl", before)


def test_earlier_runs_of_a_folder_are_passed_over_unless_they_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(tmp_path / "trajectories" / "eval_000000.jsonl", True)
    keep(tmp_path / "previous-1" / "trajectories" / "eval_000000.jsonl", False)
    row = told(capsys, tmp_path / "previous-1", tmp_path)["all"]
    assert row[:3] == ["4", "0.0%", "100.0%"]


def test_episodes_that_ended_first_are_compared_with_a_warning(
    tmp_path: Path,
    before: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    first = keep(tmp_path / "after.unfinished2.jsonl", True)
    assert told(capsys, before, before)["all"][:1] == ["4"]
    assert caplog.text == ""
    assert told(capsys, before, first)["all"][:3] == ["4", "0.0%", "100.0%"]
    assert caplog.text.count(f"{first} holds the episodes that ended first") == 1


def test_one_id_in_two_environments_is_two_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, success in (("first", False), ("second", True)):
        keep(tmp_path / name / "mine.jsonl", success)
        keep(tmp_path / name / "yours.jsonl", False, env_id="yours/Other-v0", num_tasks=12)
    rows = told(capsys, tmp_path / "first", tmp_path / "second")
    assert rows["mean of 2"][:3] == ["16", "0.0%", "50.0%"], "one with many tasks counts once"
    assert rows["mean of 2"][4:] == ["0.1250", "4", "0"]


def test_tasks_of_another_source_are_other_tasks(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = keep(tmp_path / "newer.jsonl", True, source="game/2")
    message = refused(capsys, before, newer)
    assert "share no task" in message
    assert f"4 tasks of {ENV_ID} on game/1" in message
    assert f"4 tasks of {ENV_ID} on game/2" in message


def test_a_choice_that_nothing_fits_says_what_there_is(
    before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(capsys, before, before, "--policy", "expert", "--step", "5")
    assert "no episodes of policy expert, step 5, but these" in message
    assert re.search(r"\| before \| test +\| 4 ", message)


def test_an_option_is_for_one_side_or_both(
    before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [before, before, *["--step", "0"] * 3]
    assert "got it 3 times" in refused(capsys, *argv)


def test_a_trajectories_folder_has_the_fresh_episodes_and_a_named_file_its_own(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run" / "trajectories"
    chosen = keep(folder / "eval_000002.jsonl", True, policy="run", step=2)
    keep(folder / "eval_fresh_000002.jsonl", False, policy="run", step=2)
    assert told(capsys, before, folder)["all"][2] == "0.0%"
    assert told(capsys, before, chosen)["all"][2] == "100.0%"


def test_environments_of_one_short_name_are_two_panels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, success in (("first", False), ("second", True)):
        keep(tmp_path / name / "mine.jsonl", success)
        keep(tmp_path / name / "later.jsonl", False, env_id="mine/Game-v1", num_tasks=12)
    rows = told(capsys, tmp_path / "first", tmp_path / "second")
    subtasks = ["mine/Game-v1: easy", f"{ENV_ID}: easy"]
    assert set(rows) == {"mean of 2", ENV_ID, "mine/Game-v1", *subtasks}
    assert rows["mean of 2"][:3] == ["16", "0.0%", "50.0%"]
    row = told(capsys, tmp_path / "first", tmp_path / "second" / "mine.jsonl")[ENV_ID]
    assert row[:3] == ["4", "0.0%", "100.0%"]


def swept(
    path: Path, *, limit: int | None, seed: int = 0, success: bool = True, **more: Any
) -> None:
    """Write what a sweep leaves of one cell."""
    settings = (("env_kwargs", more.pop("env_kwargs", None)),)
    cell = Cell(
        "p", ENV_ID, "test", "", limit, seed, 1, more.pop("temperature", 1.0), 32, settings,
        ("game_0",), panel=more.pop("panel", ""),
    )  # fmt: skip
    folder = path / cell.name
    keep(folder / "batch_0000.jsonl", success)
    (folder / "cell.json").write_text(json.dumps(cell.to_json()))


def test_turn_limits_are_not_pooled_but_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swept(tmp_path, limit=5, success=False)
    swept(tmp_path, limit=20)
    swept(tmp_path, limit=None)
    message = refused(capsys, tmp_path, tmp_path)
    assert "choose with --max-turns N, or" in message
    assert "5, 20, default" in message
    argv = [tmp_path, tmp_path, "--max-turns", "5", "--max_turns", "20"]
    assert told(capsys, *argv)["all"][:3] == ["4", "0.0%", "100.0%"]
    assert told(capsys, *argv[:-1], "default")["all"][0] == "4"
    message = refused(capsys, tmp_path, tmp_path, "--max-turns", "7")
    assert "no episodes of turn limit 7, but these" in message


def test_the_turn_limit_of_a_run_is_in_its_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for limit in (5, 20):
        run = tmp_path / f"eval_{limit}"
        keep(run / "trajectories" / "eval.jsonl", True)
        (run / "run.json").write_text(json.dumps({"EnvArguments": {"max_turns": limit}}))
    assert "choose with --max-turns N, or" in refused(capsys, tmp_path, tmp_path)
    assert told(capsys, tmp_path / "eval_5", tmp_path / "eval_20")["all"][0] == "4"
    limits = {"Other": 9, "Game": 7, "default": 8}
    (run / "run.json").write_text(json.dumps({"EnvArguments": {"max_turns": limits}}))
    assert told(capsys, run, run, "--max-turns", "7")["all"][0] == "4"


def test_the_turn_limit_of_a_lone_file_is_in_its_episodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for limit in (5, 20):
        file = keep(tmp_path / f"{limit}.jsonl", limit > 5)
        played = [replace(one, env_kwargs={"max_turns": limit}) for one in read_jsonl(file)]
        write_jsonl(file, played)
    assert "5, 20" in refused(capsys, tmp_path, tmp_path)
    argv = [tmp_path, tmp_path, "--max-turns", "5", "--max-turns", "20"]
    assert told(capsys, *argv)["all"][:3] == ["4", "0.0%", "100.0%"]


def test_cells_of_other_settings_are_not_pooled_and_said_to_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swept(tmp_path, limit=None, seed=0)
    swept(tmp_path, limit=None, seed=1, temperature=0.2, env_kwargs='{"compat": "agentgym"}')
    message = refused(capsys, tmp_path, tmp_path)
    assert "compat, temperature" in message
    assert "name folders of one setting each" in message
    seeds = [tmp_path / "p" / "Game" / "turns_default" / f"seed_{seed}" for seed in (0, 1)]
    assert main([str(seed) for seed in seeds]) == 0
    notes = capsys.readouterr().out.splitlines()[-2:]
    assert notes[0].startswith("note: the sides differ in env_kwargs: ")
    assert notes[1] == "note: the sides differ in temperature: 1.0, 0.2"


def test_two_panels_of_one_environment_are_two_places_and_their_tasks_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swept(tmp_path / "first", limit=None, success=False)
    swept(tmp_path / "first", limit=5, panel="Small", env_kwargs='{"size": 2}', success=True)
    swept(tmp_path / "second", limit=None, success=True)
    swept(tmp_path / "second", limit=5, panel="Small", env_kwargs='{"size": 2}', success=True)
    rows = told(capsys, tmp_path / "first", tmp_path / "second")
    assert list(rows) == ["mean of 2", "Game", "Game: easy", "Small", "Small: easy"]
    assert rows["mean of 2"][:3] == ["8", "50.0%", "100.0%"]
    assert rows["Game"][:3] == ["4", "0.0%", "100.0%"]
    assert rows["Small"][:3] == ["4", "100.0%", "100.0%"]


def test_a_bad_line_is_named_and_the_rest_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    first = keep(tmp_path / "a.jsonl", False)
    second = keep(tmp_path / "b.jsonl", True, policy="q")
    second.write_text(f"not JSON\n{second.read_text()}")
    assert main([str(first), str(second)]) == 0
    assert "100.0%" in capsys.readouterr().out
    assert "b.jsonl, line 1: not a trajectory" in caplog.text


def test_each_of_many_is_compared_with_the_first(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = [keep(tmp_path / f"{name}.jsonl", True, policy=name) for name in ("a", "b")]
    assert main([str(path) for path in (before, *others)]) == 0
    out = capsys.readouterr().out
    for path in others:
        _, _, table = out.partition(f"first:  {before}\nsecond: {path}\n")
        assert re.search(r"\| all +\| 4 +\| 0.0% +\| 100.0% ", table)
    words = [*map(str, others), str(others[0]), "--policy", "a", "--policy", "b"]
    assert "once for each of the 3, in their order; got it 2 times" in refused(capsys, *words)
    assert main([*words, "--policy", "a"]) == 0


def test_settings_that_differ_are_noted(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = []
    for tokens in (32, 64, 32):
        result = tmp_path / f"{len(sides)}.json"
        summarize(list(read_jsonl(before)), policy="p").save(result)
        budgets = {"max_tokens_per_turn": tokens, "horizon": len(sides)}
        run = {"EpisodeArguments": budgets, "MeasureArguments": {"trajectories": None}}
        result.write_text(json.dumps({**json.loads(result.read_text()), "run": run}))
        sides.append(str(result))
    assert main(sides[:2]) == 0
    note = "note: the sides differ in max_tokens_per_turn: 32, 64\n"
    assert capsys.readouterr().out.endswith(f"\n\n{note}")
    assert main(sides[::2]) == 0 and main([sides[0], str(before)]) == 0
    assert "note" not in capsys.readouterr().out


def test_one_task_has_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [
        keep(tmp_path / f"{won}.jsonl", won, policy=str(won), num_tasks=1) for won in (False, True)
    ]
    assert told(capsys, *sides)["Game"][3] == "+100.0 points"


def test_a_result_of_an_evaluation_is_a_side(
    before: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = keep(tmp_path / "after.jsonl", True, policy="after")
    result = tmp_path / "after.json"
    summarize(list(read_jsonl(after)), policy="after").save(result)
    rows = told(capsys, before, result)
    assert rows == told(capsys, before, after)
    assert rows["Game: easy"][:3] == ["4", "0.0%", "100.0%"]
    record = json.loads(result.read_text())
    result.write_text(json.dumps({**record, "run": {"EnvArguments": {"max_turns": 5}}}))
    assert told(capsys, before, result, "--max-turns", "default", "--max-turns", "5") == rows
    result.write_text(json.dumps({**record, "global_step": 50, "run": [5]}))
    assert told(capsys, before, result, "--step", "0", "--step", "50") == rows


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"panels": None}, "TypeError"),
        ({"tasks": {}}, "KeyError('game_0')"),
        ({"episodes": []}, "AttributeError"),
        ({"tasks": {f"game_{number}": "x" for number in range(4)}}, "TypeError"),
    ],
)
def test_a_damaged_result_is_named(
    changes: dict[str, Any],
    problem: str,
    before: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = tmp_path / "result.json"
    record = summarize(list(read_jsonl(before)), policy="p").to_json()
    result.write_text(json.dumps({**record, **changes}))
    assert f"is no result of agentgym eval ({problem}" in refused(capsys, before, result)
