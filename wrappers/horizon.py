"""HorizonCurriculum: gives each episode the turn horizon and the start that schedules name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, overload

import gymnasium as gym

from agentgym_envs.arguments import whole_number
from agentgym_envs.core import TextEnv
from wrappers.schedules import HorizonSchedule, parse_schedule, parse_start, start_at
from wrappers.starts import START, ExpertStarts
from wrappers.vector import TextVectorEnv

Schedule = HorizonSchedule | str | int


class HorizonCurriculum:
    """Resets with `options["horizon"] = schedule(global_step)`, which `TextEnv` truncates at.

    With `start` an episode begins so many turns before its expert's end. These turns are in the
    reset's `info["prefix"]`, and the horizon counts the turns that follow (`wrappers.starts`).

    Around a text environment it is a `gymnasium.Wrapper`; around a `TextVectorEnv` it offers what
    that offers. `reset(options={"global_step": n})` sets the step, and with it the horizon of the
    episodes that this reset starts; without it the last step given holds, 0 at first.
    `info["horizon"]` tells the horizon, and at its end `info["truncated_by"]` is `"horizon"`,
    unless the environment's own limit ended the episode.

    Args:
        env: what to wrap.
        schedule: turns as a function of the optimizer step, or as the commands write it:
            `"scaling:6,13,20@100"`, `20`; None has no horizon.
        start: turns before the expert's end in the same way: `"backward:2,4,8@100"`, `4`; or
            `"mixed:2,4,8"`, which `options["task_id"]` and the step draw from, without a task the
            count of resets; None is the task's own start.
    """

    env: Any
    schedule: HorizonSchedule | None
    start: HorizonSchedule | None
    global_step = 0
    _num_resets = 0

    @overload
    def __new__(
        cls,
        env: gym.Env[str, str],
        schedule: Schedule | None = None,
        *,
        start: Schedule | None = None,
    ) -> EnvHorizon: ...

    @overload
    def __new__(
        cls, env: TextVectorEnv, schedule: Schedule | None = None, *, start: Schedule | None = None
    ) -> VectorHorizon: ...

    def __new__(
        cls, env: Any = None, schedule: Any = None, *, start: Any = None
    ) -> HorizonCurriculum:
        """Choose the class that fits `env`. A copy keeps its class."""
        if cls is HorizonCurriculum:
            cls = EnvHorizon if isinstance(env, gym.Env) else VectorHorizon
        return super().__new__(cls)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start episodes and fix their horizon."""
        answer: tuple[Any, Any] = self.env.reset(seed=seed, options=self._scheduled(options))
        return answer

    def _scheduled(self, options: dict[str, Any] | None) -> dict[str, Any]:
        options = dict(options or {})
        global_step = options.pop("global_step", None)
        if global_step is not None:
            self.global_step = whole_number("options['global_step']", global_step, least=0)
        if self.schedule is not None:
            options["horizon"] = self.schedule(self.global_step)
        if self.start is not None:
            self._num_resets += 1
            tasks = options.get("task_id")
            if tasks is None:
                tasks = f"reset {self._num_resets}"
            options[START] = (
                [start_at(self.start, self.global_step, task) for task in tasks]
                if isinstance(tasks, list)
                else start_at(self.start, self.global_step, tasks)
            )
        return options


class EnvHorizon(
    HorizonCurriculum, gym.Wrapper[str, str, str, str], gym.utils.RecordConstructorArgs
):
    """`HorizonCurriculum` around one environment.

    Raises:
        TypeError: the environment is no `TextEnv`.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        schedule: Schedule | None = None,
        *,
        start: Schedule | None = None,
    ) -> None:
        if not isinstance(env.unwrapped, TextEnv):
            raise TypeError(f"env must be a TextEnv, which counts its turns, got {env.unwrapped!r}")
        gym.utils.RecordConstructorArgs.__init__(self, schedule=schedule, start=start)
        gym.Wrapper.__init__(self, env)
        self.schedule = _as_schedule("schedule", schedule)
        self.start = _as_schedule("start", start)
        self._starts = ExpertStarts()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode and fix its horizon."""
        options = self._scheduled(options)
        start = options.pop(START, None)
        if start is None:
            return gym.Wrapper.reset(self, seed=seed, options=options)
        return self._starts.reset(self.env, start, seed=seed, options=options)


class VectorHorizon(HorizonCurriculum):
    """`HorizonCurriculum` around a `TextVectorEnv`, which does all but resets.

    Raises:
        TypeError: the environment is neither a `gymnasium.Env` nor a `TextVectorEnv`.
    """

    def __init__(
        self, env: TextVectorEnv, schedule: Schedule | None = None, *, start: Schedule | None = None
    ) -> None:
        if not isinstance(env, TextVectorEnv):
            raise TypeError(f"env must be a gymnasium.Env or a TextVectorEnv, got {env!r:.80}")
        self.env = env
        self.schedule = _as_schedule("schedule", schedule)
        self.start = _as_schedule("start", start)

    def reset_async(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Begin to start episodes as `TextVectorEnv.reset_async` does, and fix their horizon."""
        self.env.reset_async(seed=seed, options=self._scheduled(options))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.env.close()

    def __getattr__(self, name: str) -> Any:
        if name == "env":  # not set yet, as while a copy is made
            raise AttributeError(name)
        return getattr(self.env, name)


def _as_schedule(name: str, schedule: Schedule | None) -> HorizonSchedule | None:
    if isinstance(schedule, str | int):
        return (parse_start if name == "start" else parse_schedule)(str(schedule))
    if not (schedule is None or callable(schedule)):
        example = "backward:2,4,8@100" if name == "start" else "scaling:6,13,20@100"
        raise TypeError(
            f"{name} must be a function of the step, turns, or a text such as "
            f"{example!r}, got {schedule!r:.80}"
        )
    return schedule
