"""Reads the plain action out of a policy's completion in one of four formats, and writes it.

An environment lists its verbs; the formats that name a verb and its arguments (`function_call`,
`code`) build the plain action from the verb's template.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from agentgym_envs.actions.calls import read_call, read_calls
from agentgym_envs.actions.literals import (
    Call,
    is_program,
    is_straight,
    python_call,
    run_calls,
    short_name,
)
from agentgym_envs.actions.markup import action_part, refuse_open_thought, result_start
from agentgym_envs.actions.verbs import ActionVerb, shown
from agentgym_envs.actions.wrapping import (
    clean_action,
    dressed_parts,
    find_action,
    is_action,
    is_bare,
    last_labelled,
    listed_actions,
    read_action,
)
from agentgym_envs.errors import InvalidAction

ActionFormat = Literal["plain", "react", "function_call", "code"]
ACTION_FORMATS: tuple[str, ...] = get_args(ActionFormat)
CALL_FORMATS = ("function_call", "code")
"""The action formats that name a function and its arguments."""

_WIDEST_BLOCK = re.compile(r"^```\w*\n(.*)\n```\s*\Z", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(
    r"(?P<fence>```|~~~)(?:(?:python3?|py|tool_code)(?:[ \t\r]+|\n)|[ \t\r]*\n)"
    r"(?P<inner>.*?)(?:(?P=fence)|\Z)",
    re.DOTALL | re.IGNORECASE,
)


class ActionParser(Protocol):
    """Reads one action out of a completion, and writes one for experts."""

    @property
    def instructions(self) -> str:
        """The rules of the format, for the system prompt."""

    def parse(self, completion: str) -> str:
        """Return the plain action.

        Raises:
            InvalidAction: there is none; the message tells the policy what is wrong.
        """

    def format(self, action: str, thought: str = "") -> str:
        """Write a plain action in this format, with the thought where the format has one."""


@dataclass(frozen=True)
class PlainParser:
    """The whole string is the action."""

    verbs: Sequence[ActionVerb] = ()
    instructions: str = "Answer with one action and nothing else."

    def parse(self, completion: str) -> str:
        """Return the completion without the text around the action."""
        if is_bare(completion.strip(), self.verbs):
            return completion.strip()
        turn = action_part(completion)
        action = read_action(turn, self.verbs)
        refuse_open_thought(turn, free_texts(action, self.verbs))
        return action

    def format(self, action: str, thought: str = "") -> str:
        """Return the action itself."""
        return action


@dataclass(frozen=True)
class ReactParser:
    """`Thought: ...` then `Action: ...` (ReAct, arXiv 2210.03629)."""

    verbs: Sequence[ActionVerb] = ()
    instructions: str = (
        "Answer in two parts: first 'Thought:' with your reasoning, then, on a new line, "
        "'Action:' followed by one action."
    )

    def parse(self, completion: str) -> str:
        """Return the text behind the last `Action:`, as `last_labelled` reads it.

        Without one, an action that is the whole answer, a line of its own or marked in another way
        counts, as `find_action` reads it.

        Raises:
            InvalidAction: there is no action, or nothing follows `Action:`.
        """
        turn = action_part(completion)
        action = last_labelled(turn, self.verbs)
        if action is None:
            action = self._unlabelled(turn[: result_start(turn)] or turn)
        if action:
            action = clean_action(action, self.verbs)
        refuse_open_thought(turn, free_texts(action or "", self.verbs))
        if action is None:
            raise InvalidAction("There is no 'Action:' in your answer. " + self.instructions)
        if not action:
            raise InvalidAction("Nothing follows 'Action:'. " + self.instructions)
        return action

    def _unlabelled(self, text: str) -> str | None:
        """Return the action of a text without `Action:`, where the verbs tell it from a thought."""
        verbs = [verb for verb in self.verbs if verb.is_distinct]
        action = find_action(text, lambda part: is_action(part, verbs))
        if action is None and len(verbs) < len(self.verbs):
            return next(dressed_parts(text), None)
        return action

    def format(self, action: str, thought: str = "") -> str:
        """Return the thought and the action behind their labels."""
        return f"Thought: {thought}\nAction: {action}"


@dataclass(frozen=True)
class FunctionCallParser:
    """One JSON object `{"name": ..., "arguments": {...}}`, or another form of `calls`."""

    verbs: Sequence[ActionVerb]
    instructions: str = field(init=False)

    def __post_init__(self) -> None:
        lines = [f"- {verb.signature}: {verb.description}" for verb in self.verbs]
        object.__setattr__(
            self,
            "instructions",
            'Answer with one JSON object {"name": <function>, "arguments": {<name>: <value>}} '
            "and nothing else. The functions:\n" + "\n".join(lines),
        )

    def parse(self, completion: str) -> str:
        """Read the call and fill the verb's template."""
        turn = action_part(completion)
        call = read_call(turn, [verb.name for verb in self.verbs])
        refuse_open_thought(turn, _texts(call))
        return _built(self.verbs, call)

    def format(self, action: str, thought: str = "") -> str:
        """Write the call as JSON."""
        verb, arguments = _verb_of(self.verbs, action)
        return json.dumps({"name": verb.name, "arguments": arguments}, ensure_ascii=False)


@dataclass(frozen=True)
class CodeParser:
    """One fenced Python block with one call of a verb, which is never executed."""

    verbs: Sequence[ActionVerb]
    instructions: str = field(init=False)

    def __post_init__(self) -> None:
        lines = [f"- {verb.signature}: {verb.description}" for verb in self.verbs]
        object.__setattr__(
            self,
            "instructions",
            "Answer with one fenced Python block (```python ... ```) that holds one call of one of "
            "these functions, with literal arguments:\n" + "\n".join(lines),
        )

    def parse(self, completion: str) -> str:
        """Read the call and fill the verb's template."""
        turn = action_part(completion)
        block, is_fenced = _code(turn)
        calls: dict[str, Call] = {}
        names = [verb.name for verb in self.verbs]

        def is_call(part: str) -> bool:
            try:
                calls[part] = python_call(part, names)
            except InvalidAction:
                return False
            return True

        # A program in a block has no dress: a call in its comments is none.
        code = block if is_fenced and is_program(block) else find_action(block, is_call)
        call = calls[code] if code in calls else python_call(block, names)
        refuse_open_thought(turn, _texts(call))
        return _built(self.verbs, call)

    def format(self, action: str, thought: str = "") -> str:
        """Write the call in a fenced block, below the thought as a comment."""
        verb, arguments = _verb_of(self.verbs, action)
        comment = "".join(f"# {line}\n" for line in thought.splitlines())
        return f"```python\n{comment}{verb.call(arguments)}\n```"


def parse_several(parser: ActionParser, completion: str, verbs: Sequence[ActionVerb]) -> list[str]:
    """Return the plain actions of a completion that may hold several, in their order.

    These are several calls, or the parts of a list as `listed_actions` reads it. Everything else is
    one action, read by the parser.

    Raises:
        InvalidAction: there is none.
    """
    turn, names = action_part(completion), [verb.name for verb in verbs]
    calls: list[Call] = []
    if isinstance(parser, FunctionCallParser):
        calls = read_calls(turn, names)
    elif isinstance(parser, CodeParser):
        with suppress(InvalidAction):  # of a call in prose, which the parser reads
            code = _code(turn)[0]
            calls = run_calls(code, names) if is_straight(code) else []
    else:
        actions = listed_actions(turn, verbs)
        if not actions:
            return [parser.parse(completion)]
        refuse_open_thought(turn, [text for each in actions for text in free_texts(each, verbs)])
        return actions
    if len(calls) < 2:
        return [parser.parse(completion)]
    refuse_open_thought(turn, [text for call in calls for text in _texts(call)])
    return [_built(verbs, call) for call in calls]


def make_parser(action_format: str, verbs: Sequence[ActionVerb]) -> ActionParser:
    """Build the parser of a format.

    Args:
        action_format: one of `ACTION_FORMATS`.
        verbs: the environment's verbs.

    Raises:
        ValueError: there is no such format.
    """
    if action_format == "plain":
        return PlainParser(tuple(verbs))
    if action_format == "react":
        return ReactParser(tuple(verbs))
    if action_format == "function_call":
        return FunctionCallParser(tuple(verbs))
    if action_format == "code":
        return CodeParser(tuple(verbs))
    raise ValueError(
        f"unknown action_format {action_format!r}; allowed: {', '.join(ACTION_FORMATS)}"
    )


def free_texts(action: str, verbs: Sequence[ActionVerb]) -> list[str]:
    """Return the arguments of a plain action that hold words of the policy's own."""
    for verb in verbs:
        arguments = verb.match(action) if verb.free_text else None
        if arguments is not None:
            return [str(arguments[name]) for name in verb.free_text]
    return []


def _code(turn: str) -> tuple[str, bool]:
    """Return the only fenced block of a turn, or the whole, and whether it is a block.

    Raises:
        InvalidAction: there are several blocks.
    """
    text = turn[: result_start(turn)] or turn
    texts = [textwrap.dedent(block["inner"]).strip() for block in _BLOCK.finditer(text)]
    widest = _WIDEST_BLOCK.search(text)
    if widest and "```" in widest[1] and is_program(widest[1]):  # fences in its strings
        texts = [widest[1]]
    blocks = list(dict.fromkeys(texts)) or [text]
    if len(blocks) > 1:
        raise InvalidAction(
            f"Your answer holds {len(blocks)} fenced blocks; write one, leave out the others."
        )
    return blocks[0], bool(texts)


def _texts(call: Call) -> list[str]:
    values = (*call.arguments.values(), *call.positional)
    return [value for value in values if isinstance(value, str)]


def _built(verbs: Sequence[ActionVerb], call: Call) -> str:
    """Return the plain action of a call."""
    plain = str(call.name).strip()
    if not (call.arguments or call.positional) and is_action(plain, verbs):
        return plain  # {"action": "get 3 glass"}
    verb = _verb_named(verbs, call.name)
    if len(call.positional) > len(verb.parameters):
        raise InvalidAction(f"{verb.name} takes {verb.signature}.")
    arguments = dict(zip(verb.parameters, call.positional, strict=False))
    twice = [name for name in call.arguments if name in arguments]
    if twice:
        raise InvalidAction(f"{verb.name} got {shown(twice[0])} twice.")
    return verb.build({**arguments, **call.arguments})


def _verb_named(verbs: Sequence[ActionVerb], name: Any) -> ActionVerb:
    for own in (str, short_name):
        for verb in verbs:
            if isinstance(name, str) and verb.name == own(name):
                return verb
    names = ", ".join(verb.name for verb in verbs)
    raise InvalidAction(f"There is no function {shown(name)}; the functions are {names}.")


def _verb_of(verbs: Sequence[ActionVerb], action: str) -> tuple[ActionVerb, dict[str, Any]]:
    for verb in verbs:
        arguments = verb.match(action)
        if arguments is not None:
            return verb, arguments
    raise ValueError(f"no verb builds the action {action!r}; verbs: {[v.name for v in verbs]}")
