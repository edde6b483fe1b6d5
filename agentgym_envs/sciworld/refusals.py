"""Recognises the answers by which the simulator refuses an action.

The simulator's source reports success or failure and its interface does not, so the answers are
listed in `refusals.toml`: those that the source gives with a failure, with exceptions both ways.
Disconnecting is reported as a failure and is done; mixing what makes nothing new is done too.
Reported as a success and not done are: mixing fewer than two things, looking at what is hidden, a
lighter or an axe on what it does nothing to. To turn on a broken device counts as done, as in the
source: only trying shows that it is broken.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files


def is_refusal(text: str) -> bool:
    """Return whether the simulator answers that it refused the action."""
    return _pattern().fullmatch(text) is not None


@cache
def _pattern() -> re.Pattern[str]:
    """Compile the answers, where a thing's name has no line breaks."""
    listed = files("agentgym_envs.sciworld").joinpath("refusals.toml").read_text("utf-8")
    answers = [answer for group in tomllib.loads(listed).values() for answer in group]
    return re.compile("|".join(re.escape(answer).replace("<thing>", ".+") for answer in answers))
