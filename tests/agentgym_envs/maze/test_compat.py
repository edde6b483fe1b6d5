"""Maze beside recordings of AgentGym's server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.maze.env import MazeEnv

RECORDS = [
    json.loads(line)
    for line in Path(__file__).with_name("original.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record["game"]))
def test_a_walk_is_the_originals(record: dict[str, Any]) -> None:
    env = MazeEnv(compat="agentgym", max_turns=100)
    assert env.reset(options={"task_id": record["game"]})[0] == record["first"]
    for action, *expected in record["steps"]:
        observation, reward, terminated, truncated, info = env.step(action)
        assert [observation, reward, terminated or truncated] == expected
        assert info["success"] is (observation == "Success\n")


def test_the_recordings_hold_walks_that_succeed_and_that_fail() -> None:
    ends = [tuple(record["steps"][-1][1:3]) for record in RECORDS]
    assert set(ends) == {("Success\n", 1.0), ("Failure\n", -1.0)}


def test_react_is_read_as_the_originals_client_reads_it() -> None:
    env = MazeEnv(compat="agentgym", action_format="react")
    env.reset(options={"task_id": 18})
    assert env.step("Thought:\nDown.\n\nAction:\nmove down</s>")[0] == "Success\n"
