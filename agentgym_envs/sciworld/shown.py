"""Checks whether an episode's texts have shown the things that an action names.

The simulator's solutions have names of their own for some things: `egg parrot` for what a text
calls `parrot egg`, `butterfly` for its `butterfly egg`, `flower pot 5 containing soil in inventory`
for `flower pot 5 (containing soil)`. So a name counts as shown where one line of a text has all of
its words, in whatever order; the thing, what it contains and where it is are names of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agentgym_envs.sciworld.house import ROOMS
from agentgym_envs.sciworld.verbs import verb_of

_WORD = re.compile(r"[a-z0-9]+(?:[-'.][a-z0-9]+)*")
_SEPARATOR = re.compile(r"\b(?:in|into|on|to|with|containing|and)\b|,")
_PART = re.compile(r"\b(?:anode|cathode|terminal [12]|in the seed stage)\b")
"""What no list of things shows: the parts of electrical things, and how old a seed is."""

_PLACES = (*ROOMS, "inventory", "door")
"""What is the same in every task."""


class ShownNames:
    """The names that an episode's texts have shown.

    Args:
        texts: what the episode has shown so far, its goal included.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines: set[frozenset[str]] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take in another text."""
        self._lines |= {frozenset(_WORD.findall(line)) for line in text.lower().splitlines()}

    def missing(self, action: str) -> list[frozenset[str]]:
        """Return the names in an action that were not shown, each as its words."""
        return [name for name in _names(action) if name not in self]

    def __contains__(self, name: frozenset[str]) -> bool:
        """Return whether a name, given as its words, was shown."""
        return any(name <= line for line in self._lines)


def _names(action: str) -> Iterator[frozenset[str]]:
    """Yield the words of each thing that an action names, but for rooms and doors."""
    lowered = " ".join(action.lower().split())
    verb = verb_of(lowered)
    if verb is None:  # the number of a choice
        return
    beginning, hole, _ = verb.template.partition("{")
    things = lowered[len(beginning) :] if hole else ""
    for name in _SEPARATOR.split(_PART.sub("", things)):
        if name.strip() not in _PLACES:
            yield frozenset(_WORD.findall(name)) - {"the"}
