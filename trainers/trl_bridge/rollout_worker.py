"""Our rollouts for TRL's `AsyncGRPOTrainer`, as its `rollout_worker`.

That trainer takes samples from a queue while others are played, and sends its weights to the server
itself. A stock worker plays tools of Python functions; this one plays text environments, with the
tokens as they were sampled.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from trl.experimental.async_grpo.async_rollout_worker import RolloutSample

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory
from trainers.credit.advantages import subtract_group_mean
from trainers.credit.rewards import episode_columns, episode_metrics, has_reward
from trainers.rollout.rollout import Rollout

_POLL = 0.5
"""Seconds after which a full queue is looked at again, and whether to stop."""
_EPSILON = 1e-8
"""Added to a group's deviation, as TRL's worker does."""


class RolloutWorker:
    """Plays groups of episodes in a thread, for `trl.experimental.async_grpo.AsyncGRPOTrainer`.

    An episode's advantage is its return less its group's mean, over the group's deviation. Each
    token window of an episode is a sample with it. Failed episodes are not sampled, and take no
    part in the mean. Samples have the version of the weights with which their batch began, the
    oldest of any of their tokens. Each token has the log-probability under the weights that
    sampled it.

    Args:
        rollout: plays task ids, with a policy whose server the trainer sends its weights to.
        task_ids: the tasks, in a new order for each pass.
        num_generations: episodes of a group.
        groups_at_once: groups that are played together, so that their turns share batches.
        temperature: of the sampling; give the trainer the same.
        queue_maxsize: samples that wait for the trainer, at most.
        seed: of the order.

    Attributes:
        rollout_buffer: the samples.
        metrics_queue: metrics of the episodes of each batch, under our trainers' names.

    Raises:
        ValueError: there is no task, or a number is below 1.
    """

    def __init__(
        self,
        rollout: Rollout,
        task_ids: Sequence[str],
        *,
        num_generations: int = 8,
        groups_at_once: int = 8,
        temperature: float = 1.0,
        queue_maxsize: int = 1024,
        seed: int = 0,
    ) -> None:
        if not task_ids or min(num_generations, groups_at_once, queue_maxsize) < 1:
            raise ValueError(
                "task_ids must name a task, and num_generations, groups_at_once and queue_maxsize "
                f"be at least 1; got {list(task_ids)[:3]}, {num_generations}, {groups_at_once}, "
                f"{queue_maxsize}"
            )
        self.rollout_buffer: queue.Queue[RolloutSample] = queue.Queue(queue_maxsize)
        self.metrics_queue: queue.Queue[dict[str, float]] = queue.Queue()
        self._rollout = rollout
        self._task_ids = list(task_ids)
        self._num_generations = num_generations
        self._groups_at_once = min(groups_at_once, len(self._task_ids))
        self._temperature = temperature
        self._random = random.Random(seed)
        self._version = 0
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        self._last_sign = time.monotonic()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to play."""
        self._stopping.clear()
        self._last_sign = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="rollout-worker", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End when the next episode does."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def update_model_version(self, model_version: int) -> None:
        """Note which weights the next batch is sampled from."""
        self._version = model_version

    def check_health(self, stale_after_s: float) -> None:
        """Raise if nothing is played any more.

        Raises:
            RuntimeError: playing has failed, or no episode has ended for so many seconds.
        """
        if self._failure is not None:
            raise RuntimeError(f"the rollouts have failed: {self._failure}") from self._failure
        silent = time.monotonic() - self._last_sign
        if silent > stale_after_s:
            raise RuntimeError(
                f"no episode has ended for {silent:.0f} s, more than heartbeat_stale_after_s="
                f"{stale_after_s:.0f}: an environment or the server hangs, or episodes are long"
            )

    def _run(self) -> None:
        try:
            for number, task_ids in enumerate(self._batches()):
                self._play(task_ids, number)
        except _Stopped:
            pass
        except BaseException as failure:
            self._failure = failure

    def _batches(self) -> Iterator[list[str]]:
        """Yield the tasks of each batch endlessly, each task once, so that it names its group."""
        rest: list[str] = []
        while True:
            batch = rest[: self._groups_at_once]
            rest = rest[self._groups_at_once :]
            if len(batch) < self._groups_at_once:
                rest = self._random.sample(self._task_ids, len(self._task_ids))
                more = [task for task in rest if task not in batch]
                more = more[: self._groups_at_once - len(batch)]
                rest = [task for task in rest if task not in more]
                batch += more
            yield batch

    def _play(self, task_ids: list[str], number: int) -> None:
        self._give_sign()
        version, size = self._version, self._num_generations
        episodes = self._rollout.run(
            [task for task in task_ids for _ in range(size)],
            global_step=version,
            temperature=self._temperature,
            stream=(number,),
            on_trajectory=lambda _episode: self._give_sign(),
        )
        columns = episode_columns(episodes)
        rewards = [one.episode_return for one in episodes]
        self.metrics_queue.put(episode_metrics(rewards=rewards, **columns))
        for first in range(0, len(episodes), size):
            group_id = number * self._groups_at_once + first // size
            for sample in group_samples(episodes[first : first + size], version, group_id):
                self._put(sample)

    def _put(self, sample: RolloutSample) -> None:
        sample.enqueued_at = time.time()
        while True:
            self._give_sign()
            try:
                self.rollout_buffer.put(sample, timeout=_POLL)
                return
            except queue.Full:
                pass

    def _give_sign(self) -> None:
        if self._stopping.is_set():
            raise _Stopped
        self._last_sign = time.monotonic()


class _Stopped(Exception):
    """The worker is stopping."""


def group_samples(
    group: Sequence[Trajectory], model_version: int, group_id: int
) -> list[RolloutSample]:
    """Return the samples of a group of episodes of one task, without those that have no reward."""
    counted = [one for one in group if has_reward(one.status, one.episode_return)]
    if not counted:
        return []
    rewards = torch.tensor([one.episode_return for one in counted], dtype=torch.float64)
    deviation = float(rewards.std(correction=0))
    advantages = subtract_group_mean(rewards, len(counted)) / (deviation + _EPSILON)
    return [
        RolloutSample(
            prompt=one.messages()[: 1 + bool(one.system_prompt)],
            completion=one.messages()[1 + bool(one.system_prompt) :],
            **_columns(trace),
            advantage=advantage,
            model_version=model_version,
            group_id=group_id,
            metrics={"reward": one.episode_return, "reward_std": deviation},
        )
        for one, advantage in zip(counted, advantages.tolist(), strict=True)
        for trace in one.traces
        if any(trace.action_mask)
    ]


def _columns(trace: TokenTrace) -> dict[str, np.ndarray]:
    num_given = len(trace.prompt_ids)
    return {
        "input_ids": np.asarray(trace.prompt_ids + trace.completion_ids, dtype=np.int64),
        "completion_mask": np.asarray([0] * num_given + trace.action_mask, dtype=np.int64),
        "old_log_probs": np.asarray([0.0] * num_given + trace.logprobs, dtype=np.float32),
    }
