"""Returns of an environment's expert and of the random policy on the same tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from agentgym_envs import NoExpert, TextEnv
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.policies.scripted import play
from trainers.rollout.mixtures import spread
from wrappers import TextVectorEnv

NUM_TASKS = 8
LEAST_MARGIN = 0.1
"""Below it OpenEnv's severity policy refuses a `floor_margin`."""

_ROUNDING = 1e-9
"""10 * (1 - 0.9) is less than 1 by so little."""

TOLERANCE = 0.01
"""Largest shortfall of an oracle from the greatest reward, as summed rewards are rounded."""


@dataclass(frozen=True)
class Measurement:
    """The returns of the expert and of the random policy on some tasks of a split.

    Attributes:
        expert: the expert's returns by task; empty where the environment has no expert.
        chance: the random policy's returns by task.
        solved: a task on which the expert reaches the greatest reward, or None.
        probe: a task, and the random policy's completions on it.
    """

    split: str
    reward_range: tuple[float, float]
    expert: tuple[float, ...]
    chance: tuple[float, ...]
    solved: str | None
    probe: tuple[str, tuple[str, ...]]

    @property
    def margin(self) -> float:
        """The greatest reward minus the random policy's mean, in tenths, rounded down."""
        least, greatest = self.reward_range
        tenths = 10 * (greatest - max(fmean(self.chance), least))
        return math.floor(tenths + _ROUNDING) / 10


def measure(env_id: str, sample: TextEnv) -> Measurement:
    """Play tasks from all over the test split, or the last split where there is no such.

    Raises:
        ValueError: the declared range is not finite, a reward is out of it, or the random policy
            leaves no margin.
        EnvFailure: the environment's machinery broke.
    """
    if not all(map(math.isfinite, sample.reward_range)):
        raise ValueError(
            f"{env_id} declares rewards in {sample.reward_range}, and OpenEnv needs finite bounds; "
            "set reward_range on its class"
        )
    splits = tuple(sample.task_set.splits)
    split = "test" if "test" in splits else splits[-1]
    task_ids = spread(sample.task_ids(split), NUM_TASKS, task_kind=sample.task_set.task_kind)
    try:
        expert = played(env_id, task_ids, "expert")
    except NoExpert:
        expert = []
    chance = played(env_id, task_ids, "random")
    _check_rewards(env_id, sample.reward_range, [*expert, *chance])
    enough = sample.reward_range[1] - TOLERANCE
    result = Measurement(
        split=split,
        reward_range=sample.reward_range,
        expert=tuple(one.episode_return for one in expert),
        chance=tuple(one.episode_return for one in chance),
        solved=next((one.task_id for one in expert if one.episode_return >= enough), None),
        probe=(task_ids[0], tuple(turn.completion for turn in chance[0].turns)),
    )
    if result.margin < LEAST_MARGIN:
        raise ValueError(
            f"the random policy earns {fmean(result.chance):.2f} of {sample.reward_range[1]:g} on "
            f"{len(task_ids)} tasks of {env_id} ({split}); OpenEnv asks for a margin of at least "
            f"{LEAST_MARGIN}, so make the tasks harder"
        )
    return result


def played(env_id: str, task_ids: Sequence[str], policy: str) -> list[Trajectory]:
    """Play tasks with `"expert"` or `"random"`.

    Raises:
        NoExpert: the environment has none.
        EnvFailure: the environment's machinery broke.
    """
    with TextVectorEnv(env_id, 1) as env:
        return play(env, task_ids, policy)


def _check_rewards(
    env_id: str, allowed: tuple[float, float], episodes: Iterable[Trajectory]
) -> None:
    low, high = allowed[0] - TOLERANCE, allowed[1] + TOLERANCE
    for episode in episodes:
        for reward in (episode.episode_return, *(turn.reward for turn in episode.turns)):
            if not low <= reward <= high:
                raise ValueError(
                    f"{env_id} declares rewards in {allowed[0]:g}..{allowed[1]:g} and gave "
                    f"{reward:g} on {episode.task_id}; set reward_range on its class"
                )
