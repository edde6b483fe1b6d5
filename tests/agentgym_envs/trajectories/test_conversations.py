"""Conversations in the forms that others publish become trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import Trajectory
from agentgym_envs.trajectories.agenttraj import read_trajectories
from tests.row_files import write_rows

CALL = {"id": "1", "type": "function", "function": {"name": "get", "arguments": '{"item": "log"}'}}
SHAREGPT = {
    "system": "Be brief.",
    "conversations": [
        {"from": "human", "value": "Task."},
        {"from": "gpt", "value": "look"},
        {"from": "observation", "value": "A room."},
        {"from": "function_call", "value": "go"},
    ],
}
MESSAGES = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Task."}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "A log.", "tool_call_id": "1"},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "done", "weight": 0},
    ]
}
OLD_CALLS = {
    "messages": [
        {"role": "user", "content": "Task."},
        {"role": "assistant", "content": None, "function_call": CALL["function"]},
        {"role": "function", "name": "get", "content": "A log."},
        {"role": "assistant", "content": "done", "function_call": None},
    ]
}
PAIR = {
    "prompt": [
        {"role": "user", "content": "Task."},
        {"role": "assistant", "content": "look"},
        {"role": "user", "content": "A room."},
    ],
    "completion": [{"role": "assistant", "content": "go"}],
}
CAPITALS = {
    "prompt": [{**message, "role": message["role"].title()} for message in PAIR["prompt"]],
    "completion": "go",
}
AGENT_INSTRUCT = {
    "id": "alfworld_0",
    "conversations": [
        {"from": "human", "loss": None, "value": "You are an agent."},
        {"from": "gpt", "loss": False, "value": "OK."},
        {"from": "human", "loss": None, "value": "Task."},
        {"from": "gpt", "loss": True, "value": "look"},
    ],
}


def shape(trajectory: Trajectory) -> tuple[str, list[tuple[str, str, bool]]]:
    turns = [(turn.observation, turn.completion, turn.trained) for turn in trajectory.turns]
    return trajectory.system_prompt, turns


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".jsonl.gz", ".parquet"])
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (SHAREGPT, ("Be brief.", [("Task.", "look", True), ("A room.", "go", True)])),
        (
            MESSAGES,
            (
                "Be brief.",
                [
                    ("Task.", '{"name": "get", "arguments": {"item": "log"}}', True),
                    ("A log.\nGo on.", "done", False),
                ],
            ),
        ),
        (
            OLD_CALLS,
            (
                "",
                [
                    ("Task.", '{"name": "get", "arguments": {"item": "log"}}', True),
                    ("A log.", "done", True),
                ],
            ),
        ),
        (PAIR, ("", [("Task.", "look", False), ("A room.", "go", True)])),
        (CAPITALS, ("", [("Task.", "look", False), ("A room.", "go", True)])),
        ({"prompt": "Task.", "completion": "go"}, ("", [("Task.", "go", True)])),
        (AGENT_INSTRUCT, ("You are an agent.", [("Task.", "look", True)])),
    ],
)
def test_each_form_is_read_from_each_kind_of_file(
    tmp_path: Path, ending: str, row: dict[str, Any], expected: Any
) -> None:
    if ending == ".parquet" and row in (MESSAGES, OLD_CALLS):
        pytest.skip("a column of Parquet does not hold texts and lists")
    path = write_rows(tmp_path / f"rows{ending}", row, row)
    one, other = read_trajectories(path)
    assert shape(one) == shape(other) == expected
    assert one.success


def test_conversations_without_a_task_are_told_apart_and_are_of_no_environment(
    tmp_path: Path,
) -> None:
    one, other = read_trajectories(write_rows(tmp_path / "rows.jsonl", SHAREGPT, MESSAGES))
    assert (one.task_id, other.task_id) == ("conversation_1", "conversation_2")
    assert one.env_id == other.env_id == ""
    (named,) = read_trajectories(write_rows(tmp_path / "named.jsonl", AGENT_INSTRUCT))
    assert (named.task_id, named.env_id) == ("alfworld_0", "agentgym/ALFWorld-v0")


@pytest.mark.parametrize(("row_id", "name"), [(None, 1), (7, 7), ("7", 7)])
def test_an_id_that_names_no_task_is_a_conversations_number(
    tmp_path: Path, row_id: Any, name: int
) -> None:
    path = write_rows(tmp_path / "rows.jsonl", {**SHAREGPT, "id": row_id})
    (trajectory,) = read_trajectories(path)
    assert (trajectory.task_id, trajectory.env_id) == (f"conversation_{name}", "")


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([{"role": "critic", "content": "x"}], "message 1 must be from 'human' or 'gpt'"),
        ([{"role": "user", "content": None}], "message 1 has no text"),
        ([{"role": "user", "content": [{"type": "image"}]}], "message 1 has no text"),
        ([{"role": "user", "content": "x"}], "holds no turn of the policy"),
        ([{"role": "user", "content": ["lost", {"text": "x"}]}], "message 1 has no text"),
        *(
            ([{"role": "assistant", "content": None, "tool_calls": calls}], "message 1 has a call")
            for calls in ([{"function": "get"}], [{"function": {"arguments": "{}"}}], ["x"], [{}])
        ),
    ],
)
def test_what_is_no_conversation_is_named(
    tmp_path: Path, messages: list[Any], problem: str
) -> None:
    path = write_rows(tmp_path / "rows.jsonl", {"messages": messages})
    with pytest.raises(ValueError, match=rf"rows.jsonl, item 1: .*{problem}"):
        list(read_trajectories(path))
