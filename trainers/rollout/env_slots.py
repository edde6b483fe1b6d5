"""Slots of environments, the capacity that batches share, and waiting for their answers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentgym_envs.core.tasks import scenario_name
from trainers.rollout.policy import Episode, Reply
from wrappers import TextVectorEnv
from wrappers.schedules import HorizonSchedule
from wrappers.vector.slots import Waitable, wait_for_any

_GATHERING = 20e-6
"""Seconds for each answer that is waited for."""
_LONGEST = 0.2


@dataclass
class EnvSlots:
    """The slots of one environment: the free ones, and the work of the others."""

    env: TextVectorEnv
    free: list[int]
    env_ids: list[str]
    system_prompts: list[str]
    env_kwargs: list[dict[str, Any]]
    waiting: deque[int] = field(default_factory=deque)  # indices of tasks
    starting: dict[int, int] = field(default_factory=dict)  # slot -> index of its task
    stepping: dict[int, tuple[Episode, Reply, str]] = field(default_factory=dict)


@dataclass
class Capacity:
    """Episodes that may be under way at once, in all batches that share it.

    Attributes:
        free: how many more.
    """

    free: int


def task_env(task_id: str, envs: TextVectorEnv | Mapping[str, TextVectorEnv]) -> TextVectorEnv:
    """Return the environment that plays a task.

    Raises:
        ValueError: none of the environments has the name in front of the task id's number.
    """
    if isinstance(envs, TextVectorEnv):
        return envs
    name = scenario_name(task_id)
    if name not in envs:
        raise ValueError(
            f"task {task_id!r} belongs to none of the environments {sorted(envs)}; the mapping's "
            f"keys must be the names in front of the task ids' numbers"
        )
    return envs[name]


def task_schedule(
    task_id: str, schedule: HorizonSchedule | Mapping[str, HorizonSchedule] | None
) -> HorizonSchedule | None:
    """Return the schedule of a task's episodes."""
    if isinstance(schedule, Mapping):
        return schedule.get(scenario_name(task_id))
    return schedule


class Pause(NamedTuple):
    """A batch's wait, until any of its answers arrives or the seconds are over."""

    answers: Sequence[Waitable] = ()
    seconds: float | None = None


def gathering_seconds(num_answers: int) -> float:
    """Return how long further answers are awaited once there is one.

    The work between two pauses takes time in proportion to the batch's episodes. Done for each
    answer alone, an episode's turn would cost more with every further episode.
    """
    return min(_LONGEST, _GATHERING * num_answers)


def wait_for(pauses: Sequence[Pause]) -> None:
    """Wait until the first of some pauses ends."""
    answers = [answer for pause in pauses for answer in pause.answers]
    times = [pause.seconds for pause in pauses if pause.seconds is not None]
    if answers:
        wait_for_any(answers, min(times, default=None))
        time.sleep(gathering_seconds(len(answers)))
    else:
        time.sleep(min(times, default=0.0))
