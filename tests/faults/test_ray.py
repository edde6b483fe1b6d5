"""Batches on a Ray cluster of two machines, which are two of Ray's nodes here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import register_helpers
from tests.trainers.rollout.adding import Adds
from tests.wrappers.vector.backends import all_end
from tests.wrappers.vector.gates import NappingEnv
from trainers.collect import main
from trainers.rollout.rollout import Rollout
from wrappers import FailureRules, TextVectorEnv
from wrappers.vector.ray_slot import RayActors

register_helpers()
pytestmark = pytest.mark.ray
TASKS = [f"counting_{number}" for number in range(12, 40)]
SPREAD = RayActors(envs=4, options={"scheduling_strategy": "SPREAD"})


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Two nodes, the first of which has room for the actors of both."""
    ray = pytest.importorskip("ray", reason='needs Ray: pip install "agentgym-envs[ray]"')
    from ray.cluster_utils import Cluster

    node = {"object_store_memory": 100_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, **node})
    cluster.add_node(num_cpus=2, **node)
    ray.init(cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


class OnANode(NappingEnv):
    """Says where it runs."""

    def node(self) -> str:
        import ray

        return str(ray.get_runtime_context().get_node_id())


def recorded(trajectories: Any) -> list[dict[str, Any]]:
    return [asdict(trajectory) for trajectory in trajectories]


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    with TextVectorEnv([NappingEnv] * 8) as env:
        return recorded(Rollout(env, Adds()).run(TASKS))


def test_a_batch_on_two_nodes_is_the_one_of_this_process(
    cluster: Any, expected: list[dict[str, Any]]
) -> None:
    with TextVectorEnv([OnANode] * 8, backend="ray", ray=SPREAD) as env:
        assert len(set(env.call("node"))) == 2
        for overlap in (False, True):
            assert recorded(Rollout(env, Adds(), overlap=overlap).run(TASKS)) == expected


@pytest.mark.parametrize("overlap", [False, True])
def test_a_node_that_dies_in_the_middle_of_a_batch_costs_its_unfinished_episodes_only(
    overlap: bool, cluster: Any, expected: list[dict[str, Any]]
) -> None:
    (second,) = cluster.worker_nodes
    policy, ended = Adds(), []
    with TextVectorEnv([OnANode] * 8, backend="ray", ray=SPREAD) as env:
        there = [node == second.node_id for node in env.call("node")]
        pids = {pid for pid, is_there in zip(env.call("pid"), there, strict=True) if is_there}
        assert sum(there) == 4 and len(pids) == 1

        def kill(trajectory: Any) -> None:
            ended.append(trajectory.task_id)
            if len(ended) == 10:
                cluster.remove_node(second, allow_graceful=False)
                all_end(pids)

        rollout = Rollout(env, policy, overlap=overlap, failure_rules=FailureRules(retries=1))
        trajectories = recorded(rollout.run(TASKS, on_trajectory=kill))
        assert set(env.call("node")) == {cluster.head_node.node_id}
    assert trajectories == expected
    assert sorted(ended) == sorted(TASKS), "every episode ends once"
    again = [key for key in set(policy.left) if policy.left.count(key) > 1]
    assert 1 <= len(again) <= 4, "what the node was playing, and nothing else"


def test_a_command_plays_on_the_cluster(cluster: Any, tmp_path: Path) -> None:
    words = ["--env", "TextCraft", "--policy", "expert", "--split", "test", "--num_tasks", "8"]
    words += ["--num_envs", "8"]
    rays = ["--env_backend", "ray", "--ray", cluster.address, "--ray_envs", "2"]
    rays += ["--ray_actor", '{"num_cpus": 0.5}']
    files = [tmp_path / "here.jsonl", tmp_path / "there.jsonl"]
    for file, options in zip(files, ([], rays), strict=True):
        assert main([*words, *options, "--out", str(file)]) == 0
    assert files[1].read_text() == files[0].read_text() != ""
