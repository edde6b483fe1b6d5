"""Every registered environment keeps the contract, ours and the tests' own alike."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_envs import check_text_env, registered_ids
from agentgym_envs.core import INFO_KEYS
from tests.helpers import COUNTING_ID, EMBEDDED, register_helpers, unless_missing

register_helpers()
ROOT = Path(__file__).parents[3]
OURS = [unless_missing(env_id) for env_id in registered_ids() if env_id.startswith("agentgym/")]
SCIWORLD = "agentgym/SciWorld-v0"  # some ten seconds a task, where others take milliseconds

DIGEST = """
import contextlib, hashlib, json, sys
import gymnasium as gym
import agentgym_envs

env = gym.make(sys.argv[1]).unwrapped
digest = hashlib.sha256()
for split in ("train", "test"):
    ids = env.task_ids(split)
    # SciWorld's last fifth is genetics, where its simulator takes 20 s to find a solution.
    for task_id in ids[: len(ids) * 4 // 5 : len(ids) // 5]:
        told = [env.reset(options={"task_id": task_id})]
        with contextlib.suppress(agentgym_envs.NoExpert):  # not every task of MiniWoB has an expert
            for action in env.expert():
                told.append(env.step(action))
                if told[-1][2] or told[-1][3]:
                    break
        digest.update(json.dumps(told).encode())
print(digest.hexdigest())
"""


@pytest.mark.parametrize("env_id", [*map(unless_missing, EMBEDDED), COUNTING_ID])
def test_the_contract_is_kept(env_id: str) -> None:
    check_text_env(env_id, num_tasks=1)


@pytest.mark.full
@pytest.mark.parametrize("env_id", [one for one in OURS if one.values[0] not in EMBEDDED])
def test_the_contract_is_kept_by_those_that_start_a_simulator(env_id: str) -> None:
    check_text_env(env_id, num_tasks=1)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", [one for one in OURS if one.values != (SCIWORLD,)])
def test_the_contract_is_kept_in_further_tasks(env_id: str) -> None:
    check_text_env(env_id, num_tasks=3)


@pytest.mark.science
def test_sciworld_keeps_the_contract_in_further_tasks() -> None:
    check_text_env(SCIWORLD, num_tasks=3)


@pytest.mark.parametrize("env_id", OURS)
def test_plain_text_of_no_verb_is_invalid(env_id: str) -> None:
    env = gym.make(env_id, action_format="plain")
    env.reset(seed=0)
    *_, info = env.step("nothing that any format reads")
    assert info["is_valid_action"] is False
    env.close()


@pytest.mark.parametrize("env_id", OURS)
def test_make_vec_works_with_a_process_for_each_environment(env_id: str) -> None:
    kwargs = {"vector_kwargs": {"shared_memory": False}}
    envs = gym.make_vec(env_id, num_envs=2, vectorization_mode="async", **kwargs)  # type: ignore[arg-type]
    observations, infos = envs.reset(seed=0)
    assert len(observations) == 2
    assert set(INFO_KEYS) <= set(infos)
    for _ in range(3):
        observations, rewards, *_ = envs.step(("inventory", "inventory"))
    assert all(isinstance(observation, str) for observation in observations)
    assert rewards.tolist() == [0.0, 0.0]
    envs.close()


@pytest.mark.full
@pytest.mark.parametrize("env_id", [one for one in OURS if one.values != (SCIWORLD,)])
def test_episodes_are_the_same_under_every_hash_seed(env_id: str) -> None:
    check_hash_seeds(env_id)


@pytest.mark.science
def test_sciworlds_episodes_are_the_same_under_every_hash_seed() -> None:
    check_hash_seeds(SCIWORLD)


def check_hash_seeds(env_id: str) -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST, env_id],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "7")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == len(hashlib.sha256(json.dumps(0).encode()).hexdigest())
