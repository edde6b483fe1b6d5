"""Episodes that were played by hand end as they ended then: `docs/results/webarena.md`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.sites.content import open_content

CONTENT = "agentgym-sites v8 "
"""The sites that were played on; the actions hold ids of their pages."""

EPISODES = [
    json.loads(line)
    for line in Path(__file__).with_name("played.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("episode", EPISODES, ids=lambda e: f"{e['task_id']} {e['note']}")
def test_an_episode_played_by_hand_ends_as_it_did(episode: dict[str, Any]) -> None:
    if not open_content().name.startswith(CONTENT):
        pytest.skip(f"played on {CONTENT.strip()}")
    env = gym.make("agentgym/WebArena-v0", action_format="plain", viewport_lines=None)
    env.reset(options={"task_id": episode["task_id"]})
    *acts, stop = episode["actions"]
    for action in acts:
        _, _, terminated, truncated, info = env.step(action)
        assert info["is_valid_action"] and not terminated and not truncated, action
    assert env.step(stop)[1] == episode["reward"]
