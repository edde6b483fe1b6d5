"""Holds the secrets of options apart from the texts that are shown.

Where options are read, `hide_address` and `hide_kwargs` give the text that is shown from there on,
in names of folders, records, reports and messages. Only what connects asks `reveal` for the true
text. `masked` is for texts that come from elsewhere: command lines, and what servers answer.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

MASK = "***"

_CREDENTIALS = re.compile(r"""://[^/\s"'\\]+@""")
_NAME = r"(?:[\w-]*[_-])?(?:(?:api)?key|token|passw(?:or)?d|secret|credentials?|authorization)"
_IN_QUERY = re.compile(rf"""([?&]{_NAME}=)[^&\s"'\\]+""", re.IGNORECASE)
_IN_JSON = re.compile(rf"""("{_NAME}"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|[-\d.]+)""", re.IGNORECASE)
_IS_SECRET = re.compile(_NAME, re.IGNORECASE)
_OF_TEXT = re.compile(r"(?:eos|bos|pad|unk|sep|cls|mask|image|stop)[_-]token", re.IGNORECASE)
"""Options named like a secret that are words of a vocabulary."""
_ADDRESS = re.compile(r"https?:", re.IGNORECASE)
_KEYWORDS = "kwargs"
"""The end of the names of options that hold keyword arguments, such as `env_kwargs`."""
_LEAST = 6
"""Characters that make a secret worth masking. A shorter one stands in too many words."""

_true: dict[str, str] = {}
_pieces: set[str] = set()


def hide_address(text: str) -> str:
    """Return an address with `***` for its user, password and the values of its query.

    Other texts stay as they are. Of two addresses that differ in their secrets only, the one hidden
    last is revealed.
    """
    return _hide(text, masked_address(text)) if _ADDRESS.match(text) else text


def hide_kwargs(text: str | None) -> str | None:
    """Return the text of keyword arguments in JSON with `***` for secrets.

    Masked are addresses as by `hide_address`, and what is named like a key, token or password.
    """
    if text is None:
        return None
    try:
        values = json.loads(text)
    except ValueError:
        return _hide(text, masked(text))
    shown = masked(values, in_kwargs=True)
    if shown == values:  # what is masked already is written in one way, as here
        return json.dumps(values) if MASK in text else text
    return _hide(text, json.dumps(shown))


def reveal(shown: str) -> str:
    """Return the secret behind a hidden text, and other texts as they are."""
    return _true.get(shown, shown)


def check_revealed(url: str) -> None:
    """Check that an address holds its secrets.

    Raises:
        ValueError: it holds `***` in their place, as a command line does that was printed.
    """
    place, _, query = url.partition("?")
    if f"{MASK}@" in place or f"={MASK}" in query or MASK == query:
        raise ValueError(
            f"{url} has {MASK} where its secret was, which is written nowhere; give the address "
            "with the secret again"
        )


def keep_out(secret: str | None) -> str | None:
    """Return a secret, which `masked` finds in texts from here on."""
    if secret and len(secret) >= _LEAST:
        _pieces.add(secret)
    return secret


def hidden() -> dict[str, str]:
    """Return the hidden texts, for `take_over` in another process but never for a file."""
    return dict(_true)


def take_over(texts: Mapping[str, str]) -> None:
    """Hide the secrets that another process has hidden."""
    for shown, text in texts.items():
        _hide(text, shown)


def masked(value: Any, *, in_kwargs: bool = False) -> Any:
    """Return JSON values with `***` for secrets, and masked values as they are.

    Masked are credentials and secret-looking parameters in addresses, in keyword arguments
    (`env_kwargs`, as an object or as text) what is named like a key, token or password, and
    whatever was hidden before.

    Args:
        value: what is to be written or shown.
        in_kwargs: it is part of keyword arguments, whose addresses show nothing of their queries.
    """
    if isinstance(value, str):
        return masked_address(value) if in_kwargs and _ADDRESS.match(value) else _masked_text(value)
    if isinstance(value, Mapping):
        return {
            name: MASK
            if in_kwargs and _names_a_secret(name, part)
            else masked(part, in_kwargs=in_kwargs or str(name).endswith(_KEYWORDS))
            for name, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(part, in_kwargs=in_kwargs) for part in value]
    return value


def masked_address(url: Any) -> Any:
    """Return an address with `***` for its user and password and for the values of its query.

    What is no text stays as it is.
    """
    if not isinstance(url, str):
        return url
    place, mark, query = url.partition("?")
    # What stands before the last @ is masked, for a password may hold any character.
    place = re.sub(r"//.*@", f"//{MASK}@", place, flags=re.DOTALL)
    pairs = (pair.partition("=") for pair in query.split("&"))
    shown = "&".join(f"{name}={MASK}" if equals else MASK for name, equals, _ in pairs)
    return f"{place}?{shown}" if mark else place


def masked_words(words: Iterable[str]) -> list[str]:
    """Return the words of a command line, the values of its secret options masked."""
    shown: list[str] = []
    is_secret = False
    for word in words:
        option, equals, _ = word.partition("=")
        if is_secret:
            shown.append(MASK)
            is_secret = False
        elif _is_secret_option(option):
            shown.append(f"{option}={MASK}" if equals else word)
            is_secret = not equals
        else:
            shown.append(_masked_text(word))
    return shown


def _is_secret_option(word: str) -> bool:
    name = word.removeprefix("--")
    return name != word and bool(_IS_SECRET.fullmatch(name)) and not _OF_TEXT.fullmatch(name)


def _names_a_secret(name: Any, value: Any) -> bool:
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    return is_text and bool(_IS_SECRET.fullmatch(str(name))) and not _OF_TEXT.fullmatch(str(name))


def _hide(text: str, shown: str) -> str:
    if shown != text:
        _true[shown] = text
        for piece in _secrets_of(text):
            keep_out(piece)
            keep_out(unquote(piece))
    return shown


def _secrets_of(text: str) -> list[str]:
    """Return the secrets in an address, or in keyword arguments in JSON.

    User and password are sent in base64 (`Authorization: Basic`), which a server may repeat.
    """
    if _ADDRESS.match(text):
        place, _, query = text.partition("?")
        who = re.search(r"//(.*)@", place, re.DOTALL)
        own = []
        if who:
            user, colon, password = who[1].partition(":")
            sent = f"{unquote(user)}:{unquote(password)}".encode()
            own = [password if colon else user, b64encode(sent).decode()]
        return [*own, *(pair.partition("=")[2] or pair for pair in query.split("&"))]
    try:
        return list(_secret_values(json.loads(text)))
    except ValueError:
        return []


def _secret_values(value: Any) -> Iterable[str]:
    if isinstance(value, str) and _ADDRESS.match(value):
        yield from _secrets_of(value)
    elif isinstance(value, dict):
        for name, part in value.items():
            if _names_a_secret(name, part):
                yield str(part)
            else:
                yield from _secret_values(part)
    elif isinstance(value, list):
        for part in value:
            yield from _secret_values(part)


def _masked_text(text: str) -> str:
    for shown, true in _true.items():
        text = text.replace(true, shown)
    for piece in sorted(_pieces, key=len, reverse=True):
        text = text.replace(piece, MASK)
    text = _IN_QUERY.sub(rf"\g<1>{MASK}", _CREDENTIALS.sub(f"://{MASK}@", text))
    return _IN_JSON.sub(rf'\g<1>"{MASK}"', text)
