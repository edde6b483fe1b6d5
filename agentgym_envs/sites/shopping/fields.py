"""Checks what people typed into the shop's forms, and keeps it beside what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentgym_envs.sites.web import RequestContext

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]+\.[^@\s.]{2,}")
_PHONE = re.compile(r"\+?[0-9][0-9 ]{5,18}")
_POSTCODE = re.compile(r"[0-9]{5}")
_DOLLARS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,2})?")

MOST_OF_ONE = 99
"""The largest quantity of one product in a cart."""


def cents_of(text: str) -> int | None:
    """Read an amount of dollars, such as `12`, `12.5` or `$12.50`; None if it is none."""
    text = text.strip().removeprefix("$").replace(",", "")
    if not (text.isascii() and _DOLLARS.fullmatch(text)):
        return None
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0") or "0")


class Texts(dict[str, str]):
    """Texts by field name; a field that was not filled in is empty."""

    def __missing__(self, name: str) -> str:
        return ""


class Fields:
    """The fields of a posted form.

    Attributes:
        values: what was typed, white space collapsed, by field name.
        errors: what is wrong, by field name.
    """

    def __init__(self, context: RequestContext) -> None:
        self._context = context
        self.values = Texts()
        self.errors = Texts()

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong so far."""
        return not self.errors

    def text(self, name: str, label: str, *, least: int = 1, most: int = 80) -> str:
        """Take a line of text of a certain length."""
        text = "".join(c for c in self._context.field(name) if c.isprintable() or c.isspace())
        self.values[name] = text = " ".join(text.split())
        if not text and least:
            self.errors[name] = f"{label} is a required field."
        elif len(text) < least:
            self.errors[name] = f"{label} must have at least {least} characters."
        elif len(text) > most:
            self.errors[name] = f"{label} can have at most {most} characters."
        return text

    def email(self, name: str = "email") -> str:
        """Take an e-mail address."""
        text = self.text(name, "Email", most=120)
        if text and not _EMAIL.fullmatch(text):
            self.errors[name] = "Please write an email address like name@post.test."
        return text

    def phone(self, name: str = "phone") -> str:
        """Take a telephone number, which may be left out."""
        text = self.text(name, "Phone", least=0)
        if text and not (text.isascii() and _PHONE.fullmatch(text)):
            self.errors[name] = "Please write a phone number with digits and spaces only."
        return text

    def postcode(self, name: str = "postcode") -> str:
        """Take a postcode of Valdera."""
        text = self.text(name, "Postcode")
        if text and not (text.isascii() and _POSTCODE.fullmatch(text)):
            self.errors[name] = "A postcode has five digits."
        return text

    def password(self, name: str, label: str, *, least: int = 8) -> str:
        """Take a password as it is; it is never shown again."""
        text = self._context.form.get(name, "")
        if not text:
            self.errors[name] = f"{label} is a required field."
        elif not least <= len(text) <= 100:
            self.errors[name] = f"{label} must have between {least} and 100 characters."
        return text

    def choice(self, name: str, options: Sequence[str], message: str) -> str:
        """Take one of several values."""
        text = self._context.field(name)
        self.values[name] = text
        if text not in options:
            self.errors[name] = message
        return text

    def address(self) -> dict[str, str]:
        """Take the five lines of an address."""
        return {
            "name": self.text("name", "Name"),
            "street": self.text("street", "Street"),
            "town": self.text("town", "Town"),
            "postcode": self.postcode(),
            "phone": self.phone(),
        }
