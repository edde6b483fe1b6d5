"""Episodes whose policy is behind a server go on as soon as their own answer is there."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import Trajectory
from lab.throughput.requests import InLockstep
from tests.helpers import COUNTING_ID, register_helpers
from tests.serving import Failure, serving
from tests.trainers.policies.chat_server import message
from trainers.backends.json_client import JSONClient
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.policies.api import APIPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from wrappers import FailureRules

register_helpers()
CHAT = "/v1/chat/completions"
TASKS = [f"counting_{number}" for number in (20, 4, 30, 8, 15, 2)]


def rollout_of(
    url: str, *, rules: FailureRules | None = None, retries: int = 3, **options: Any
) -> Rollout:
    environments = Environments(
        EnvArguments(env=[COUNTING_ID], action_format="plain", **options), episodes=4
    )
    client = JSONClient(f"{url}/v1", max_requests=4, retries=retries)
    return environments.rollout(
        APIPolicy(client, "counts", EpisodeArguments()), failure_rules=rules
    )


def target_of(body: dict[str, Any]) -> int:
    return int(body["messages"][1]["content"].split("counter to ")[1].split(".")[0])


def counts(body: dict[str, Any]) -> dict[str, Any]:
    """Play as the seed of the turn says, so that equal seeds are seen to give equal episodes."""
    counter = int(body["messages"][-1]["content"].rstrip(".").rpartition(" ")[2])
    return message(f"add {min(1 + body['seed'] % 9, target_of(body) - counter)}")


def without_seconds(trajectories: list[Trajectory]) -> list[dict[str, Any]]:
    records = [trajectory.to_json() for trajectory in trajectories]
    for record in records:
        for turn in record["turns"]:
            turn["call"]["seconds"] = 0
    return records


@pytest.mark.parametrize(
    "options",
    [{}, {"env_backend": "thread"}, {"env_backend": "thread", "overlap": True}],
    ids=["sync", "thread", "overlap"],
)
def test_one_slow_answer_holds_up_its_own_episode_alone(options: dict[str, Any]) -> None:
    others_ended = threading.Event()
    ended: list[str] = []

    def one_is_slow(body: dict[str, Any]) -> dict[str, Any]:
        if target_of(body) == 21 and len(body["messages"]) == 2:
            assert others_ended.wait(timeout=30)
        return counts(body)

    def note(trajectory: Trajectory) -> None:
        ended.append(trajectory.task_id)
        if len(ended) == len(TASKS) - 1:
            others_ended.set()

    with serving({CHAT: one_is_slow}) as server:
        trajectories = rollout_of(server.url, **options).run(TASKS, on_trajectory=note)
    assert ended[-1] == "counting_20"
    assert [t.task_id for t in trajectories] == TASKS
    assert all(t.success for t in trajectories)


def test_the_episodes_are_those_of_the_lockstep() -> None:
    asked = Counter[int]()

    def uneven(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.01 * (body["seed"] % 3))
        asked[len(body["messages"])] += 1
        return counts(body)

    with serving({CHAT: uneven}) as server:
        apart = rollout_of(server.url)
        together = rollout_of(server.url)
        together.policy = InLockstep(together.policy)
        stream = (2, 7)
        assert without_seconds(apart.run(TASKS, stream=stream)) == without_seconds(
            together.run(TASKS, stream=stream)
        )
    assert all(count % 2 == 0 for count in asked.values())


def test_the_places_for_requests_are_kept_full() -> None:
    seen: list[int] = []

    def notes(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.05 if body["seed"] % 5 else 0.2)
        seen.append(len(body["messages"]))
        return counts(body)

    with serving({CHAT: notes}) as server:
        rollout_of(server.url).run(TASKS)
        assert server.most_at_once == 4
    # In lockstep all first turns would be answered before any second one.
    assert seen.index(4) < len(seen) - 1 - seen[::-1].index(2)


def test_an_episode_whose_request_fails_is_played_again_while_others_wait_for_answers() -> None:
    broken: list[int] = []
    released = threading.Event()

    def breaks_once(body: dict[str, Any]) -> dict[str, Any] | Failure:
        if target_of(body) == 5:
            if not broken:
                broken.append(1)
                return Failure(500)
            released.set()
        elif len(body["messages"]) == 2:
            assert released.wait(timeout=30)
        return counts(body)

    with serving({CHAT: breaks_once}) as server:
        rollout = rollout_of(server.url, rules=FailureRules(max_outage=30), retries=0)
        trajectories = rollout.run(TASKS)
    assert all(t.success for t in trajectories)


def test_ctrl_c_gives_up_what_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread goes on asking, which would keep the process and spend money."""

    def interrupt(*_args: Any) -> None:
        raise KeyboardInterrupt

    with serving({CHAT: lambda body: Failure(429, headers={"retry-after": "300"})}) as server:
        rollout = rollout_of(server.url)
        monkeypatch.setattr("trainers.rollout.env_slots.wait_for_any", interrupt)
        with pytest.raises(KeyboardInterrupt):
            rollout.run(TASKS)
        assert isinstance(rollout.policy, APIPolicy)
        client, began = rollout.policy._client, time.monotonic()
        client._threads.shutdown(wait=True)  # as the interpreter does at its end
        assert time.monotonic() - began < 60  # and not the 300 s that the server asks for
        client.close()
