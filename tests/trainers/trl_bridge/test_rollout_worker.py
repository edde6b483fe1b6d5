"""`AsyncGRPOTrainer`'s own queue, batcher and packer take what our worker samples."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from trl.experimental.async_grpo.async_grpo_trainer import (
    DataCollatorForRollout,
    FixedCountBatcher,
    RolloutQueueDataset,
)
from trl.experimental.async_grpo.async_rollout_worker import RolloutSample

from agentgym_envs.errors import EnvFailure
from agentgym_envs.trajectories.trajectory import Trajectory
from tests.trainers.tiny_models import tiny_model
from tests.trainers.toys import FAILED, episode, make_tokenizer, trace
from trainers.backends.hf import HFBackend
from trainers.policies.model import ModelPolicy
from trainers.rollout.rollout import Rollout
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Sampling
from trainers.trl_bridge.rollout_worker import RolloutWorker, group_samples
from wrappers import TextVectorEnv

TASKS = [f"textcraft_{number}" for number in (0, 1, 2, 4, 5)]


@pytest.fixture
def rollout() -> Iterator[Rollout]:
    envs = TextVectorEnv("agentgym/TextCraft-v0", num_envs=4, action_format="plain", max_turns=2)
    policy = ModelPolicy(
        HFBackend(tiny_model()),
        ChatFormat.from_tokenizer(make_tokenizer()),
        sampling=Sampling(max_new_tokens=6),
        seed=0,
    )
    yield Rollout(envs, policy)
    envs.close()


def taken(worker: RolloutWorker, number: int) -> list[RolloutSample]:
    return [worker.rollout_buffer.get(timeout=60) for _ in range(number)]


def test_samples_are_the_tokens_that_were_sampled_and_their_groups_advantages() -> None:
    windows = [trace(2, [1, 0, 1]), trace(4, [0, 1]), trace(3, [0, 0])]
    group = [episode(1.0, traces=windows), FAILED, episode(0.0), episode(math.nan), episode(0.5)]
    samples = group_samples(group, 7, 3)
    assert [sample.metrics["reward"] for sample in samples] == [1.0, 1.0, 0.0, 0.5]
    deviation = math.sqrt(1 / 6)
    assert [sample.advantage for sample in samples] == pytest.approx(
        [0.5 / deviation, 0.5 / deviation, -0.5 / deviation, 0.0]
    )
    for sample, window in zip(samples[:2], windows[:2], strict=True):
        assert sample.input_ids.tolist() == window.prompt_ids + window.completion_ids
        given = len(window.prompt_ids)
        assert sample.completion_mask.tolist() == [0] * given + window.action_mask
        assert sample.old_log_probs.tolist()[given:] == pytest.approx(window.logprobs)
    assert {(sample.model_version, sample.group_id) for sample in samples} == {(7, 3)}
    assert group_samples([FAILED, FAILED], 0, 0) == []


def test_every_task_is_played_once_in_a_pass_and_none_twice_in_a_batch(rollout: Rollout) -> None:
    worker = RolloutWorker(rollout, TASKS, num_generations=2, groups_at_once=3)
    batches = worker._batches()
    drawn = [next(batches) for _ in range(10)]
    assert all(len(set(batch)) == 3 for batch in drawn)
    flat = [task for batch in drawn for task in batch]
    assert all(sorted(flat[at : at + 5]) == TASKS for at in range(0, 30, 5))
    assert len({tuple(flat[at : at + 5]) for at in range(0, 30, 5)}) > 1


def test_the_trainers_queue_batcher_and_packer_take_the_samples(rollout: Rollout) -> None:
    worker = RolloutWorker(rollout, TASKS, num_generations=4, groups_at_once=2, queue_maxsize=64)
    worker.update_model_version(5)
    worker.start()
    metrics: dict[str, list[Any]] = defaultdict(list)
    source = RolloutQueueDataset(
        worker.rollout_buffer, lambda: 6, worker.check_health, 60.0, metrics, max_staleness=1
    )
    (row,) = next(iter(FixedCountBatcher(source, num_processes=1, microbatch_size=8)))
    batch = DataCollatorForRollout(pad_token_id=0, metrics=metrics).torch_call([[row]])
    worker.stop()
    assert len(row.groups) == 2 and len(row.samples) == 8
    assert metrics["sample/staleness_mean"] == [1.0] * 8
    sampled = sum(int(sample["completion_mask"].sum()) for sample in row.samples)
    assert batch["old_log_probs"].numel() == sampled
    model = tiny_model()
    for sample in row.samples:
        ids = torch.tensor(sample["input_ids"])
        with torch.no_grad():
            logprobs = model(ids[None]).logits[0, :-1].float().log_softmax(-1)
        of_tokens = logprobs.gather(1, ids[1:, None])[:, 0]
        mask = torch.tensor(sample["completion_mask"][1:]).bool()
        assert torch.allclose(
            of_tokens[mask], torch.tensor(sample["old_log_probs"][1:])[mask], atol=1e-4
        )
    played = worker.metrics_queue.get(timeout=1)
    assert played["episodes/turns"] == 2.0 and played["episodes/failed"] == 0.0


def test_a_new_version_is_the_next_batchs(rollout: Rollout) -> None:
    worker = RolloutWorker(rollout, TASKS, num_generations=2, groups_at_once=1, queue_maxsize=2)
    worker.start()
    assert {sample.model_version for sample in taken(worker, 2)} == {0}
    worker.update_model_version(9)
    samples = taken(worker, 12)
    worker.stop()
    versions = [sample.model_version for sample in samples]
    assert versions[-1] == 9 and versions == sorted(versions)
    assert all(versions[at] == versions[at + 1] for at in range(0, 12, 2))


def test_stopping_waits_for_no_one_to_take_samples(rollout: Rollout) -> None:
    worker = RolloutWorker(rollout, TASKS, num_generations=2, groups_at_once=1, queue_maxsize=1)
    worker.start()
    while not worker.rollout_buffer.full():
        worker.check_health(60.0)
        time.sleep(0.01)
    worker.stop()
    assert "rollout-worker" not in {thread.name for thread in threading.enumerate()}
    taken(worker, 1)
    with pytest.raises(queue.Empty):
        worker.rollout_buffer.get(timeout=0.1)
    worker.start()
    assert taken(worker, 2)
    worker.stop()


def test_what_fails_and_what_hangs_is_said_to_the_trainer(
    rollout: Rollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> list[Trajectory]:
        raise EnvFailure("the server is gone")

    monkeypatch.setattr(rollout, "run", fail)
    worker = RolloutWorker(rollout, TASKS)
    worker.start()
    assert worker._thread is not None
    worker._thread.join()
    with pytest.raises(RuntimeError, match="the rollouts have failed: the server is gone"):
        worker.check_health(60.0)
    monkeypatch.setattr(rollout, "run", lambda *_args, **_kwargs: time.sleep(0.3) or [])
    worker = RolloutWorker(rollout, TASKS)
    worker.start()
    time.sleep(0.1)
    with pytest.raises(RuntimeError, match=r"no episode has ended for .*heartbeat_stale_after_s=0"):
        worker.check_health(0.05)
    worker.stop()


def test_numbers_that_play_nothing_are_refused(rollout: Rollout) -> None:
    with pytest.raises(ValueError, match="task_ids must name a task"):
        RolloutWorker(rollout, [])
    with pytest.raises(ValueError, match=r"at least 1; got .*, 8, 0, 1024"):
        RolloutWorker(rollout, TASKS, groups_at_once=0)
