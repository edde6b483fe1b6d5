"""Wrappers: vectorization, horizon curricula, recording and failure rules."""

from wrappers.adaptive_horizon import AdaptiveHorizon
from wrappers.failures import Attempts, FailureRules
from wrappers.horizon import HorizonCurriculum
from wrappers.record import RecordTrajectories, TrajectoryWriter
from wrappers.schedules import FixedHorizon, HorizonSchedule, ScalingInter, parse_schedule
from wrappers.slot_arguments import TextVector
from wrappers.vector import TextVectorEnv

__all__ = [
    "AdaptiveHorizon",
    "Attempts",
    "FailureRules",
    "FixedHorizon",
    "HorizonCurriculum",
    "HorizonSchedule",
    "RecordTrajectories",
    "ScalingInter",
    "TextVector",
    "TextVectorEnv",
    "TrajectoryWriter",
    "parse_schedule",
]
