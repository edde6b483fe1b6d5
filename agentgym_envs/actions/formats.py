"""Reads the plain action out of a policy's completion in one of four formats, and writes it.

An environment lists its verbs; the formats that name a verb and its arguments (`function_call`,
`code`) build the plain action from the verb's template.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from agentgym_envs.actions.calls import read_call
from agentgym_envs.actions.verbs import ActionVerb, shown
from agentgym_envs.actions.wrapping import clean_action, last_labelled, undress
from agentgym_envs.errors import InvalidAction

ActionFormat = Literal["plain", "react", "function_call", "code"]
ACTION_FORMATS: tuple[str, ...] = get_args(ActionFormat)

MAX_CODE = 50_000
"""Characters of Python that are read; the time it takes holds up every thread."""

_BLOCK = re.compile(
    r"(?P<fence>```|~~~)(?:python3?|py|tool_code)?[ \t\r]*\n(?P<inner>.*?)(?:(?P=fence)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_PARSING = threading.Lock()  # `catch_warnings` swaps global state


def strip_thinking(completion: str) -> str:
    """Return what an environment reads of a completion: what follows its last `</think>`.

    The rule is the same for every policy and every chat template, some of which open the thought
    themselves.
    """
    _, closing, answer = completion.rpartition("</think>")
    return answer.lstrip("\n") if closing else completion


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
        """Write a plain action in this format; formats without thoughts leave `thought` out."""


@dataclass(frozen=True)
class PlainParser:
    """The whole string is the action."""

    verbs: Sequence[ActionVerb] = ()
    instructions: str = "Answer with one action and nothing else."

    def parse(self, completion: str) -> str:
        """Return the completion without what stands around the action."""
        return clean_action(completion, self.verbs)

    def format(self, action: str, thought: str = "") -> str:
        """Return the action itself."""
        return action


@dataclass(frozen=True)
class ReactParser:
    """`Thought: ...` then `Action: ...` (ReAct, arXiv 2210.03629); the last `Action:` counts."""

    verbs: Sequence[ActionVerb] = ()
    instructions: str = (
        "Answer in two parts: first 'Thought:' with your reasoning, then, on a new line, "
        "'Action:' followed by one action."
    )

    def parse(self, completion: str) -> str:
        """Return what follows the last `Action:`; see `last_labelled`."""
        action = last_labelled(completion, self.verbs)
        if action is None:
            raise InvalidAction("There is no 'Action:' in your answer. " + self.instructions)
        if not action:
            raise InvalidAction("Nothing follows 'Action:'. " + self.instructions)
        return clean_action(action, self.verbs)

    def format(self, action: str, thought: str = "") -> str:
        """Return both parts; an empty thought leaves its line short."""
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
        name, arguments = read_call(completion)
        return _verb_named(self.verbs, name).build(arguments)

    def format(self, action: str, thought: str = "") -> str:
        """Write the call as JSON."""
        verb, arguments = _verb_of(self.verbs, action)
        return json.dumps({"name": verb.name, "arguments": arguments}, ensure_ascii=False)


@dataclass(frozen=True)
class CodeParser:
    """One fenced Python block with one call of a verb; read by `ast`, never executed."""

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
        blocks = [textwrap.dedent(block["inner"]) for block in _BLOCK.finditer(completion)]
        if len(blocks) > 1:
            raise InvalidAction(
                f"Your answer holds {len(blocks)} fenced blocks; write one, leave out the others."
            )
        call = _single_call(blocks[0] if blocks else undress(undress(completion).rstrip(".! ")))
        assert isinstance(call.func, ast.Name)
        verb = _verb_named(self.verbs, call.func.id)
        if len(call.args) > len(verb.parameters) or any(k.arg is None for k in call.keywords):
            raise InvalidAction(f"{verb.name} takes {verb.signature}.")
        arguments = dict(zip(verb.parameters, map(_literal, call.args), strict=False))
        for keyword in call.keywords:
            if keyword.arg in arguments:
                raise InvalidAction(f"{verb.name} got {shown(keyword.arg)} twice.")
            arguments[str(keyword.arg)] = _literal(keyword.value)
        return verb.build(arguments)

    def format(self, action: str, thought: str = "") -> str:
        """Write the call in a fenced block; a thought becomes a comment above it."""
        verb, arguments = _verb_of(self.verbs, action)
        comment = "".join(f"# {line}\n" for line in thought.splitlines())
        return f"```python\n{comment}{verb.call(arguments)}\n```"


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


def _verb_named(verbs: Sequence[ActionVerb], name: Any) -> ActionVerb:
    for verb in verbs:
        if verb.name == name:
            return verb
    names = ", ".join(verb.name for verb in verbs)
    raise InvalidAction(f"There is no function {shown(name)}; the functions are {names}.")


def _verb_of(verbs: Sequence[ActionVerb], action: str) -> tuple[ActionVerb, dict[str, Any]]:
    for verb in verbs:
        arguments = verb.match(action)
        if arguments is not None:
            return verb, arguments
    raise ValueError(f"no verb builds the action {action!r}; verbs: {[v.name for v in verbs]}")


def read_python(code: str) -> list[ast.stmt]:
    """Return the statements of a policy's Python code, which is read, never executed.

    Raises:
        InvalidAction: it is not valid Python, or too long.
    """
    if len(code) > MAX_CODE:
        raise InvalidAction(f"The block has {len(code)} characters; at most {MAX_CODE} are read.")
    try:
        with _PARSING, warnings.catch_warnings():
            # A policy's "\d" is no concern of the program's warning filters.
            warnings.simplefilter("ignore")
            return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidAction("The block is not valid Python.") from None


def _single_call(code: str) -> ast.Call:
    body = read_python(code)
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        call = body[0].value
        if isinstance(call, ast.List) and len(call.elts) == 1:  # Llama's `[look()]`
            call = call.elts[0]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            return call
    raise InvalidAction(
        "Your answer must hold one call of one function in a fenced Python block (```python ... "
        "```), and the block nothing else."
    )


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise InvalidAction("Arguments must be literals: a string, a number or a list.") from None
