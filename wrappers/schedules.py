"""Turns by optimizer step: ScalingInter (arXiv 2509.08755), fixed and adaptive.

They are horizons, or starts of episodes before the expert's end (`parse_start`), which may also be
drawn by task. All but `AdaptiveHorizon` are pure functions, so a resumed run needs no state of
theirs.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import sqrt
from statistics import fmean, variance
from typing import Any, Protocol

TASK_START = sys.maxsize
"""In place of turns before the expert's end: the task's own start."""


class HorizonSchedule(Protocol):
    """A function from the optimizer step to the horizon, in turns.

    It is pure, or, as `AdaptiveHorizon` is, pure once earlier steps are on record.
    """

    def __call__(self, global_step: int) -> int:
        """Return the horizon of episodes that start at `global_step`."""


@dataclass(frozen=True)
class FixedHorizon:
    """The same horizon at every step.

    Attributes:
        horizon: turns.
    """

    horizon: int

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise ValueError(f"horizon must be >= 1, got {self.horizon}")

    @property
    def longest(self) -> int:
        """The horizon."""
        return self.horizon

    def __call__(self, global_step: int) -> int:
        """Return `horizon`."""
        return self.horizon


@dataclass(frozen=True)
class ScalingInter:
    """Horizons in stages of equal length, the last of which never ends.

    Attributes:
        horizons: turns, one entry per stage, never falling.
        every: optimizer steps per stage.
    """

    horizons: tuple[int, ...] = (6, 13, 20)
    every: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "horizons", check_stages(self.horizons))
        if self.every < 1:
            raise ValueError(f"every must be >= 1, got {self.every}")

    @property
    def longest(self) -> int:
        """The last stage's horizon."""
        return self.horizons[-1]

    def __call__(self, global_step: int) -> int:
        """Return the horizon of the stage that holds `global_step`."""
        return self.horizons[min(global_step // self.every, len(self.horizons) - 1)]


@dataclass
class AdaptiveHorizon:
    """Horizons in stages, each of which ends when its success has levelled off.

    Once per `window` of recorded steps, from the second window of a stage on, the mean success of
    the last window is compared with that of the window before. If it is not better by more than
    `tolerance` standard errors of their difference, the next stage begins at the following step.
    The last stage holds for ever after.

    A call is a function of the optimizer step and of what was recorded before it, so a run that is
    resumed with `load_state_dict` goes on as if it had not stopped.

    Attributes:
        horizons: turns, one entry per stage, never falling.
        window: recorded steps per window. A stage lasts two windows at least.
        tolerance: standard errors that count as chance; at 0 any gain keeps the stage.
    """

    horizons: tuple[int, ...] = (6, 13, 20)
    window: int = 20
    tolerance: float = 1.0
    _starts: list[int] = field(default_factory=lambda: [0], init=False, repr=False, compare=False)
    _recorded: dict[int, list[float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        self.horizons = check_stages(self.horizons)
        if self.window < 2:
            raise ValueError(f"window must be >= 2 steps, got {self.window}")
        if self.tolerance < 0:
            raise ValueError(f"tolerance must be >= 0, got {self.tolerance}")

    @property
    def longest(self) -> int:
        """The last stage's horizon."""
        return self.horizons[-1]

    def __call__(self, global_step: int) -> int:
        """Return the horizon of the stage that holds `global_step`."""
        return self.horizons[bisect_right(self._starts, global_step) - 1]

    @property
    def starts(self) -> tuple[int, ...]:
        """The first step of each stage that has begun."""
        return tuple(self._starts)

    def record(self, global_step: int, success: float) -> None:
        """Take note of the success of the episodes that were played at a step.

        Several batches of one step count as one step with their mean. A window ends with the first
        batch of its last step.

        Args:
            global_step: the step at which they were played.
            success: the share of them that succeeded, 0..1.
        """
        if global_step < self._starts[-1] or len(self._starts) == len(self.horizons):
            return
        is_new = global_step not in self._recorded
        self._recorded.setdefault(global_step, []).append(success)
        num_steps = len(self._recorded)
        window_is_full = is_new and num_steps >= 2 * self.window and num_steps % self.window == 0
        if window_is_full and self._has_levelled_off():
            self._starts.append(global_step + 1)
            self._recorded.clear()

    def _has_levelled_off(self) -> bool:
        means = [fmean(self._recorded[step]) for step in sorted(self._recorded)]
        before, last = means[-2 * self.window : -self.window], means[-self.window :]
        error = sqrt((variance(before) + variance(last)) / self.window)
        return fmean(last) - fmean(before) <= self.tolerance * error

    def state_dict(self) -> dict[str, Any]:
        """Return the recorded steps and the starts of stages, as JSON values."""
        recorded = [[step, list(values)] for step, values in sorted(self._recorded.items())]
        return {"starts": list(self._starts), "recorded": recorded}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned. An empty dict resets it.

        Raises:
            ValueError: the state has more stages than there are horizons.
        """
        starts = list(state.get("starts", [0]))
        if len(starts) > len(self.horizons):
            raise ValueError(
                f"the saved curriculum had begun {len(starts)} stages, at steps {starts}, but the "
                f"horizons are {self.horizons}; resume with the horizons the run began with"
            )
        self._starts = starts
        self._recorded = {step: list(values) for step, values in state.get("recorded", [])}


@dataclass(frozen=True)
class MixedStarts:
    """Starts drawn for each task and step, evenly from several and the task's own.

    The mixed stages of R3 (arXiv 2402.05808). A group plays one task, so it shares its start.

    Attributes:
        turns: turns before the expert's end, not falling.
    """

    turns: tuple[int, ...] = (2, 4, 8)

    def __post_init__(self) -> None:
        object.__setattr__(self, "turns", check_stages(self.turns, "starts"))

    def __call__(self, global_step: int, task_id: str | None = None) -> int:
        """Return the turns before the expert's end, `TASK_START` for the task's own start."""
        starts = (*self.turns, TASK_START)
        drawn = sha256(f"{global_step} {task_id}".encode()).digest()
        return starts[int.from_bytes(drawn) % len(starts)]


def check_stages(stages: Sequence[int], name: str = "horizons") -> tuple[int, ...]:
    """Return the turns of a curriculum's stages as a tuple, or raise ValueError."""
    stages = tuple(stages)
    if not stages or min(stages) < 1:
        raise ValueError(f"{name} must hold numbers >= 1, got {stages}")
    if list(stages) != sorted(stages):
        raise ValueError(f"{name} must not fall from stage to stage, got {stages}")
    return stages


Turns = FixedHorizon | ScalingInter | AdaptiveHorizon


def parse_schedule(text: str) -> Turns:
    """Read a schedule of horizons from the command line.

    Args:
        text: `"fixed:20"`, or `"20"` alone; `"scaling:6,13,20@100"` for three stages of 100 steps;
            or `"adaptive:6,13,20@20"` for three stages, each until success has levelled off over
            windows of 20 steps.

    Raises:
        ValueError: the text has another form, or its numbers are not allowed.
    """
    try:
        return _read(text, "scaling", "horizons")
    except ValueError as error:
        raise ValueError(
            f"cannot read the horizon {text!r}: {error}; write turns alone (20), or "
            "scaling:6,13,20@100 or adaptive:6,13,20@20"
        ) from error


def parse_start(text: str) -> Turns | MixedStarts:
    """Read a schedule of starts, in turns before the expert's end, from the command line.

    A curriculum has one more stage, `TASK_START`.

    Args:
        text: `"4"`; `"backward:2,4,8@100"` for three stages of 100 steps before that of the task's
            own start; `"adaptive:2,4,8@20"` for stages that end as those of horizons do; or
            `"mixed:2,4,8"` for one of the four drawn for each task.

    Raises:
        ValueError: the text has another form, or its numbers are not allowed.
    """
    kind, _, numbers = text.partition(":")
    try:
        if kind == "mixed":
            return MixedStarts(tuple(map(_whole, numbers.split(","))))
        return _read(text, "backward", "starts", further=(TASK_START,))
    except ValueError as error:
        raise ValueError(
            f"cannot read the start {text!r}: {error}; write turns before the expert's end alone "
            "(4), or backward:2,4,8@100, adaptive:2,4,8@20 or mixed:2,4,8"
        ) from error


def start_at(schedule: HorizonSchedule, global_step: int, task_id: str | None = None) -> int | None:
    """Return the turns before the expert's end, or None for the task's own start.

    Mixed starts have one for a task alone, so without a task it is None.
    """
    if not isinstance(schedule, MixedStarts):
        turns = schedule(global_step)
    elif task_id is not None:
        turns = schedule(global_step, task_id)
    else:
        return None
    return None if turns >= TASK_START else turns


def _read(text: str, staged: str, name: str, further: tuple[int, ...] = ()) -> Turns:
    """Read a schedule, whose stages by step have the kind `staged`, with `further` last stages."""
    kind, _, numbers = (f"fixed:{text}" if text.isdecimal() else text).partition(":")
    stages, at, steps = numbers.partition("@")
    if kind == "fixed":
        return FixedHorizon(_whole(numbers))
    if kind not in (staged, "adaptive"):
        raise ValueError(f"{kind!r} is no kind of schedule")
    if not at:
        raise ValueError(f"the optimizer steps of a stage are missing, such as {text}@100")
    turns = check_stages(tuple(map(_whole, stages.split(","))), name) + further
    return (ScalingInter if kind == staged else AdaptiveHorizon)(turns, _whole(steps))


def _whole(word: str) -> int:
    if not (word.isascii() and word.isdecimal()):
        raise ValueError(f"{word!r} is no whole number")
    return int(word)
