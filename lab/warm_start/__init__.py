"""Trains the shipped start of the `tiny` policy from nothing: `python -m lab.warm_start`.

Next-token training on play: the player knows how things are done in the games, and heeds the goal
that it is shown in two plays of five. So does the policy that comes out, and reinforcement learning
has something to teach it. `textcraft_play` and `babyai_play` write the texts, `training` learns
them. With `--continue`, `continuing` goes on from the shipped policy with play in one scenario. The
validation and test splits are never read.
"""

from __future__ import annotations

from typing import NamedTuple

GOAL_SHARE = 0.4
"""Share of the plays that pursue the given goal."""


class Message(NamedTuple):
    """One chat message.

    Attributes:
        role: `"system"`, `"user"` or `"assistant"`.
        content: its text.
        weight: of its tokens in the loss, the end token's included; 0 where it is only read.
    """

    role: str
    content: str
    weight: float = 0.0
