"""Checks that an expert's thoughts name only things that were shown or are in the goal."""

from __future__ import annotations

import re

from agentgym_envs.checking.probing import require
from agentgym_envs.core import TextEnv


class ShownText:
    """The words that an episode has shown so far, with the instruction text and the goal.

    Args:
        env: the environment, in an episode.
        observation: the first one.
    """

    def __init__(self, env: TextEnv, observation: str) -> None:
        self._env = env
        self._text = ""
        self._names: set[str] = set()
        for text in (env.system_prompt, env.goal, observation):
            self.add(text)

    def add(self, text: str) -> None:
        """Add the next text that was shown."""
        self._text += "\n" + _plain(text)
        self._names |= self._names_in(text)

    def check(self, thought: str) -> None:
        """Require that a thought names nothing else."""
        names = self._names_in(thought) - self._names
        unshown = [name for name in sorted(names) if not self._says(name)]
        require(
            not unshown,
            f"{self._env.task.task_id}: the expert's thought {thought!r:.300} must name only what "
            "the goal and the observations so far have shown",
            unshown,
        )

    def _says(self, name: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(_plain(name))}(?!\w)", self._text) is not None

    def _names_in(self, text: str) -> set[str]:
        matches = self._env.thing_names.finditer(text)
        return {" ".join(filter(None, match.groups())) or match.group() for match in matches}


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
