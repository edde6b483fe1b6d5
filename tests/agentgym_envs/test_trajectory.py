from __future__ import annotations

from pathlib import Path

import pytest

from agentgym_envs import TokenTrace, Trajectory, Turn, read_jsonl, write_jsonl


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


@pytest.mark.parametrize("line", ["{", "[]", '{"env_id": "x"}', '{"no_such_field": 1}', "3"])
def test_a_line_that_is_no_trajectory_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.jsonl"
    write_jsonl(path, [trajectory()])
    with path.open("a") as file:
        file.write(f"\n{line}\n")
    with pytest.raises(ValueError, match=r"run\.jsonl, line 3: not a trajectory"):
        list(read_jsonl(path))
