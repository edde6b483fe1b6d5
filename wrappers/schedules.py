"""Turn horizons by optimizer step: ScalingInter (arXiv 2509.08755), and a fixed one.

They are pure, so a resumed run needs no state; the one that watches success is in
`wrappers.adaptive_horizon`. Knows turns and steps; no environment, no trainer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from wrappers.adaptive_horizon import AdaptiveHorizon, check_stages


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

    def __call__(self, global_step: int) -> int:
        """Return `horizon`."""
        return self.horizon


@dataclass(frozen=True)
class ScalingInter:
    """Horizons in stages of equal length; the last one holds for ever after.

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

    def __call__(self, global_step: int) -> int:
        """Return the horizon of the stage that holds `global_step`."""
        return self.horizons[min(global_step // self.every, len(self.horizons) - 1)]


def parse_schedule(text: str) -> FixedHorizon | ScalingInter | AdaptiveHorizon:
    """Read a schedule from the command line.

    Args:
        text: `"fixed:20"`; `"scaling:6,13,20@100"` for three stages of 100 steps; or
            `"adaptive:6,13,20@20"` for three stages, each until success has levelled off over
            windows of 20 steps.

    Raises:
        ValueError: the text has another form, or its numbers are not allowed.
    """
    kind, _, numbers = text.partition(":")
    stages, _, steps = numbers.partition("@")
    try:
        if kind == "fixed":
            return FixedHorizon(int(numbers))
        if kind not in ("scaling", "adaptive"):
            raise ValueError(f"unknown kind {kind!r}")
        horizons = tuple(int(stage) for stage in stages.split(","))
        if kind == "scaling":
            return ScalingInter(horizons, int(steps))
        return AdaptiveHorizon(horizons, int(steps))
    except ValueError as error:
        raise ValueError(
            f"cannot read the horizon schedule {text!r} ({error}); "
            "expected 'fixed:20' or 'scaling:6,13,20@100' or 'adaptive:6,13,20@20'"
        ) from error
