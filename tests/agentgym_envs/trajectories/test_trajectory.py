from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from agentgym_envs import TokenTrace, Trajectory, Turn, read_jsonl, write_jsonl
from agentgym_envs.trajectories.agenttraj import read_trajectories
from agentgym_envs.trajectories.trajectory import ModelCall


def trajectory(task_id: str = "toy_1") -> Trajectory:
    trace = TokenTrace([1, 2])
    trace.append_action([3, 4], [-0.5, -0.25])
    trace.append_given([5])
    return Trajectory(
        env_id="tests/Toy-v0",
        task_id=task_id,
        turns=[Turn("obs", "act \ud800 é", 0.5, True, 0.5, 2), Turn("o", "a", 0.5, False, 1.0)],
        status="terminated",
        success=True,
        score=1.0,
        traces=[trace],
    )


def test_ids_mask_and_logprobs_are_born_together() -> None:
    trace = trajectory().trace
    assert trace.completion_ids == [3, 4, 5]
    assert trace.action_mask == [1, 1, 0]
    assert trace.logprobs == [-0.5, -0.25, 0.0]
    assert trace.ids == [1, 2, 3, 4, 5]
    assert len(trace) == 5


def test_an_action_needs_one_logprob_per_id() -> None:
    trace = TokenTrace([1])
    with pytest.raises(ValueError, match="got 1 for 2 ids"):
        trace.append_action([1, 2], [0.0])
    assert len(trace) == 1


def test_episode_return_sums_the_rewards() -> None:
    assert trajectory().episode_return == 1.0
    assert trajectory().to_json()["episode_return"] == 1.0


def test_the_conversation_has_roles_in_turn() -> None:
    given = trajectory()
    given.system_prompt, given.final_observation = "rules", "Done."
    assert [(message["role"], message["content"]) for message in given.messages()] == [
        ("system", "rules"),
        ("user", "obs"),
        ("assistant", "act \ud800 é"),
        ("user", "o"),
        ("assistant", "a"),
        ("user", "Done."),
    ]


def test_the_last_info_stays_in_memory(tmp_path: Path) -> None:
    given = trajectory()
    given.info = {"verdict": object()}
    write_jsonl(tmp_path / "run.jsonl", [given])
    (read,) = read_jsonl(tmp_path / "run.jsonl")
    assert read == given and read.info == {}


@pytest.mark.parametrize("count", [0, 2])
def test_the_only_trace_is_asked_for_where_there_is_one(count: int) -> None:
    record = Trajectory("tests/Toy-v0", "toy_1", traces=[TokenTrace([1])] * count)
    with pytest.raises(ValueError, match=f"toy_1 holds {count} token traces"):
        _ = record.trace


def test_jsonl_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.jsonl"
    write_jsonl(path, [trajectory("toy_1")])
    write_jsonl(path, [trajectory("toy_2")], append=True)
    assert list(read_jsonl(path)) == [trajectory("toy_1"), trajectory("toy_2")]
    write_jsonl(path, [])
    assert list(read_jsonl(path)) == []


def test_what_is_appended_begins_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    write_jsonl(path, [trajectory("toy_1")])
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    write_jsonl(path, [trajectory("toy_2")], append=True)
    assert [one.task_id for one in read_jsonl(path)] == ["toy_1", "toy_2"]


@pytest.mark.parametrize("line", ["{", "[]", '{"env_id": "x"}', '{"no_such_field": 1}', "3"])
def test_a_line_that_is_no_trajectory_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.jsonl"
    write_jsonl(path, [trajectory()])
    with path.open("a") as file:
        file.write(f"\n{line}\n")
    with pytest.raises(ValueError, match=r"run\.jsonl, line 3: not a trajectory"):
        list(read_jsonl(path))


def test_the_record_of_an_episode_holds_every_field_and_copies_no_token() -> None:
    given = trajectory()
    given.traces = [TokenTrace([1, 2])]
    given.turns[0].action = "what a wrapper made of the completion"
    given.turns[0].call = ModelCall(finish_reason="length", cost=0.25)
    given.turns[0].weights_step = 3
    record = given.to_json()
    for values, of in ((record, given), (record["turns"][0], given.turns[0])):
        assert {field.name for field in fields(of)} - {"info", "prefix"} <= set(values)
    assert record["traces"][0]["prompt_ids"] is given.traces[0].prompt_ids
    assert Trajectory.from_json(json.loads(given.to_line())) == given
    late = replace(given, prefix=[replace(given.turns[0], trained=False)])
    assert Trajectory.from_json(json.loads(late.to_line())) == late.whole()
    assert late.whole().turns == late.prefix + given.turns


def test_a_turn_of_a_file_from_before_servers_told_of_it_is_read() -> None:
    record = json.loads(trajectory().to_line())
    assert all("call" not in turn for turn in record["turns"])
    assert all("weights_step" not in turn for turn in record["turns"])
    assert Trajectory.from_json(record) == trajectory()


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("none", "turn 0: call must be an object, got 'none'"),
        ({"seconds": "3"}, "turn 0, call: seconds must be a number, got '3'"),
        ({"retries": 0.5}, "turn 0, call: retries must be a whole number, got 0.5"),
        ({"reasoning": None}, "turn 0, call: reasoning must be a text, got None"),
        ({"is_refusal": "no"}, "turn 0, call: is_refusal must be true or false, got 'no'"),
    ],
)
def test_what_a_server_did_not_tell_is_no_call(call: object, problem: str) -> None:
    record = json.loads(trajectory().to_line())
    record["turns"][0]["call"] = call
    with pytest.raises(ValueError, match=problem):
        Trajectory.from_json(record)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"status": "Failed"}, "status must be one of terminated, truncated, failed, got 'Failed'"),
        ({"prefix": [{"observation": "o"}]}, "it has prefix, which no file holds"),
        ({"info": {}}, "it has info, which no file holds"),
    ],
)
def test_a_record_with_values_of_no_file_is_refused(
    changes: dict[str, object], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        Trajectory.from_json({**json.loads(trajectory().to_line()), **changes})


@pytest.mark.parametrize("length", [4, 20])
def test_a_compressed_file_that_is_cut_in_its_first_line_is_named(
    tmp_path: Path, length: int
) -> None:
    path = tmp_path / "run.jsonl.gz"
    write_jsonl(path, [trajectory()])
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"run\.jsonl\.gz: not compressed, cut short"):
        list(read_trajectories(path))


@pytest.mark.parametrize(
    "completion, action",
    [
        ("move", "move"),
        ("<think>a</think>b</think>move", "move"),
        ("I see. <think>plan</think>\nmove", "move"),
        ("<think>move", "<think>"),
        ("", ""),
    ],
)
def test_a_record_without_an_action_is_read_by_the_rule_for_completions(
    completion: str, action: str
) -> None:
    turn = Turn("look", completion, 0.0, True, 0.0)
    assert turn.action == action
    assert "action" not in turn.to_json()
    raw = Turn("look", completion, 0.0, True, 0.0, action="as it was played")
    assert Turn(**raw.to_json()).action == "as it was played"


def test_compressed_episodes_are_read_like_plain_ones(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    write_jsonl(path, [trajectory("toy_1")])
    write_jsonl(path, [trajectory("toy_2")], append=True)
    assert path.read_bytes().startswith(b"\x1f\x8b")
    assert list(read_jsonl(path)) == [trajectory("toy_1"), trajectory("toy_2")]
    assert list(read_trajectories(path)) == list(read_jsonl(path))


def test_a_compressed_file_that_was_cut_short_gives_what_is_whole_and_then_says_so(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.jsonl.gz"
    write_jsonl(path, [trajectory("toy_1")])
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:-9])
    episodes = read_jsonl(path)
    assert next(episodes) == trajectory("toy_1")
    with pytest.raises(ValueError, match=r"run\.jsonl\.gz: not compressed, or cut short"):
        list(episodes)


def test_episodes_that_cannot_all_be_written_leave_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_jsonl(path, [trajectory("toy_1")])

    def failing() -> Iterator[Trajectory]:
        yield trajectory("toy_2")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_jsonl(path, failing())
    assert list(read_jsonl(path)) == [trajectory("toy_1")]
