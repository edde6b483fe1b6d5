from __future__ import annotations

import gymnasium as gym
import pytest

pytest.importorskip("torch")

import agentgym_envs  # noqa: F401 - registers the ids
from lab.throughput.ahead import Waiting, Work, ahead_rows
from tests.trainers.backends.test_vllm_server import with_vllm


def test_every_episode_takes_the_same_turns_whatever_is_sampled() -> None:
    env = Waiting(
        gym.make(
            "agentgym/TextCraft-v0", action_format="react", max_turns=3, disable_env_checker=True
        )
    )
    env.reset(seed=0)
    answers = [env.step(text) for text in ("nonsense", "", "Action: craft 1 stick")]
    assert all("Inventory" in answer[0] for answer in answers)
    assert [answer[3] for answer in answers] == [False, False, True]


@with_vllm
def test_steps_are_measured_against_a_vllm_server() -> None:
    work = Work(steps=2, tasks=1, group=2, turns=2, tokens=2, delay=0.01)
    rows = list(ahead_rows(1, work=work))
    assert [row.name.partition(", ")[2] for row in rows] == [
        *("lockstep", "overlap", "overlap, K = 1", "overlap, K = 2"),
    ]
    assert all(row.rate > 0 for row in rows)
    assert "over_the_longer_one" in rows[-1].notes
