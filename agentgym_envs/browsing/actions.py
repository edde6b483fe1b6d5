"""Reads and writes browser actions in WebArena's grammar (arXiv 2307.13854)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from agentgym_envs.actions import CALL_FORMATS, ActionVerb
from agentgym_envs.errors import InvalidAction

_ID = {"element": "The id of an element of the page."}

VERBS = (
    ActionVerb("click", "click [{element}]", "Click an element.", ("element",), notes=_ID),
    ActionVerb(
        "hover", "hover [{element}]", "Move the pointer over an element.", ("element",), notes=_ID
    ),
    ActionVerb(
        "type",
        "type [{element}] [{content}] [{press_enter}]",
        "Replace the content of a text field; press_enter is 1 to press Enter afterwards, else 0.",
        ("element", "press_enter"),
        defaults={"press_enter": 1},
        notes={
            "element": "The id of a text field.",
            "content": "The text.",
            "press_enter": "1 to press Enter afterwards, 0 not to.",
        },
        free_text=("content",),
        is_multiline=True,
    ),
    ActionVerb(
        "select",
        "select [{element}] [{option}]",
        "Choose the option with this text in a list box.",
        ("element",),
        notes={"element": "The id of a list box.", "option": "The option's text."},
    ),
    ActionVerb(
        "press",
        "press [{keys}]",
        "Press a key or combination, such as Enter or Ctrl+a.",
        notes={"keys": "Such as Enter or Ctrl+a."},
    ),
    ActionVerb(
        "scroll",
        "scroll [{direction}]",
        "Scroll the page by one screen; direction is up or down.",
        notes={"direction": "up or down."},
    ),
    ActionVerb(
        "goto",
        "goto [{url}]",
        "Open an address in the current tab.",
        notes={"url": "The address, such as http://homepage.test/."},
    ),
    ActionVerb("new_tab", "new_tab", "Open an empty tab and go to it."),
    ActionVerb(
        "tab_focus",
        "tab_focus [{index}]",
        "Go to the tab of this index, from 0.",
        ("index",),
        notes={"index": "The tab's index."},
    ),
    ActionVerb("close_tab", "close_tab", "Close the current tab."),
    ActionVerb("go_back", "go_back", "Go back to the page before."),
    ActionVerb("go_forward", "go_forward", "Undo a go_back."),
    ActionVerb(
        "stop",
        "stop [{answer}]",
        "End the task, with the answer if one is asked for; N/A says that it cannot be done.",
        defaults={"answer": ""},
        notes={"answer": "The answer, empty if none is asked for; N/A if it cannot be done."},
        free_text=("answer",),
        is_multiline=True,
    ),
)

DRAG = ActionVerb(
    "drag",
    "drag [{element}] [{onto}]",
    "Drag an element onto another.",
    ("element", "onto"),
    notes={"element": "The id of what is dragged.", "onto": "The id of where it is dropped."},
)
"""A verb outside WebArena's grammar, for other environments on these browsers."""

_FORMS = {
    "click": r"\[(?P<element>\d+)\]",
    "hover": r"\[(?P<element>\d+)\]",
    "type": r"\[(?P<element>\d+)\]\s*\[(?P<text>.*?)\]"
    r"(?:\s*\[\s*(?:press_enter(?:_after)?\s*=\s*)?(?P<enter>[01])\s*\])?",
    "select": r"\[(?P<element>\d+)\]\s*\[(?P<text>.*)\]",
    "press": r"\[(?P<text>[^\]]+|\])\]",
    "scroll": r"\[?(?P<text>up|down|direction=up|direction=down)\]?",
    "goto": r"\[(?P<text>\S+)\]",
    "new_tab": r"",
    "tab_focus": r"\[(?P<element>\d+)\]",
    "close_tab": r"",
    "go_back": r"",
    "go_forward": r"",
    "stop": r"(?:\[(?P<text>.*)\])?",
    "drag": r"\[(?P<element>\d+)\]\s*\[(?P<onto>\d+)\]",
}
_PATTERNS = {kind: re.compile(form, re.DOTALL) for kind, form in _FORMS.items()}
_LAST_PART = re.compile(r"\]\s*\[([^\[\]]*)\Z")
_EXAMPLES = {
    "click": "click [12]",
    "hover": "hover [12]",
    "type": "type [7] [running shoes] [1]",
    "select": "select [9] [Price: low to high]",
    "press": "press [Enter]",
    "scroll": "scroll [down]",
    "goto": "goto [http://homepage.test/]",
    "tab_focus": "tab_focus [0]",
    "stop": "stop [42]",
    "drag": "drag [12] [9]",
}
MAX_DIGITS = 9

KINDS = tuple(verb.name for verb in VERBS)
"""The names of WebArena's actions."""


@dataclass(frozen=True)
class WebAction:
    """One action of the browser.

    Attributes:
        kind: a verb's name: `"click"`, `"type"`, ...
        element: the id in brackets (click, hover, type, select, drag), or the tab's index
            (tab_focus).
        text: what to type, the option, key, direction, address, or answer.
        press_enter: whether Enter follows what is typed; the grammar's default is that it does.
        onto: the id that drag leads to.
    """

    kind: str
    element: int = -1
    text: str = ""
    press_enter: bool = True
    onto: int = -1


def parse_action(
    text: str, *, kinds: Collection[str] = KINDS, action_format: str = "plain"
) -> WebAction:
    """Read one plain action.

    Args:
        text: the action.
        kinds: the names of those there are.
        action_format: what the policy writes; messages show that form.

    Raises:
        InvalidAction: it is none; the message says what one looks like.
    """
    text = text.strip()
    kind, rest = _split(text)
    if kind not in kinds:
        raise InvalidAction(f"There is no action {kind!r:.60}. The actions are {', '.join(kinds)}.")
    match = _PATTERNS[kind].fullmatch(rest)
    if match is None:
        advice = "; a space in an address is %20" if kind == "goto" and " " in rest[1:-1] else ""
        raise InvalidAction(f"{kind} is written like this: {example(kind, action_format)}{advice}")
    parts = match.groupdict()
    if kind == "type" and parts["enter"] is None:
        _check_that_nothing_follows(parts["text"], action_format)
    ids = {key: parts[key] for key in ("element", "onto") if parts.get(key) is not None}
    for digits in ids.values():
        if len(digits) > MAX_DIGITS:
            raise InvalidAction(f"{kind}: there is no element [{digits[:20]}...].")
    return WebAction(
        kind,
        element=int(ids.get("element", -1)),
        text=(parts.get("text") or "").removeprefix("direction=" if kind == "scroll" else ""),
        press_enter=parts.get("enter") != "0",
        onto=int(ids.get("onto", -1)),
    )


def example(kind: str, action_format: str = "plain") -> str:
    """Return an example of an action, as it is written in a format."""
    plain = _EXAMPLES.get(kind, kind)
    if action_format not in CALL_FORMATS:
        return plain
    verb = next(verb for verb in (*VERBS, DRAG) if verb.name == kind)
    arguments = verb.match(plain) or {}
    if action_format == "code":
        return verb.call(arguments)
    return json.dumps({"name": kind, "arguments": arguments})


def _check_that_nothing_follows(text: str, action_format: str) -> None:
    """Check that the brackets hold the typed text alone, not a malformed third part.

    WebArena's own parser takes `x] [2` as the text of `type [4] [x] [2]`; nobody means that. Text
    may hold brackets; where one closes before another opens the third part tells where it ends.
    """
    depth, third = 0, _LAST_PART.search(text)
    for place, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth < 0:
            if text[place + 1 :].lstrip().startswith("["):
                third = third or re.search(r"\[(.*)", text[place:], re.DOTALL)
            break
    if third is None:
        return
    if action_format in CALL_FORMATS:
        raise InvalidAction(f"type: press_enter is 0 or 1, got {third.group(1)!r:.40}.")
    raise InvalidAction(
        f"type: the third part is 0 or 1, got {third.group(1)!r:.40}. Text that holds '] [' needs "
        "the third part behind it: type [7] [a] [b] [1]"
    )


def _split(text: str) -> tuple[str, str]:
    match = re.match(r"[A-Za-z_]*", text)
    kind = match.group() if match else ""
    return kind or text, text[len(kind) :].strip()
