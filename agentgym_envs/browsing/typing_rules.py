"""Cleans text that is typed into a field. The same for every backend."""

from __future__ import annotations

import re

from agentgym_envs.browsing.page import Node
from agentgym_envs.errors import InvalidAction

MAX_TYPED = 100_000
"""Characters that can be typed at once."""

_FORMS = {
    "number": (r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,3})?", "a number"),
    "range": (r"-?\d+(\.\d+)?", "a number"),
    "date": (r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", "a day like 2026-03-14"),
    "month": (r"\d{4}-(0[1-9]|1[0-2])", "a month like 2026-03"),
    "week": (r"\d{4}-W[0-5]\d", "a week like 2026-W11"),
    "time": (r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?", "a time like 09:30"),
    "datetime-local": (
        r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?",
        "a time like 2026-03-14T09:30",
    ),
    "color": (r"#[0-9a-fA-F]{6}", "a colour like #2457c5"),
}
"""For each type of field that takes only some texts, a pattern and words for it."""

SET_AT_ONCE = frozenset({"color", "date", "datetime-local", "month", "range", "time", "week"})
"""Types of fields whose value is set at once, not by one key stroke after another."""

_PATTERNS = {kind: (re.compile(form, re.ASCII), words) for kind, (form, words) in _FORMS.items()}
_NOT_TYPED = {code: None for code in range(32) if chr(code) not in "\n\t"} | {127: None}


def typed_text(node: Node, kind: str, text: str) -> str:
    """Return a field's value after a text was typed into it.

    Args:
        node: the field.
        kind: its type in HTML, such as `"text"` or `"date"`, or `"textarea"`.
        text: what is typed; control characters are lost, line breaks too in a field of one line.

    Raises:
        InvalidAction: it is too long, or the field takes no such text.
    """
    if len(text) > MAX_TYPED:
        raise InvalidAction(f"At most {MAX_TYPED:,} characters can be typed at once.")
    # Lone surrogates cannot be sent to anybody.
    text = text.encode("utf-8", "replace").decode()
    text = re.sub(r"\r\n?", "\n", text).translate(_NOT_TYPED)
    if kind != "textarea":
        text = text.replace("\n", "")
    if kind in _PATTERNS:
        text = text.strip()
        pattern, words = _PATTERNS[kind]
        if text and not pattern.fullmatch(text):
            raise InvalidAction(f"[{node.element}] {node.role} {node.name[:60]!r} takes {words}.")
    return text
