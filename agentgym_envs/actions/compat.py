"""Reads completions as AgentGym's own servers and clients do, for `compat="agentgym"`.

Follows AgentGym 3ef9235d. What a scenario answers under `compat` is in the scenario's own `compat`
module, and so are readers that one scenario alone has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentgym_envs.actions.formats import PlainParser, ReactParser
from agentgym_envs.errors import InvalidAction

_ACTION = re.compile(r"Action:\s*(.*?)(?=\n|$)", re.DOTALL)
_STRIPPED = re.compile(r"[^A-Za-z0-9, ]+")


class WholeTextParser(PlainParser):
    """The servers' way: the completion as it is, white space at its ends included."""

    def parse(self, completion: str) -> str:
        """Return the completion."""
        return completion


class StrippedTextParser(PlainParser):
    """The completion without white space at its ends."""

    def parse(self, completion: str) -> str:
        """Return the stripped completion."""
        return completion.strip()


class OnlyActionParser(ReactParser):
    """The way of BabyAI's and TextCraft's clients: one `Action:`, cleaned up."""

    def parse(self, completion: str) -> str:
        """Return the only action, stripped of all but letters, digits, commas and spaces.

        It is empty where there is none.

        Raises:
            InvalidAction: there are several.
        """
        actions = _ACTION.findall(completion)
        if len(actions) > 1:
            raise InvalidAction(
                "Error: Only one 'Action' is allowed per response. Please adjust your response."
            )
        return " ".join(_STRIPPED.sub("", actions[0] if actions else "").split())


class RestParser(ReactParser):
    """The way of SciWorld's client: all that follows the last `Action:`, over several lines too."""

    def parse(self, completion: str) -> str:
        """Return the action, or an empty action where there is none."""
        _, marker, rest = completion.rpartition("Action:")
        return rest.strip() if marker else ""


class BareActionParser(RestParser):
    """The way of WebShop's client: without `Action:` a completion with an action in it is one."""

    def parse(self, completion: str) -> str:
        """Return the action, or an empty action where there is none."""
        is_bare = "search[" in completion or "click[" in completion
        if is_bare and "Action:" not in completion:
            return completion.strip()
        return super().parse(completion)


class FirstActionParser(ReactParser):
    """The way of LMRL-Gym's clients: the text between the first `Action:` and the next."""

    def parse(self, completion: str) -> str:
        """Return the action, which is the whole completion where there is no marker."""
        before, *actions = completion.removesuffix("</s>").split("Action:")
        return (actions or [before])[0].strip()


@dataclass(frozen=True)
class FencedParser(ReactParser):
    """SQLGym's client: the content of the last block that is marked as SQL."""

    instructions: str = (
        "Answer in two parts: first 'Thought:' with your reasoning, then 'Action:' followed by the "
        "statement in a block that begins with ```sql and ends with ```."
    )

    def parse(self, completion: str) -> str:
        """Return the statement, which is the whole completion where there is no block."""
        return completion.split("```sql")[-1].split("```")[0].strip()

    def format(self, action: str, thought: str = "") -> str:
        """Write the statement into a block."""
        return f"Thought: {thought}\n\nAction: ```sql\n{action}\n```"
