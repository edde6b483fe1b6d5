"""A summary by rule in place of earlier turns: the actions, without the observations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from agentgym_envs.actions import last_labelled, unwrap
from agentgym_envs.trajectories.trajectory import Trajectory, Turn
from trainers.history.views import History, View, condensed

MAX_CHARACTERS = 80
"""Characters of an action in a summary. Longer ones are truncated."""

_FENCED = re.compile(r"```(?:[\w+-]*\n)?(.+?)```", re.DOTALL)


@dataclass(frozen=True)
class Summary(History):
    """The task, the actions so far in short form, and the last observation in full.

    Attributes:
        keep_last_turns: last turns that stand behind the summary in full; None shows none.
    """

    keep_last_turns: int | None = None

    def view(self, episode: Trajectory) -> View:
        """Return the task and the summary, then the last turns."""
        first = max(0, len(episode.turns) - (self.keep_last_turns or 0))
        return condensed(episode, summarize_turns(episode.turns[:first]), first=first)


def summarize_turns(turns: Sequence[Turn]) -> str:
    """Return a numbered line for each run of equal actions, in order."""
    if not turns:
        return ""
    lines, number = [], 1
    for line, equal in groupby(turns, _short):
        count = len(list(equal))
        numbers = f"{number}" if count == 1 else f"{number}-{number + count - 1}"
        lines.append(f"{numbers}. {line}")
        number += count
    return "\n".join(["Your actions so far:", *lines, "", "What you see now:"])


def _short(turn: Turn) -> str:
    """Return an action as one line, without a thought before it or fences around it."""
    fenced = _FENCED.findall(turn.action)
    text = last_labelled(turn.action) or (fenced[-1] if fenced else unwrap(turn.action))
    action = " ".join(text.split())
    if len(action) > MAX_CHARACTERS:
        action = action[: MAX_CHARACTERS - 3] + "..."
    return action if turn.is_valid_action else f"{action} (not a valid action)"
