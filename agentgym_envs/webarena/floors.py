"""Plays WebArena by a rule that reads no page: what an agent must surpass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentgym_envs.core import ExpertMove

if TYPE_CHECKING:
    from agentgym_envs.webarena.env import WebArenaEnv


def not_applicable(env: WebArenaEnv) -> Iterator[ExpertMove]:
    """Say at once that the task cannot be done, whatever it is, for the commonest reason."""
    del env
    yield ExpertMove("stop [N/A - there is no such thing: none was found]")
