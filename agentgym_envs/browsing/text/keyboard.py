"""Applies keys to the control that has the focus: text at a caret, options, radio buttons.

It does as Chromium does. There is no layout and no clock, so keys that need the lines of a text
area, words, the parts of a day, a clipboard or an open menu are refused.
"""

from __future__ import annotations

import re

from lxml.etree import _Element as Element

from agentgym_envs.browsing import refusals
from agentgym_envs.browsing.keys import Keys
from agentgym_envs.browsing.text.document import Document
from agentgym_envs.browsing.text.roles import input_type, is_list_box
from agentgym_envs.browsing.typing_rules import SET_AT_ONCE

_BACKWARD = frozenset({"ArrowUp", "ArrowLeft"})
_FORWARD = frozenset({"ArrowDown", "ArrowRight"})
_ARROWS = _BACKWARD | _FORWARD
_BY_LINES = frozenset({"Home", "End", "ArrowUp", "ArrowDown", "PageUp", "PageDown"})
_BY_WORDS = frozenset({"ArrowLeft", "ArrowRight", "Backspace", "Delete"})
_CLIPBOARD = frozenset({"c", "x", "v", "Insert"})
_UNDO = frozenset({"z", "y"})
_NUMBER = re.compile(r"(-?\d+(\.\d+)?)?", re.ASCII)
_NOT_IN_NUMBERS = re.compile(r"[^-+.eE\d]", re.ASCII)


LINE_BREAK = Keys((), "\n", "Enter")
"""The text that Enter types into a text area."""


def press_in_field(document: Document, field: Element, keys: Keys) -> None:
    """Press a key, other than Tab and Enter, in a text field.

    Raises:
        InvalidAction: a browser would do something here that this one cannot.
    """
    kind = "textarea" if field.tag == "textarea" else input_type(field)
    _check_that_it_can_be_done(kind, keys)
    is_shifted, is_control = "Shift" in keys.modifiers, "Control" in keys.modifiers
    if "Alt" in keys.modifiers:
        return
    text = document.value(field)
    anchor, caret = document.selection(field)
    start, end = min(anchor, caret), max(anchor, caret)
    if is_control and keys.key.lower() == "a" and not is_shifted:
        document.select(field, 0, len(text))
    elif keys.key in ("Home", "ArrowUp"):
        _move(document, field, 0, extends=is_shifted)
    elif keys.key in ("End", "ArrowDown"):
        _move(document, field, len(text), extends=is_shifted)
    elif keys.key in _ARROWS:
        is_back = keys.key in _BACKWARD
        if start < end and not is_shifted:
            target = start if is_back else end
        else:
            target = caret + (-1 if is_back else 1)
        _move(document, field, target, extends=is_shifted)
    elif keys.key == "Backspace":
        _replace(document, field, keys.text, start - (start == end), end, "")
    elif keys.key == "Delete":
        _replace(document, field, keys.text, start, end + (start == end), "")
    elif keys.key == "Escape" and kind == "search":
        _replace(document, field, keys.text, 0, len(text), "")
    elif keys.key == "Space" or len(keys.key) == 1:
        if not is_control:
            _replace(
                document, field, keys.text, start, end, " " if keys.key == "Space" else keys.key
            )


def press_in_list(document: Document, select: Element, keys: Keys) -> None:
    """Press a key in a list box: arrows, Home and End move to another option.

    Raises:
        InvalidAction: a browser would do something here that this one cannot.
    """
    opens = keys.key == "Space" or ("Alt" in keys.modifiers and keys.key in _ARROWS)
    if opens or keys.key == "F4":
        raise refusals.key_does_more(keys.text, "opens a menu outside of the page; use select")
    if keys.modifiers:
        return
    if len(keys.key) == 1 or keys.key in ("PageUp", "PageDown"):
        raise refusals.key_does_more(keys.text, "searches a list box; use select")
    if keys.key not in _ARROWS | {"Home", "End"}:
        return
    if is_list_box(select):
        raise refusals.key_does_more(keys.text, "extends what is chosen; click an option instead")
    options = document.options(select)
    free = [option for option in options if not document.is_disabled(option)]
    chosen = document.chosen(select)
    place = options.index(chosen[0]) if chosen else -1
    if keys.key in _FORWARD:
        candidates = [option for option in free if options.index(option) > place][:1]
    elif keys.key in _BACKWARD:
        candidates = [option for option in free if options.index(option) < place][-1:]
    else:
        candidates = free[:1] if keys.key == "Home" else free[-1:]
    for option in candidates:
        document.choose(option)


def press_in_radios(document: Document, radio: Element, keys: Keys) -> None:
    """Press a key on a radio button: arrows go round its group, and tick."""
    if keys.key not in _ARROWS or not set(keys.modifiers) <= {"Shift"}:
        return
    group = [other for other in document.radios(radio) if not document.is_disabled(other)]
    step = -1 if keys.key in _BACKWARD else 1
    document.focused = group[(group.index(radio) + step) % len(group)]
    document.tick(document.focused)


def _check_that_it_can_be_done(kind: str, keys: Keys) -> None:
    key, held = keys.key, set(keys.modifiers)
    reason = ""
    if kind in SET_AT_ONCE and key != "Escape":
        reason = "changes a part of this field; write all of it with type"
    elif "Alt" in held:
        return
    elif "Control" in held and (key.lower() in _UNDO):
        reason = "needs what was typed before; this browser has no undo"
    elif (held and key == "Insert") or ("Control" in held and key.lower() in _CLIPBOARD):
        reason = "needs a clipboard, which this browser has not"
    elif held == {"Shift"} and key == "Delete":
        reason = "needs a clipboard, which this browser has not"
    elif "Control" in held and key in _BY_WORDS:
        reason = "goes by words, which this browser does not know; use type"
    elif kind == "textarea" and key in _BY_LINES and "Control" not in held:
        reason = "goes by lines of the screen, which this browser has not; use type"
    elif "Control" in held and key in _BY_LINES - {"Home", "End"}:
        reason = "goes by lines of the screen, which this browser has not; use type"
    elif kind == "number" and key in ("ArrowUp", "ArrowDown"):
        reason = "counts up or down here; write the number with type"
    if reason:
        raise refusals.key_does_more(keys.text, reason)


def _move(document: Document, field: Element, caret: int, *, extends: bool) -> None:
    caret = max(0, min(caret, len(document.value(field))))
    anchor = document.selection(field)[0] if extends else caret
    document.select(field, anchor, caret)


def _replace(document: Document, field: Element, keys: str, start: int, end: int, new: str) -> None:
    if "readonly" in field.attrib:
        return
    text = document.value(field)
    start = max(0, start)
    is_number = field.tag == "input" and input_type(field) == "number"
    if is_number and _NOT_IN_NUMBERS.search(new):
        return
    rest = text[:start] + text[end:]
    limit = document.limit(field)
    new = new if limit is None else new[: max(0, limit - len(rest))]
    result = text[:start] + new + text[end:]
    if is_number and not _NUMBER.fullmatch(result):
        raise refusals.key_does_more(keys, "leaves no number; write it with type")
    document.fill(field, result)
    document.select(field, start + len(new), start + len(new))
