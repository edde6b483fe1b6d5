"""AgentGym's own SciWorld, for `compat="agentgym"`: its readers of completions, rewards and flags.

Follows AgentGym 3ef9235d. Its server answers a reset with the task and the room apart, and its
client puts them together: the plain format shows the server's room, `react` what the client shows.
Rewards are in points, 0 to 100, and take back all and 100 more at a wrong focus.
"""

from __future__ import annotations

from agentgym_envs.actions import ActionParser, PlainParser, ReactParser

DEFAULT_MAX_TURNS = 100
"""The official wrapper's limit of moves."""


class OriginalPlainParser(PlainParser):
    """The original server's way: the completion as it is."""

    def parse(self, completion: str) -> str:
        """Return the completion."""
        return completion


class OriginalReactParser(ReactParser):
    """The original client's way: all that follows the last `Action:`, over several lines too."""

    def parse(self, completion: str) -> str:
        """Return the action; the empty action where there is none."""
        _, marker, rest = completion.rpartition("Action:")
        return rest.strip() if marker else ""


ORIGINAL_PARSERS: dict[str, ActionParser] = {
    "plain": OriginalPlainParser(),
    "react": OriginalReactParser(),
}
"""Readers of the two formats of the original that we read alike; the others are ours."""
