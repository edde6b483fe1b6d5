"""Reads the keys that `press` takes. The same for every backend."""

from __future__ import annotations

from typing import NamedTuple

from agentgym_envs.browsing import refusals

MODIFIERS = {
    "ctrl": "Control",
    "control": "Control",
    "shift": "Shift",
    "alt": "Alt",
    "option": "Alt",
    "meta": "Control",
    "cmd": "Control",
    "command": "Control",
}
"""Names of a modifier, in lower case, and the browser's name for it.

WebArena's Meta is the Mac's; what it does there, Control does here.
"""

_NAMES = (
    "Enter", "Tab", "Escape", "Space", "Backspace", "Delete", "Insert", "Home", "End", "PageUp",
    "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight",
    *(f"F{number}" for number in range(1, 13)),
)  # fmt: skip
_UNSHIFTED = "`1234567890-=[]\\;',./abcdefghijklmnopqrstuvwxyz"
_SHIFTED = '~!@#$%^&*()_+{}|:"<>?ABCDEFGHIJKLMNOPQRSTUVWXYZ'
_WITH_SHIFT = dict(zip(_UNSHIFTED, _SHIFTED, strict=True))
_SHORT = {
    "return": "Enter", "esc": "Escape", "del": "Delete", "up": "ArrowUp", "down": "ArrowDown",
    "left": "ArrowLeft", "right": "ArrowRight",
}  # fmt: skip
KEYS = {name.lower(): name for name in _NAMES} | _SHORT
"""Names of keys that are no characters, by their lower-case spellings."""


class Keys(NamedTuple):
    """A key with its modifiers.

    Attributes:
        modifiers: such as `("Control",)`, in the order in which they were written.
        key: a name such as `"Enter"`, or one printable character, as it is with Shift held down.
        text: as they were written.
    """

    modifiers: tuple[str, ...]
    key: str
    text: str


def read_keys(text: str) -> Keys:
    """Read keys that are written like `Enter`, `a` or `Ctrl+Shift+a`.

    Raises:
        InvalidAction: no key is called so.
    """
    *before, last = _split(text)
    modifiers = tuple(MODIFIERS.get(word.lower(), "") for word in before)
    key = "Space" if last == " " else KEYS.get(last.lower(), last)
    is_character = len(key) == 1 and key.isprintable()
    if "" in modifiers or not (is_character or key in KEYS.values()):
        raise refusals.no_key(text)
    if is_character and set(modifiers) == {"Shift"}:
        return Keys((), _WITH_SHIFT.get(key, key), text)
    return Keys(modifiers, key, text)


def _split(text: str) -> list[str]:
    if text in (" ", "+"):
        return [text]
    if text.endswith("++"):
        return [*_split(text[:-2]), "+"]
    return [word.strip() for word in text.split("+")]
