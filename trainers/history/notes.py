"""Notes that the policy writes itself, in place of earlier turns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentgym_envs.actions import strip_thinking
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.history.views import History, View, condensed

MAX_NOTES = 20
"""Maximum number of carried notes, the latest."""

INSTRUCTION = (
    "Earlier turns are not shown to you again. Write a line `Memory: <fact>` beside your action to "
    "keep a fact: it is shown to you in every later turn, and is no part of the action."
)
_NOTE = re.compile(r"^[ \t]*Memory:[ \t]*(.*?)[ \t]*$\n?", re.MULTILINE)


@dataclass(frozen=True)
class Notes(History):
    """The task, the notes so far, and the last turns.

    A line of a completion that begins with `Memory:` is a note. Environments do not read it, in no
    action format. An equal note is kept once, where it was written last.

    Attributes:
        keep_last_turns: last turns that stand behind the notes in full; None shows one.
    """

    keep_last_turns: int | None = None

    def view(self, episode: Trajectory) -> View:
        """Return the task and the notes of the turns left out, then the last turns."""
        keep = 1 if self.keep_last_turns is None else self.keep_last_turns
        first = max(0, len(episode.turns) - keep)
        written = [
            note
            for turn in episode.turns[:first]
            for note in _NOTE.findall(strip_thinking(turn.completion))
            if note
        ]
        notes = list(dict.fromkeys(reversed(written)))[:MAX_NOTES][::-1]
        text = "\n".join(["Your notes:", *(f"- {note}" for note in notes)]) if notes else ""
        return condensed(episode, text, first=first)

    def instruction(self, system_prompt: str) -> str:
        """Add how notes are written."""
        if system_prompt.endswith(INSTRUCTION):
            return system_prompt
        return f"{system_prompt}\n\n{INSTRUCTION}" if system_prompt else INSTRUCTION

    def action(self, completion: str) -> str:
        """Return the completion without its notes, or all of one that holds nothing else."""
        answer = strip_thinking(completion)
        if not _NOTE.search(answer):
            return answer
        return _NOTE.sub("", answer).strip() or answer
