"""What the texts of the warm start are made of."""

from __future__ import annotations

from typing import NamedTuple

GOAL_SHARE = 0.4  # of the plays: those that pursue the given goal


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
