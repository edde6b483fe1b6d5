"""Wrappers: vectorization, horizon curricula, recording, rewards and failure rules."""

from wrappers.failures import FailureRules
from wrappers.horizon import HorizonCurriculum
from wrappers.record import RecordTrajectories, TrajectoryWriter
from wrappers.reward import SuccessReward
from wrappers.schedules import (
    AdaptiveHorizon,
    FixedHorizon,
    HorizonSchedule,
    ScalingInter,
    parse_schedule,
    parse_start,
)
from wrappers.vector.env import TextVectorEnv

__all__ = [
    "AdaptiveHorizon",
    "FailureRules",
    "FixedHorizon",
    "HorizonCurriculum",
    "HorizonSchedule",
    "RecordTrajectories",
    "ScalingInter",
    "SuccessReward",
    "TextVectorEnv",
    "TrajectoryWriter",
    "parse_schedule",
    "parse_start",
]
