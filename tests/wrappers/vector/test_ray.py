"""Ray's actors that die, hang or wait for a place; all other behaviour is every backend's.

What needs no Ray is at the end.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import pytest

from tests.helpers import FragileEnv
from tests.wrappers.vector.backends import all_end
from wrappers import TextVectorEnv
from wrappers.vector import env as vector_env
from wrappers.vector import ray_slot
from wrappers.vector.ray_slot import RayActors

PAIRS = RayActors(envs=2)
FIVE_CORES = {"num_cpus": 5}


class SeesVariables(FragileEnv):
    def variable(self, name: str) -> str | None:
        return os.environ.get(name)


def begun(**kwargs: Any) -> TextVectorEnv:
    """Return four slots in two actors, slots 0 and 2 in one, in the middle of their episodes."""
    env = TextVectorEnv([FragileEnv] * 4, backend="ray", ray=PAIRS, **kwargs)
    env.reset(options={"task_id": [30, 31, 32, 33]})
    assert env.step(["add 1"] * 4)[0] == ["The counter is 1."] * 4
    return env


@pytest.mark.ray
def test_an_actor_that_dies_fails_its_own_episodes_and_a_new_one_takes_its_place() -> None:
    with begun() as env:
        before = env.call("pid")
        assert len(set(before)) == 2 and before[:2] == before[2:]
        answer = env.step(["say die", "add 1", None, "add 1"])
        assert answer[0][1::2] == ["The counter is 2."] * 2
        assert answer[4][0]["failure"].startswith("the Ray actor died: The actor is dead because")
        _, infos = env.reset(options={"task_id": [30, None, 32, None]})
        assert not any("failure" in info for info in infos)
        assert env.step(["add 1"] * 4)[0] == [f"The counter is {n}." for n in (1, 3, 1, 3)]
        after = env.call("pid")
        assert after[1::2] == before[1::2] and after[0] == after[2] != before[0]


@pytest.mark.ray
def test_the_neighbours_of_a_call_that_ends_their_actor_have_failed_too() -> None:
    with begun() as env:
        *_, infos = env.step(["say nap 30", None, "say die", "add 1"])
        assert all("the Ray actor died" in infos[index]["failure"] for index in (0, 2))
        assert infos[3]["turn"] == 2
        # Slot 2's episode was lost while nobody asked it anything.
        env.reset(options={"task_id": 30})
        env.step(["say die", None, None, None])
        env.reset(options={"task_id": [5, None, None, None]})
        *_, infos = env.step([None, None, "add 1", None])
        assert "the Ray actor died" in infos[2]["failure"]


@pytest.mark.ray
@pytest.mark.parametrize("ask", ["get", "call", "reset", "reset_async"])
def test_an_actor_killed_between_episodes_is_replaced_unnoticed(ask: str) -> None:
    with begun() as env:
        before = env.call("pid")
        os.kill(before[0], signal.SIGKILL)
        all_end([before[0]])
        goal = "Goal: bring the counter to 5. The counter is 0."
        if ask == "get":
            assert env.get("source") == ["counting/1"] * 4
        elif ask == "call":
            assert env.call("task_ids", "test")[0][0] == "counting_50"
        elif ask == "reset":
            assert env.reset(options={"task_id": 4})[0] == [goal] * 4
        else:
            env.reset_async(options={"task_id": [4, None, None, None]})
            assert env.poll(None)[0][0] == goal
        after = env.call("pid")
        assert after[1::2] == before[1::2] and after[0] == after[2] != before[0]


@pytest.mark.ray
def test_a_hung_environment_leaves_its_neighbours_their_actor() -> None:
    with begun(step_timeout=1.0) as env:
        before, start = env.call("pid"), time.monotonic()
        answer = env.step(["say hang", "add 1", "add 1", "add 1"])
        assert 0.9 < time.monotonic() - start < 4
        assert "gave no answer within 1 s" in answer[4][0]["failure"]
        assert answer[0][1:] == ["The counter is 2."] * 3
        env.reset(options={"task_id": [4, None, None, None]})
        assert env.step(["add 1"] * 4)[0] == [f"The counter is {n}." for n in (1, 3, 3, 3)]
        assert env.call("pid") == before


@pytest.mark.ray
def test_an_actor_that_does_not_answer_at_all_is_killed_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray_slot, "GRACE_SECONDS", 0.5)
    with begun(step_timeout=0.5) as env:
        pids = env.call("pid")
        os.kill(pids[0], signal.SIGSTOP)
        start = time.monotonic()
        *_, infos = env.step(["add 1"] * 4)
        assert 0.9 < time.monotonic() - start < 5
        assert "the Ray actor gave no answer within 1 s and was killed" in infos[0]["failure"]
        assert "failure" in infos[2] and infos[1]["turn"] == infos[3]["turn"] == 2
        all_end([pids[0]])
        assert not any("failure" in info for info in env.reset(options={"task_id": 4})[1])


@pytest.mark.ray
def test_calls_that_are_given_up_leave_the_slots_for_other_episodes() -> None:
    with begun() as env:
        pids = env.call("pid")
        env.step_async(["say nap 2", None, None, "add 1"])
        answers = env.poll(None)
        assert list(answers) == [3]  # it comes while another is at work
        env.cancel()
        assert env.step([None, None, "add 1", "add 1"])[0][2:] == [
            "The counter is 2.",
            "The counter is 3.",
        ]
        env.reset(options={"task_id": [4, None, None, None]})
        assert env.step(["add 5", None, None, None])[1][0] == 1.0
        assert env.call("pid") == pids


@pytest.mark.ray
def test_actors_are_given_their_resources_and_runtime_environment(ray: Any) -> None:
    options = {"num_cpus": 0.5, "runtime_env": {"env_vars": {"AGENTGYM_TEST_COLOUR": "blue"}}}
    with TextVectorEnv(
        [SeesVariables] * 4, backend="ray", ray=RayActors(envs=2, options=options)
    ) as env:
        assert env.call("variable", "AGENTGYM_TEST_COLOUR") == ["blue"] * 4
        until = time.monotonic() + 10
        while ray.available_resources()["CPU"] != 7.0:  # Ray counts a moment later
            assert time.monotonic() < until
            time.sleep(0.1)


@pytest.mark.ray
def test_more_actors_than_the_cluster_can_ever_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="4 environments in 2 Ray actors take 10 cores, .* has 8"):
        TextVectorEnv([FragileEnv] * 4, backend="ray", ray=RayActors(envs=2, options=FIVE_CORES))


@pytest.mark.ray
def test_an_actor_that_gets_no_place_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_slot, "SET_UP_SECONDS", 2.0)
    monkeypatch.setattr(vector_env, "START_SECONDS", 1.0)
    nowhere = RayActors(options={"resources": {"nowhere": 1}})
    with TextVectorEnv([FragileEnv], backend="ray", ray=nowhere, step_timeout=1.0) as env:
        _, (info,) = env.reset()
        assert "the Ray actor gave no answer within 3 s" in info["failure"]


@pytest.mark.ray
def test_after_ray_was_shut_down_closing_is_quiet_and_a_reset_connects_no_more(ray: Any) -> None:
    env = begun()
    ray.shutdown()
    env.close()
    ray.init("local", num_cpus=8, object_store_memory=100_000_000, include_dashboard=False)


# Without Ray ------------------------------------------------------------------------------------


def test_without_ray_the_backend_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r'pip install "agentgym-envs\[ray\]"'):
        TextVectorEnv([FragileEnv], backend="ray")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="envs must be >= 1 environments of an actor, got 0"):
        RayActors(envs=0)
    with pytest.raises(ValueError, match="needs backend='ray', got 'thread'"):
        TextVectorEnv([FragileEnv], backend="thread", ray=RayActors())
