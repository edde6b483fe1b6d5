"""The markup of language models around thoughts, turns and calls, by `markup.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym_envs.actions.quoting import MOST_TOKENS, in_quotes, is_quoted, unquoted
from agentgym_envs.errors import InvalidAction

_TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("markup.toml").read_text("utf-8"))

CUT_THOUGHT = "<think>"
"""The text that an environment reads in place of a completion whose thought did not end."""

NO_END = (
    "Your thought did not end: there is no </think>, so no action was played. Either the answer "
    "was cut off at its greatest length or the thought was left open. Think in fewer words, end "
    "the thought, and write the action behind it."
)

TOKEN = r"<[|｜][^<>|｜\s]{1,40}[|｜]>"
"""A special token of a model."""
_SPECIAL = rf"{TOKEN}|<s>|<bos>|\[/?INST\]"
_ASIDES = "|".join(_TABLE["asides"])
_ATTRIBUTES = r"(?:\s[^<>]{0,100})?"
_THOUGHT_OPENING = "|".join(
    [
        rf"<[|｜]?{_TABLE['thought_name']}{_ATTRIBUTES}[|｜]?>",
        *(re.escape(opening) for opening, _ in _TABLE["thoughts"]),
    ]
)
_THOUGHT_END = "|".join(
    [
        rf"<[|｜]?/{_TABLE['thought_name']}\s?[|｜]?>",
        *(re.escape(end) for _, end in _TABLE["thoughts"]),
    ]
)
_THOUGHT_TAG = re.compile(f"{_THOUGHT_OPENING}|{_THOUGHT_END}", re.IGNORECASE)
_OTHER_ENDS = frozenset(end.lower() for _, end in _TABLE["thoughts"])
_BRACKET_TOKEN = re.compile(r"\[(?:/?think|/?inst|e~|\||tool|/action)", re.IGNORECASE)
_ASIDE_TAG = re.compile(rf"<(/?)({_ASIDES}){_ATTRIBUTES}>", re.IGNORECASE)
_OPENING = re.compile(rf"{_THOUGHT_OPENING}|<(?:{_ASIDES}){_ATTRIBUTES}>", re.IGNORECASE)
_LINE_OPENING = re.compile(
    rf"^(?:{_SPECIAL}|assistant|thought:|[ \t])*(?:{_THOUGHT_OPENING})",
    re.IGNORECASE | re.MULTILINE,
)
_BEHIND_TAG = re.compile(r"<\w{1,40}>\s*\Z")
TURN_ENDS: Sequence[str] = tuple(_TABLE["turn_ends"])
HEADER = re.compile(
    rf"\s*(?:(?:(?:{_SPECIAL})(?:assistant|final)?|<start_of_turn>|model[ \t]*\n"
    r"|(?:### ?)?(?:assistant|response)[ \t]*[:\n])\s*)*",
    re.IGNORECASE,
)
"""A template's header of a turn."""

_ACTION_END = re.compile(r"\s*(?:</action>|\[/action\])\s*\Z", re.IGNORECASE)
# Tokens that are HTML too end a turn at a line's end alone.
_TURN_END = re.compile(
    "|".join(
        re.escape(end) + {"</s>": r"(?=\s*(?:$|\n|<))", "<|end|>": r"(?!<\|start\|>)"}.get(end, "")
        for end in TURN_ENDS
    )
)
_LINE_RESULT = re.compile(
    r"^[*_#> \t\[]{0,20}(?:observations?|obs|environment|tool[ _]?(?:response|result|output)|user|"
    r"human|system)(?: ?\d{1,3})?[\]*_ \t]{0,20}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_RESULT = re.compile("|".join(map(re.escape, _TABLE["results"])), re.IGNORECASE)


@dataclass(frozen=True)
class CallMarkup:
    """The markup in which a family of models writes a function call.

    Attributes:
        family: the models, for people.
        opening: matches up to where the arguments begin; its group `name` is the function's.
        arguments: how they are written: `"json"`, `"parameters"`, `"braces"` or `"python"`.
        end: what ends the call, or nothing where the arguments end it.
        parameter, parameter_end: what stands around the value of one argument.
        quotes: what stands on both sides of a text within braces.
    """

    family: str
    opening: re.Pattern[str]
    arguments: str
    end: str = ""
    parameter: str = ""
    parameter_end: str = ""
    quotes: tuple[str, ...] = ()

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> CallMarkup:
        """Read a row of the table."""
        return cls(
            **{
                **row,
                "opening": re.compile(row["opening"]),
                "quotes": tuple(row.get("quotes", ())),
            }
        )


CALLS: Sequence[CallMarkup] = tuple(map(CallMarkup.from_row, _TABLE["calls"]))
NAME_KEYS: Sequence[str] = tuple(_TABLE["keys"]["name"])
ARGUMENT_KEYS: Sequence[str] = tuple(_TABLE["keys"]["arguments"])
LABELS: frozenset[str] = frozenset(_TABLE["keys"]["labels"])
WORDS: dict[str, Any] = _TABLE["words"]


def _has_markup(text: str) -> bool:
    """Return whether a text may hold tags or tokens."""
    return "<" in text or "◁" in text or _BRACKET_TOKEN.search(text) is not None


def strip_thinking(completion: str) -> str:
    """Return the part of a completion that an environment reads: behind its last `</think>`.

    The rule is the same for every policy and every chat template, some of which open the thought
    themselves; a thought behind an invented answer of the environment is of a turn that never was.
    Tags within an argument are text. Where a thought begins on a line of its own and
    does not end, nothing is an answer: `CUT_THOUGHT`. Of one that begins inside a line the parsers
    decide, which know the arguments: `refuse_open_thought`.
    """
    if not _has_markup(completion):
        return completion
    start, is_open = 0, False
    for number, tag in enumerate(_THOUGHT_TAG.finditer(completion)):
        if _is_end(tag[0]):
            is_text = _is_mentioned if is_open else is_quoted
            if number >= MOST_TOKENS or not is_text(completion, *tag.span()):
                start, is_open = tag.end(), False
        elif not is_open:
            if start and (end := _turn_length(completion[start : tag.start()])):
                completion = completion[: start + end]  # what follows is an invented turn
                break
            before = completion[max(0, tag.start() - 60) : tag.start()]
            is_first = not before or _BEHIND_TAG.search(before)
            is_open = (
                bool(is_first) or number >= MOST_TOKENS or not is_quoted(completion, *tag.span())
            )
    answer = completion[start:]
    if _has_markup(answer) and next(unquoted(_LINE_OPENING, answer), None):
        return CUT_THOUGHT
    return answer.lstrip("\n") if start else answer


def _turn_length(text: str) -> int:
    """Return the length of the text before a turn's end or an invented answer, or 0."""
    end = min(len(first_turn(text)), result_start(text))
    return end if end < len(text) and text[:end].strip() else 0


def _is_end(tag: str) -> bool:
    return "/" in tag or tag.lower() in _OTHER_ENDS


def _is_mentioned(text: str, start: int, end: int) -> bool:
    """Return whether a thought's end is in quotes, as where a thought is about the tag."""
    return not text.startswith("\n", end) and in_quotes(text, start, end)


def action_part(completion: str) -> str:
    """Return the part of a completion that may hold its action.

    That is its first turn behind the thoughts, without the blocks of `asides`.

    Raises:
        InvalidAction: a thought begins on a line of its own and does not end.
    """
    if not _has_markup(completion):
        return completion
    answer = strip_thinking(completion)
    if answer == CUT_THOUGHT:
        raise InvalidAction(NO_END)
    text = _without_asides(first_turn(answer))
    return text if "<action" in text.lower() else _ACTION_END.sub("", text)


def _without_asides(text: str) -> str:
    outside, place = [], 0
    opening: re.Match[str] | None = None
    for tag in unquoted(_ASIDE_TAG, text):
        if opening is None:
            opening = None if tag[1] else tag
        elif tag[1] and tag[2].lower() == opening[2].lower():
            outside.append(text[place : opening.start()])
            place, opening = tag.end(), None
    return "".join([*outside, text[place:]])


def refuse_open_thought(text: str, arguments: Iterable[str] = ()) -> None:
    """Refuse a text with a thought that does not end, unless its tag is text of an argument.

    Args:
        text: the part of a completion that holds the action.
        arguments: the texts that the action holds.

    Raises:
        InvalidAction: a thought was opened outside the arguments.
    """
    if not _has_markup(text):
        return
    openings = sum(1 for _ in unquoted(_OPENING, text))
    if openings and openings > sum(len(_OPENING.findall(argument)) for argument in arguments):
        raise InvalidAction(NO_END)


def first_turn(text: str) -> str:
    """Return a completion up to the token that ends its turn."""
    if not _has_markup(text):
        return text
    header = HEADER.match(text)
    end = next(unquoted(_TURN_END, text, header.end() if header else 0), None)
    return text if end is None else text[: end.start()]


def result_start(text: str, start: int = 0) -> int:
    """Return where the first answer of the environment stands that a policy has invented.

    Args:
        text: the completion.
        start: what stands before counts not, such as an observation that is repeated.

    Returns:
        its place, or the length of the text.
    """
    has_tags = _has_markup(text) or "`" in text
    first = [
        next((result.start() for result in unquoted(pattern, text, start)), len(text))
        for pattern in ((_LINE_RESULT, _RESULT) if has_tags else (_LINE_RESULT,))
    ]
    return min(first)
