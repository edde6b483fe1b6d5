"""Defines what an environment may raise; everything else is an observation."""

from __future__ import annotations


class EnvFailure(RuntimeError):
    """The machinery of an environment broke: a simulator died, a browser hung, a worker was lost.

    It says nothing about the policy, so it is never turned into a reward. Whoever runs episodes
    plays the task again or marks the trajectory as failed (`wrappers.failures`).
    """


class InvalidAction(ValueError):
    """A completion that holds no action; its message is written for the policy to read."""


class UnknownTask(ValueError):
    """There is no such task, subtask or split; the message says which there are."""


class NoExpert(NotImplementedError):
    """The environment, or the task at hand, has no expert; the message says what has one."""
