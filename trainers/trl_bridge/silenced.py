"""Warnings of TRL's that are not shown, each with its reason."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from trl.trainer import grpo_trainer


@contextmanager
def no_experimental_warning() -> Iterator[None]:
    """TRL calls `rollout_func` experimental; the version is pinned and the hook under test."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
        yield


@contextmanager
def no_missing_reward_warning() -> Iterator[None]:
    """`trainers.runs.health` says once that episodes have no reward, and why."""
    logger = logging.getLogger(grpo_trainer.__name__)

    def is_other(record: logging.LogRecord) -> bool:
        return "All reward functions returned None" not in record.getMessage()

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)
