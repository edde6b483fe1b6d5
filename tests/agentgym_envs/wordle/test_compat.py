"""Wordle beside recordings of AgentGym's server, which was run on the words that are shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.wordle.env import WordleEnv

RECORDS = [
    json.loads(line)
    for line in Path(__file__).with_name("original.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record["seed"]))
def test_a_game_is_the_originals(record: dict[str, Any]) -> None:
    env = WordleEnv(compat="agentgym")
    assert env.reset(options={"task_id": record["seed"]})[0] == record["first"]
    for action, *expected in record["steps"]:
        observation, reward, terminated, truncated, _ = env.step(action)
        assert [observation, reward, terminated or truncated] == expected


def test_the_recordings_hold_wins_losses_and_wrong_words() -> None:
    ends = [record["steps"][-1] for record in RECORDS]
    assert {end[2] for end in ends} == {0, 1}
    assert any(step[1] == "invalid word" for record in RECORDS for step in record["steps"])


def test_react_is_read_as_the_originals_client_reads_it() -> None:
    parse = WordleEnv(compat="agentgym", action_format="react").parser.parse
    assert parse("Thought:\nhm\n\nAction:\ns h i r e") == "s h i r e"
    assert parse("Action: s h i r e</s>") == "s h i r e"
    assert parse("Action: s h i r e\nAction: p a n i c") == "s h i r e"
    assert parse(" s h i r e\n") == "s h i r e"


def test_the_client_shows_the_words_and_the_server_does_not() -> None:
    task = {"task_id": 3}
    plain = WordleEnv(compat="agentgym").reset(options=task)[0]
    react = WordleEnv(compat="agentgym", action_format="react").reset(options=task)[0]
    assert plain == "Let's start Wordle!"
    assert react.startswith("Let's start Wordle! The hidden word is one of these 40:\nsnoop, ")
