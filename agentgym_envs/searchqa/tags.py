"""Reads and writes the tags of SearchQA: `<search>`, `<open>`, `<answer>` and `<python>`.

All reading takes time linear in the text, whatever a policy writes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agentgym_envs.actions import ActionVerb
from agentgym_envs.actions.markup import action_part, refuse_open_thought
from agentgym_envs.errors import InvalidAction


class Tag(NamedTuple):
    """One action.

    Attributes:
        name: which tool.
        content: what stands between the tags, as written.
    """

    name: str
    content: str

    def __str__(self) -> str:
        return f"<{self.name}>{self.content}</{self.name}>"


def forms(verbs: Sequence[ActionVerb]) -> str:
    """List how actions are written: `<search>query</search>, ...`."""
    return ", ".join(verb.template.replace("{", "").replace("}", "") for verb in verbs)


def find_tag(text: str, names: Sequence[str]) -> Tag | None:
    r"""Return the first complete tag of a text, or None.

    That is what the regular expression `<(search|answer)>(.*?)</\1>` finds, for the names given.
    """
    last_end = {name: text.rfind(f"</{name}>") for name in names}
    for opening in re.finditer(f"<({'|'.join(names)})>", text):
        name = opening[1]
        if last_end[name] >= opening.end():
            return Tag(name, text[opening.end() : text.index(f"</{name}>", opening.end())])
    return None


def read_tag(text: str, names: Sequence[str]) -> Tag | None:
    """Return the action that a text consists of, or None where it is no single action.

    A program may hold anything, closing tags in its strings included. An action in the tags of
    another, `<answer><search>...</search></answer>`, is the inner one.
    """
    text = text.strip()
    for name in names:
        start, end = f"<{name}>", f"</{name}>"
        if text.startswith(start) and text.endswith(end) and len(text) >= len(start) + len(end):
            content = text[len(start) : -len(end)]
            if name == "python":
                return Tag(name, content)
            return read_tag(content, names) or (None if end in content else Tag(name, content))
    return None


@dataclass(frozen=True)
class TagReactParser:
    """Thoughts, then one action in tags: SearchQA's own form of ReAct.

    Thoughts are any text, best inside `<think>...</think>`; the first complete action tag outside
    such a span counts, and nothing after it is read.

    Args:
        verbs: the actions, named as their tags.
    """

    verbs: Sequence[ActionVerb]

    @property
    def instructions(self) -> str:
        """The instructions of the format."""
        return (
            "First think, inside <think> and </think>. Then write one action and stop: the first "
            "action after your thoughts counts, nothing after it is read."
        )

    def parse(self, completion: str) -> str:
        """Return the first action tag outside the thoughts.

        Raises:
            InvalidAction: there is no such tag.
        """
        names = [verb.name for verb in self.verbs]
        turn = action_part(completion)
        tag = find_tag(turn, names)
        refuse_open_thought(turn if tag is None else turn[: turn.index(str(tag))])
        if tag is None:
            raise InvalidAction(
                "There is no action in your answer. After your thoughts, write one of "
                f"{forms(self.verbs)}."
            )
        return str(tag)

    def format(self, action: str, thought: str = "") -> str:
        """Return the thought in its tags and the action on the next line, or the action alone."""
        return f"<think>{thought}</think>\n{action}" if thought else action
