from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.core import UNSCORED
from agentgym_envs.trajectories.trajectory import ModelCall, Trajectory, Turn, write_jsonl
from benchmarks.viewer import entries
from benchmarks.viewer import index as index_module
from benchmarks.viewer.entries import FIELDS, read_episodes, without_tokens
from benchmarks.viewer.index import Index
from tests.benchmarks.viewer.samples import made, solved, sweep, traced, training_run


def rows(index: Index) -> list[dict[str, Any]]:
    return [dict(zip(FIELDS, entry.row(), strict=True)) for entry in index.entries]


def test_an_entry_tells_what_a_list_needs(tmp_path: Path) -> None:
    made_so = made(4, source="counting/1", global_step=3, traces=[traced()])
    write_jsonl(tmp_path / "played.jsonl", [made_so])
    index = Index(tmp_path)
    assert index.update()
    assert rows(index) == [
        {
            "file": 0,
            "line": 1,
            "env": "tests/Counting-v0",
            "subtask": "small",
            "split": "train",
            "task": "counting_4",
            "source": "counting/1",
            "policy": "runs/mine",
            "step": 3,
            "success": False,
            "score": 0.0,
            "return": 0.0,
            "turns": 2,
            "status": "truncated",
            "cause": "max_turns",
            "goal": "bring the counter to 5",
            "marks": ".x",
            "tokens": 9,
            "traced": True,
        }
    ]


def test_lines_that_are_appended_are_taken_in_and_keep_the_numbers_of_the_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "played.jsonl"
    write_jsonl(path, [made(0)])
    index = Index(tmp_path)
    index.update()
    write_jsonl(path, [made(1)], append=True)
    write_jsonl(tmp_path / "another.jsonl", [made(2)])
    index.update()
    assert [row["task"] for row in rows(index)] == ["counting_0", "counting_2", "counting_1"]
    assert index.record(2)["task_id"] == "counting_1"
    assert index.epoch == 0


def test_a_half_written_last_line_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "played.jsonl"
    line = json.dumps(made(1).to_json()) + "\n"
    write_jsonl(path, [made(0)])
    with path.open("a") as file:
        file.write(line[:50])
    index = Index(tmp_path)
    index.update()
    assert (len(index.entries), len(index.problems)) == (1, 0)
    with path.open("a") as file:
        file.write(line[50:])
    index.update()
    assert [row["task"] for row in rows(index)] == ["counting_0", "counting_1"]


def test_a_last_line_without_an_end_is_read_and_the_next_ones_keep_their_numbers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "played.jsonl"
    lines = [json.dumps(made(task).to_json()) for task in range(3)]
    path.write_text("\n".join(lines[:2]))
    index = Index(tmp_path)
    index.update()
    assert [row["task"] for row in rows(index)] == ["counting_0", "counting_1"]
    path.write_text("\n".join(lines))
    index.update()
    index.update()
    found = [(row["task"], row["line"]) for row in rows(index)]
    assert found == [("counting_0", 1), ("counting_1", 2), ("counting_2", 3)]
    assert (index.epoch, len(index.problems)) == (0, 0)


def test_an_episode_that_nobody_could_score_says_so(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [made(0, status="failed", truncated_by=None, error=UNSCORED)])
    index = Index(tmp_path)
    index.update()
    assert [(row["status"], row["cause"]) for row in rows(index)] == [("failed", "unscored")]


def test_a_file_written_anew_begins_another_epoch(tmp_path: Path) -> None:
    path = tmp_path / "played.jsonl"
    write_jsonl(path, [made(0), made(1)])
    index = Index(tmp_path)
    index.update()
    write_jsonl(path, [solved(5), solved(6), solved(7)])
    index.update()
    assert index.epoch == 1
    assert [row["task"] for row in rows(index)] == ["counting_5", "counting_6", "counting_7"]
    path.unlink()
    index.update()
    assert (index.epoch, index.entries) == (2, [])


def test_each_line_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training_run(tmp_path)
    parsed = []
    monkeypatch.setattr(
        "benchmarks.viewer.index.read_episodes",
        lambda line: parsed.append(line) or read_episodes(line),  # type: ignore[func-returns-value]
    )
    index = Index(tmp_path)
    for _ in range(3):
        index.update()
    assert len(parsed) == len(set(parsed)) == len(index.entries) == 12


def test_reading_stops_when_the_time_is_up_and_goes_on_from_there(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "played.jsonl", [made(task) for task in range(100)])
    index = Index(tmp_path)
    answers = [index.update(0.0) for _ in range(4)]
    assert answers == [False, False, False, True]
    assert [row["task"] for row in rows(index)] == [f"counting_{task}" for task in range(100)]


def test_files_of_other_things_and_broken_lines_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "numbers.jsonl").write_text("1\n2\n")
    (tmp_path / "scores.jsonl").write_text('{"score": 1}\n')
    write_jsonl(tmp_path / "played.jsonl", [made(0)])
    with (tmp_path / "played.jsonl").open("a") as file:
        file.write('not JSON\n{"env_id": "x", "task_id": "y", "turns": [3]}\n')
    index = Index(tmp_path)
    index.update()
    assert (len(index.entries), len(index.files), len(index.problems)) == (1, 1, 2)


def test_the_tokens_are_cut_out_of_a_line_and_nothing_else() -> None:
    tricky = '"}], "policy": "no", "traces": [{"prompt_ids": [9]'
    trajectory = made(0, goal=tricky, final_observation=tricky, policy=tricky, traces=[traced()])
    line = json.dumps(trajectory.to_json()).encode()
    cut = without_tokens(line)
    assert len(cut) < len(line)
    expected = {key: value for key, value in trajectory.to_json().items() if key != "traces"}
    assert json.loads(cut) == expected


def test_a_line_that_another_program_wrote_is_read_whole() -> None:
    record = dict(sorted(made(0, traces=[traced()]).to_json().items()))
    line = json.dumps(record, separators=(",", ":")).encode()
    assert without_tokens(line) == line
    assert entries.make_entry(record, line, file=0, number=1, offset=0).traced


def test_an_opened_episode_has_its_tokens_only_as_a_trajectory(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "played.jsonl", [made(0), solved(1, traces=[traced()])])
    index = Index(tmp_path)
    index.update()
    assert index.record(1)["traces"] == []
    assert index.trajectory(1) == solved(1, traces=[traced()])
    assert isinstance(index.trajectory(0), Trajectory)
    for number in (-1, 2):
        with pytest.raises(LookupError, match=f"no episode {number}"):
            index.record(number)


@pytest.mark.parametrize(
    ("text", "found"),
    [("JUMP", [0]), ("counter is 0", [0, 1]), ("bring the counter to 2", [1]), ("traces", [])],
)
def test_a_search_looks_through_texts_in_any_case(
    tmp_path: Path, text: str, found: list[int]
) -> None:
    write_jsonl(tmp_path / "played.jsonl", [made(0), solved(1, traces=[traced()])])
    index = Index(tmp_path)
    index.update()
    assert index.search(text) == found


def test_a_search_finds_letters_that_json_escapes(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "played.jsonl", [made(0, goal='say "ÄRGER"\n'), made(1)])
    index = Index(tmp_path)
    index.update()
    assert index.search("ärger") == index.search('y "') == [0]


def test_a_run_is_a_training_run_a_cell_or_a_file(tmp_path: Path) -> None:
    training_run(tmp_path / "grpo")
    sweep(tmp_path / "sweep")
    write_jsonl(tmp_path / "eval" / "played.jsonl", [made(0)])
    index = Index(tmp_path)
    index.update()
    assert {(run.kind, run.name) for run in index.runs} == {
        ("training", "grpo"),
        ("cell", "sweep/cells/expert/Counting/turns_default/seed_0"),
        ("cell", "sweep/cells/random/Counting/turns_default/seed_0"),
        ("file", "eval/played.jsonl"),
    }
    assert len(index.entries) == 12 + 4 + 1


def test_policies_have_the_shortest_names_that_tell_them_apart(tmp_path: Path) -> None:
    paths = ("/runs/grpo/model", "/runs/ppo/model", "expert")
    write_jsonl(tmp_path / "played.jsonl", [made(0, policy=path) for path in paths])
    index = Index(tmp_path)
    index.update()
    names = ("grpo/model", "ppo/model", "expert")
    assert index.to_json()["policies"] == dict(zip(paths, names, strict=True))


def test_a_cell_tells_its_sweep_seed_and_turn_limit(tmp_path: Path) -> None:
    sweep(tmp_path / "mine" / "small", limits=(None, 20), seeds=2)
    index = Index(tmp_path)
    index.update()
    runs = index.to_json()["runs"]
    assert {run["group"] for run in runs} == {"mine/small"}
    assert {(run["title"], run["seed"], run["limit"]) for run in runs} == {
        (f"{policy} · Counting{told} · seed {seed}", str(seed), limit)
        for policy in ("expert", "random")
        for told, limit in (("", "its own turn limit"), (" · 20 turns", "20 turns"))
        for seed in (0, 1)
    }


def test_cells_of_a_sweep_that_is_the_root_are_in_no_group(tmp_path: Path) -> None:
    index = Index(sweep(tmp_path))
    index.update()
    assert {run["group"] for run in index.to_json()["runs"]} == {""}


def test_the_processes_of_a_run_share_its_phases(tmp_path: Path) -> None:
    training_run(tmp_path, steps=0)
    for rank in range(2):
        write_jsonl(tmp_path / "trajectories" / f"train_000000_rank{rank}.jsonl", [made(0)])
    index = Index(tmp_path)
    index.update()
    assert [(file.run.name, file.phase) for file in index.files] == [(".", "train_000000")] * 2


def test_a_single_file_is_read_and_nothing_beside_it(tmp_path: Path) -> None:
    for name in ("one.jsonl", "other.jsonl"):
        write_jsonl(tmp_path / name, [made(0)])
    index = Index(tmp_path / "one.jsonl")
    index.update()
    assert [file.name for file in index.files] == ["one.jsonl"]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "secret.jsonl", [made(0)])
    shown = tmp_path / "shown"
    write_jsonl(shown / "played.jsonl", [made(1)])
    (shown / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (shown / "folder").symlink_to(tmp_path)
    index = Index(shown)
    index.update()
    assert [file.name for file in index.files] == ["played.jsonl"]


def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="there is no nowhere"):
        Index("nowhere")


def test_compressed_episodes_are_listed_opened_and_followed_while_they_are_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "played.jsonl.gz"
    write_jsonl(path, [made(0)])
    first = path.read_bytes()
    write_jsonl(path, [made(1, goal="find me")], append=True)
    whole = path.read_bytes()
    index = Index(tmp_path)
    for written, count in ((first, 1), (whole[:-9], 1), (whole, 2)):
        path.write_bytes(written)
        index.update()
        tasks = [row["task"] for row in rows(index)]
        assert tasks[:count] == ["counting_0", "counting_1"][:count]
    assert tasks == ["counting_0", "counting_1"]
    assert index.epoch == 0
    assert index.record(1)["task_id"] == "counting_1"
    assert index.search("FIND me") == [1]


@pytest.mark.parametrize("first", ["not JSON\n" * 5, '{"score": 1}\n' * 9], ids=["bad", "other"])
@pytest.mark.parametrize("count", [1, 40])
def test_a_file_without_episodes_that_is_replaced_is_read_anew(
    tmp_path: Path, first: str, count: int
) -> None:
    write_jsonl(tmp_path / "another.jsonl", [made(90)])
    (tmp_path / "played.jsonl").write_text(first)
    index = Index(tmp_path)
    index.update()
    assert len(index.entries) == 1
    write_jsonl(tmp_path / "played.jsonl", [made(task) for task in range(count)])
    index.update()
    assert [row["task"] for row in rows(index)][1:] == [f"counting_{n}" for n in range(count)]
    assert (index.problems, index.epoch) == ([], 0)


def test_the_problems_of_a_file_without_episodes_go_with_it(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("not JSON\n")
    index = Index(tmp_path)
    index.update()
    assert len(index.problems) == 1
    bad.unlink()
    index.update()
    assert index.problems == []


def test_a_search_finds_a_models_reasoning(tmp_path: Path) -> None:
    call = ModelCall(reasoning="The counter lacks four.")
    turn = Turn("The counter is 0.", "Action: add 4", 0.0, True, 0.4, 5, call=call)
    write_jsonl(tmp_path / "played.jsonl", [made(0), made(1, turns=[turn])])
    index = Index(tmp_path)
    index.update()
    assert index.search("LACKS four") == [1]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_line_that_is_too_long_is_passed_over_without_being_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(index_module, "LONGEST_LINE", 1 << 20)
    path = tmp_path / f"played.{ending}"
    write_jsonl(path, [made(0)])
    long = b'{"x": "' + b"y" * (64 << 20) + b'"}\n'
    with path.open("ab") as file:
        file.write(gzip.compress(long) if ending.endswith("gz") else long)
    del long
    write_jsonl(path, [made(1)], append=True)
    index = Index(tmp_path)
    tracemalloc.start()
    index.update()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [row["task"] for row in rows(index)] == ["counting_0", "counting_1"]
    assert [row["line"] for row in rows(index)] == [1, 3]
    assert index.trajectory(1).task_id == "counting_1"
    assert most < 16 << 20
