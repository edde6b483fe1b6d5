"""HorizonCurriculum: cuts episodes at a turn horizon, around one environment or several.

Knows turns and steps, not trainers; how the horizon grows is said in `wrappers.schedules`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import gymnasium as gym
from gymnasium.error import ResetNeeded

from wrappers.schedules import HorizonSchedule
from wrappers.vector.arguments import Answer, TextVector, chosen_slots
from wrappers.vector.slots import Slot


class HorizonCurriculum:
    """Truncates episodes at `schedule(global_step)` turns; it never terminates one.

    Around a `gymnasium.Env` it is a `gymnasium.Wrapper`; around a `TextVectorEnv` it offers what
    that offers. `reset(options={"global_step": n})` sets the step, and with it the horizon of the
    episodes that this reset starts; without it the last step given holds, 0 at first.
    `info["horizon"]` tells the horizon, and at its end `info["truncated_by"]` is `"horizon"`,
    unless the environment itself ended the episode.

    Args:
        env: what to wrap.
        schedule: turns as a function of the optimizer step.
    """

    schedule: HorizonSchedule
    global_step: int

    @overload
    def __new__(cls, env: gym.Env[str, str], schedule: HorizonSchedule) -> EnvHorizon: ...

    @overload
    def __new__(cls, env: TextVector, schedule: HorizonSchedule) -> VectorHorizon: ...

    def __new__(cls, env: Any, schedule: HorizonSchedule) -> HorizonCurriculum:
        """Choose the class that fits `env`."""
        if cls is HorizonCurriculum:
            cls = EnvHorizon if isinstance(env, gym.Env) else VectorHorizon
        return super().__new__(cls)

    def _begin(self, options: dict[str, Any] | None) -> tuple[int, dict[str, Any]]:
        """Return the horizon of the episodes that begin, and the options left for the env."""
        options = dict(options or {})
        global_step = options.pop("global_step", None)
        if global_step is not None:
            if isinstance(global_step, bool) or not isinstance(global_step, int) or global_step < 0:
                raise ValueError(f"options['global_step'] must be an int >= 0, got {global_step!r}")
            self.global_step = global_step
        return self.schedule(self.global_step), options


class EnvHorizon(
    HorizonCurriculum, gym.Wrapper[str, str, str, str], gym.utils.RecordConstructorArgs
):
    """`HorizonCurriculum` around one environment."""

    def __init__(self, env: gym.Env[str, str], schedule: HorizonSchedule) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, schedule=schedule)
        gym.Wrapper.__init__(self, env)
        self.schedule = schedule
        self.global_step = 0
        self._horizon = schedule(0)
        self._turn = 0
        self._cut = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode and fix its horizon."""
        horizon, options = self._begin(options)
        observation, info = self.env.reset(seed=seed, options=options)
        self._horizon, self._turn, self._cut = horizon, 0, False
        return observation, {**info, "horizon": horizon}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn; the last one within the horizon truncates.

        Raises:
            ResetNeeded: the episode is over.
        """
        if self._cut:
            raise ResetNeeded("the horizon ended the episode; call reset() before step()")
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._turn += 1
        info = {**info, "horizon": self._horizon}
        if self._turn >= self._horizon and not (terminated or truncated):
            self._cut = truncated = True
            info["truncated_by"] = "horizon"
        return observation, float(reward), terminated, truncated, info


@dataclass
class _SlotClock:
    """The turns of a slot's episode; `cut` where the horizon has ended it."""

    horizon: int
    turn: int = 0
    cut: bool = False

    def count(self, *, is_over: bool) -> None:
        """Count a turn; `is_over` where the environment has ended the episode with it."""
        self.turn += 1
        self.cut = self.turn >= self.horizon and not is_over


class VectorHorizon(HorizonCurriculum):
    """`HorizonCurriculum` around a `TextVectorEnv`; every slot keeps its own episode's horizon."""

    def __init__(self, env: TextVector, schedule: HorizonSchedule) -> None:
        if isinstance(env, gym.vector.VectorEnv):
            raise TypeError(f"env must be a gymnasium.Env or a TextVectorEnv, got {env!r:.80}")
        self.env = env
        self.num_envs = env.num_envs
        self.schedule = schedule
        self.global_step = 0
        self._clocks = [_SlotClock(schedule(0)) for _ in range(env.num_envs)]
        self._stepping: set[int] = set()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """Start episodes as `TextVectorEnv.reset` does, and fix their horizon."""
        horizon, options = self._begin(options)
        for index in chosen_slots(options, self.num_envs):
            self._clocks[index] = _SlotClock(horizon)
        observations, infos = self.env.reset(seed=seed, options=options)
        return observations, [self._told(*pair) for pair in zip(self._clocks, infos, strict=True)]

    def step(
        self, actions: Sequence[str | None]
    ) -> tuple[list[str], list[float], list[bool], list[bool], list[dict[str, Any]]]:
        """Play one turn in every slot that is given an action, as `TextVectorEnv.step` does.

        Raises:
            ResetNeeded: a slot is given an action whose episode is over; no slot has been stepped.
        """
        self._check_actions(actions)
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        told = []
        for index, (clock, info) in enumerate(zip(self._clocks, infos, strict=True)):
            if actions[index] is not None and "failure" not in info:
                clock.count(is_over=terminated[index] or truncated[index])
            told.append(self._told(clock, info))
        truncated = [flag or clock.cut for flag, clock in zip(truncated, self._clocks, strict=True)]
        return observations, rewards, terminated, truncated, told

    def reset_async(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Begin to start episodes as `TextVectorEnv.reset_async` does, and fix their horizon."""
        horizon, options = self._begin(options)
        self.env.reset_async(seed=seed, options=options)
        for index in chosen_slots(options, self.num_envs):
            self._clocks[index] = _SlotClock(horizon)

    def step_async(self, actions: Sequence[str | None]) -> None:
        """Begin a turn as `TextVectorEnv.step_async` does.

        Raises:
            ResetNeeded: a slot is given an action whose episode is over; no slot has been called.
        """
        self._check_actions(actions)
        self.env.step_async(actions)
        self._stepping |= {index for index, action in enumerate(actions) if action is not None}

    def poll(self, timeout: float | None = 0.0) -> dict[int, Answer]:
        """Take the answers that have come, as `TextVectorEnv.poll` does."""
        return {index: self._heard(index, *a) for index, a in self.env.poll(timeout).items()}

    def unanswered(self) -> list[Slot]:
        """List the slots that are in the middle of a call."""
        return self.env.unanswered()

    def cancel(self) -> None:
        """Give up the calls that have not been answered."""
        self.env.cancel()
        self._stepping.clear()

    def get(self, name: str) -> list[Any]:
        """Read an attribute of every slot's environment."""
        return self.env.get(name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of every slot's environment."""
        return self.env.call(name, *args, **kwargs)

    def expert_actions(self, where: Sequence[bool] | None = None) -> list[str | None]:
        """Take the next action of every slot's expert; None where the horizon ended the episode."""
        asked = [True] * self.num_envs if where is None else where
        return self.env.expert_actions(
            [flag and not clock.cut for flag, clock in zip(asked, self._clocks, strict=True)]
        )

    def close(self) -> None:
        """Close every slot."""
        self.env.close()

    def _check_actions(self, actions: Sequence[str | None]) -> None:
        cut = [
            index
            for index, (clock, action) in enumerate(zip(self._clocks, actions, strict=False))
            if clock.cut and action is not None
        ]
        if cut:
            raise ResetNeeded(f"the horizon ended the episodes of slots {cut}; reset them first")

    def _heard(
        self,
        index: int,
        observation: str,
        reward: float,
        terminated: bool,
        truncated: bool,
        info: dict[str, Any],
    ) -> Answer:
        clock = self._clocks[index]
        if index in self._stepping and "failure" not in info:
            clock.count(is_over=terminated or truncated)
        self._stepping.discard(index)
        return observation, reward, terminated, truncated or clock.cut, self._told(clock, info)

    @staticmethod
    def _told(clock: _SlotClock, info: dict[str, Any]) -> dict[str, Any]:
        if "failure" in info:
            return info
        told = {**info, "horizon": clock.horizon}
        return {**told, "truncated_by": "horizon"} if clock.cut else told
