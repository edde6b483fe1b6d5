"""WebArena's form of ReAct: reasoning, then one action between triple backticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentgym_envs.actions import ActionVerb, clean_action, last_labelled, unwrap
from agentgym_envs.actions.formats import free_texts
from agentgym_envs.actions.markup import action_part, refuse_open_thought, result_start
from agentgym_envs.actions.wrapping import find_action as find_marked
from agentgym_envs.browsing.actions import parse_action
from agentgym_envs.errors import InvalidAction

FENCE = "```"
_EXAMPLE = "```click [12]```"


@dataclass(frozen=True)
class BacktickParser:
    """Reads the first pair of triple backticks, as WebArena does.

    Where there is none it reads an `Action:` line, or an action of `verbs` that is the whole answer
    or marked in another way.
    Without `verbs`, as WebArena itself, it reads backticks alone.
    """

    verbs: Sequence[ActionVerb] = ()
    instructions: str = (
        "First reason about what the page shows and what to do next. Then write one action between "
        f"triple backticks, such as {_EXAMPLE}, and stop: the first pair of backticks counts."
    )

    def parse(self, completion: str) -> str:
        """Return the text between the backticks.

        Raises:
            InvalidAction: there is no action.
        """
        if not self.verbs:
            action = find_action(completion)
        else:
            turn = action_part(completion)
            action = self._find(turn[: result_start(turn)] or turn)
            refuse_open_thought(turn, free_texts(action or "", self.verbs))
        if action is None:
            raise InvalidAction(
                "There is no action in your answer. Write it between triple backticks, such as "
                f"{_EXAMPLE}."
            )
        return action

    def _find(self, text: str) -> str | None:
        """Return the action of a text, by its backticks, its label or another mark."""
        if self._is_action(text.strip()):  # backticks in what it types are text
            return text.strip()
        action = find_action(text)
        if action is None:
            action = last_labelled(text, self.verbs)
            if action is None:
                action = find_marked(text, self._is_action)
            return clean_action(action, self.verbs) if action else None
        # A block may name a language in its first line, and hold the thought as well.
        action = clean_action(unwrap(f"{FENCE}{action}{FENCE}"), self.verbs)
        if not self._is_action(action):
            action = clean_action(last_labelled(action, self.verbs) or action, self.verbs)
        return action

    def _is_action(self, text: str) -> bool:
        try:
            parse_action(text, kinds=[verb.name for verb in self.verbs])
        except InvalidAction:
            return False
        return True

    def format(self, action: str, thought: str = "") -> str:
        """Return the thought and the action behind it, or the action alone."""
        fenced = f"{FENCE}{action}{FENCE}"
        return f"{thought} {fenced}" if thought else fenced


def find_action(text: str) -> str | None:
    """Return the stripped content of the first pair of triple backticks, or None."""
    start = text.find(FENCE)
    end = text.find(FENCE, start + len(FENCE)) if start >= 0 else -1
    return text[start + len(FENCE) : end].strip() if end >= 0 else None
