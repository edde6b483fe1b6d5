"""The markup of language models around thoughts, turns and calls, by `markup.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("markup.toml").read_text("utf-8"))

CUT_THOUGHT = "<think>"
"""The text that an environment reads in place of a completion whose thought did not end."""

NO_END = (
    "Your thought did not end: there is no </think>, so no action was played. Either the answer "
    "was cut off at its greatest length or the thought was left open. Think in fewer words, end "
    "the thought, and write the action behind it."
)

_SPECIAL = r"<[|｜][^<>|｜\s]{1,40}[|｜]>|<s>|<bos>|\[/?INST\]"
_THOUGHT = re.compile(
    rf"^(?:{_SPECIAL}|assistant|thought:|[ \t])*"
    rf"(?:{'|'.join(re.escape(opening) for opening, _ in _TABLE['thoughts'])})",
    re.IGNORECASE | re.MULTILINE,
)
_THOUGHT_END = re.compile(
    "|".join(re.escape(closing) for _, closing in _TABLE["thoughts"]), re.IGNORECASE
)
TURN_ENDS: Sequence[str] = tuple(_TABLE["turn_ends"])
HEADER = re.compile(
    rf"\s*(?:(?:(?:{_SPECIAL})(?:assistant|final)?|<start_of_turn>|model[ \t]*\n"
    r"|(?:### ?)?(?:assistant|response)[ \t]*[:\n])\s*)*",
    re.IGNORECASE,
)
"""A template's header of a turn."""

_TAG_BEHIND = re.compile(r"\s*(?:</action>|\[/action\])\s*\Z", re.IGNORECASE)
# Tokens that are HTML too end a turn at a line's end alone.
_TURN_END = re.compile(
    "|".join(
        re.escape(end) + {"</s>": r"(?=\s*(?:$|\n|<))", "<|end|>": r"(?!<\|start\|>)"}.get(end, "")
        for end in TURN_ENDS
    )
)
_RESULT = re.compile(
    r"^[*_#> \t\[]{0,20}(?:observations?|obs|environment|tool[ _]?(?:response|result|output)|user|"
    r"human|system)(?: ?\d{1,3})?[\]*_ \t]{0,20}[:：]|"
    + "|".join(map(re.escape, _TABLE["results"])),
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class CallMarkup:
    """How a family of models writes a function call.

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
    def of(cls, row: dict[str, Any]) -> CallMarkup:
        """Read a row of the table."""
        return cls(
            **{
                **row,
                "opening": re.compile(row["opening"]),
                "quotes": tuple(row.get("quotes", ())),
            }
        )


CALLS: Sequence[CallMarkup] = tuple(map(CallMarkup.of, _TABLE["calls"]))
NAME_KEYS: Sequence[str] = tuple(_TABLE["keys"]["name"])
ARGUMENT_KEYS: Sequence[str] = tuple(_TABLE["keys"]["arguments"])
LABELS: frozenset[str] = frozenset(_TABLE["keys"]["labels"])


def strip_thinking(completion: str) -> str:
    """Return the part of a completion that an environment reads: behind its last `</think>`.

    The rule is the same for every policy and every chat template, some of which open the thought
    themselves. Where a thought begins and does not end, nothing is an answer: `CUT_THOUGHT`.
    """
    start = max((end.end() for end in _THOUGHT_END.finditer(completion)), default=0)
    if _THOUGHT.search(completion, start):
        return CUT_THOUGHT
    return completion[start:].lstrip("\n") if start else completion


def first_turn(text: str) -> str:
    """Return a completion up to the token that ends its turn."""
    header = HEADER.match(text)
    end = _TURN_END.search(text, header.end() if header else 0)
    text = text[: end.start()] if end else text
    return text if "<action>" in text.lower() else _TAG_BEHIND.sub("", text)


def result_start(text: str, start: int = 0) -> int:
    """Return where the first answer of the environment stands that a policy has invented.

    Args:
        text: the completion.
        start: what stands before counts not, such as an observation that is repeated.

    Returns:
        its place, or the length of the text.
    """
    result = _RESULT.search(text, start)
    return result.start() if result else len(text)
