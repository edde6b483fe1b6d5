"""Wrappers: vectorization, horizon curricula, records, rewards, distractors, failure rules."""

from wrappers.distractors import Distractors
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
    "Distractors",
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
