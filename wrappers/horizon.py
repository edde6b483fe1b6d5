"""HorizonCurriculum: gives each episode the turn horizon that a schedule names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import gymnasium as gym

from agentgym_envs.arguments import whole_number
from agentgym_envs.core import TextEnv
from wrappers.schedules import HorizonSchedule, parse_schedule
from wrappers.vector import TextVectorEnv

Schedule = HorizonSchedule | str | int


class HorizonCurriculum:
    """Resets with `options["horizon"] = schedule(global_step)`, which `TextEnv` truncates at.

    Around a text environment it is a `gymnasium.Wrapper`; around a `TextVectorEnv` it offers what
    that offers. `reset(options={"global_step": n})` sets the step, and with it the horizon of the
    episodes that this reset starts; without it the last step given holds, 0 at first.
    `info["horizon"]` tells the horizon, and at its end `info["truncated_by"]` is `"horizon"`,
    unless the environment's own limit ended the episode.

    Args:
        env: what to wrap.
        schedule: turns as a function of the optimizer step, or as the commands write it:
            `"scaling:6,13,20@100"`, `20`.
    """

    env: Any
    schedule: HorizonSchedule
    global_step = 0

    @overload
    def __new__(cls, env: gym.Env[str, str], schedule: Schedule) -> EnvHorizon: ...

    @overload
    def __new__(cls, env: TextVectorEnv, schedule: Schedule) -> VectorHorizon: ...

    def __new__(cls, env: Any = None, schedule: Any = None) -> HorizonCurriculum:
        """Choose the class that fits `env`. A copy keeps its class."""
        if cls is HorizonCurriculum:
            cls = EnvHorizon if isinstance(env, gym.Env) else VectorHorizon
        return super().__new__(cls)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start episodes and fix their horizon."""
        answer: tuple[Any, Any] = self.env.reset(seed=seed, options=self._with_horizon(options))
        return answer

    def _with_horizon(self, options: dict[str, Any] | None) -> dict[str, Any]:
        options = dict(options or {})
        global_step = options.pop("global_step", None)
        if global_step is not None:
            self.global_step = whole_number("options['global_step']", global_step, least=0)
        return {**options, "horizon": self.schedule(self.global_step)}


class EnvHorizon(
    HorizonCurriculum, gym.Wrapper[str, str, str, str], gym.utils.RecordConstructorArgs
):
    """`HorizonCurriculum` around one environment."""

    def __init__(self, env: gym.Env[str, str], schedule: Schedule) -> None:
        if not isinstance(env.unwrapped, TextEnv):
            raise TypeError(f"env must be a TextEnv, which counts its turns, got {env.unwrapped!r}")
        gym.utils.RecordConstructorArgs.__init__(self, schedule=schedule)
        gym.Wrapper.__init__(self, env)
        self.schedule = _as_schedule(schedule)


class VectorHorizon(HorizonCurriculum):
    """`HorizonCurriculum` around a `TextVectorEnv`, which does all but resets."""

    def __init__(self, env: TextVectorEnv, schedule: Schedule) -> None:
        if not isinstance(env, TextVectorEnv):
            raise TypeError(f"env must be a gymnasium.Env or a TextVectorEnv, got {env!r:.80}")
        self.env = env
        self.schedule = _as_schedule(schedule)

    def reset_async(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Begin to start episodes as `TextVectorEnv.reset_async` does, and fix their horizon."""
        self.env.reset_async(seed=seed, options=self._with_horizon(options))

    def __getattr__(self, name: str) -> Any:
        if name == "env":  # not set yet, as while a copy is made
            raise AttributeError(name)
        return getattr(self.env, name)


def _as_schedule(schedule: Schedule) -> HorizonSchedule:
    if isinstance(schedule, str | int):
        return parse_schedule(str(schedule))
    if not callable(schedule):
        raise TypeError(
            "schedule must be a function of the step, turns, or a text such as "
            f"'scaling:6,13,20@100', got {schedule!r:.80}"
        )
    return schedule
