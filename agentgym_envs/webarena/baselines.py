"""WebArena's baseline: a rule that reads no page."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove, TextEnv


def not_applicable(env: TextEnv) -> Iterator[ExpertMove]:
    """Say at once that the task cannot be done, whatever it is, for the commonest reason."""
    del env
    yield ExpertMove("stop [N/A - there is no such thing: none was found]")
