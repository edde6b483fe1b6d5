"""Where episodes are played: the slots of environments, and how many episodes may be under way."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agentgym_envs.core.tasks import scenario_of
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.rollout.policy import Episode, Reply
from wrappers import TextVectorEnv
from wrappers.schedules import HorizonSchedule


class Branching(Protocol):
    """Where an episode begins that goes on from another one's state."""

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that lead there from the start."""

    @property
    def observation(self) -> str:
        """What they lead to."""

    def begin(self, episode: Trajectory) -> None:
        """Write the turns that are shared into the record."""


@dataclass
class EnvSlots:
    """The slots of one environment: those that are free, and what the others are doing."""

    env: TextVectorEnv
    free: list[int]
    env_ids: list[str]
    system_prompts: list[str]
    waiting: deque[int] = field(default_factory=deque)  # places in the list of tasks
    starting: dict[int, int] = field(default_factory=dict)  # slot -> place in the list of tasks
    stepping: dict[int, tuple[Episode, Reply, str]] = field(default_factory=dict)


@dataclass
class Places:
    """How many episodes may be under way at once, in several batches that share them.

    Attributes:
        free: how many more.
    """

    free: int


def env_of(task_id: str, envs: TextVectorEnv | Mapping[str, TextVectorEnv]) -> TextVectorEnv:
    """Return where a task is played."""
    if isinstance(envs, TextVectorEnv):
        return envs
    name = scenario_of(task_id)
    if name not in envs:
        raise ValueError(
            f"task {task_id!r} belongs to none of the environments {sorted(envs)}; the mapping's "
            f"keys must be the names in front of the task ids' numbers"
        )
    return envs[name]


def horizon_of(
    task_id: str, schedule: HorizonSchedule | Mapping[str, HorizonSchedule] | None, step: int
) -> int | None:
    """Return the horizon of a task's episodes at an optimizer step."""
    if isinstance(schedule, Mapping):
        schedule = schedule.get(scenario_of(task_id))
    return None if schedule is None else schedule(step)
