"""Reads what people type into forms: amounts, days, whole numbers, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from agentgym_envs.sites.web import NotFound, RequestContext

_AMOUNT = re.compile(r"\$?([0-9]{1,7})(?:\.([0-9]{1,2}))?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE = re.compile(r"-?[0-9]{1,9}")


def read_amount(text: str) -> int | None:
    """Read an amount such as `1,234.50` as cents; None if it is none."""
    match = _AMOUNT.fullmatch(text.replace(",", ""))
    if match is None:
        return None
    return int(match.group(1)) * 100 + int((match.group(2) or "0").ljust(2, "0"))


def read_day(text: str) -> str | None:
    """Read a day written `YYYY-MM-DD`; None if there is no such day."""
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def read_whole(text: str) -> int | None:
    """Read a whole number of at most nine digits; None if it is none."""
    return int(text) if _WHOLE.fullmatch(text) else None


def read_id(text: str) -> int:
    """Read the id in an address.

    Raises:
        NotFound: it is no id.
    """
    number = read_whole(text)
    if number is None or number < 0:
        raise NotFound()
    return number


def write_amount(cents: int | None) -> str:
    """Write cents the way an amount is typed: `1234.50`; nothing for None."""
    return "" if cents is None else f"{cents // 100}.{cents % 100:02}"


class Entries:
    """The fields of one posted form.

    Each reader returns the field's value and, where it is wrong, says so in `errors`.

    Attributes:
        errors: by field name, what is wrong.
    """

    def __init__(self, context: RequestContext) -> None:
        self._context = context
        self.errors: dict[str, str] = {}

    def text(self, name: str, label: str, *, longest: int = 200, is_required: bool = True) -> str:
        """Read a line or a paragraph."""
        # Browsers send the line breaks of a text area as CR LF.
        value = self._context.field(name).replace("\r\n", "\n")
        if is_required and not value:
            self.errors[name] = f"{label} is required."
        elif len(value) > longest:
            self.errors[name] = f"{label} must have at most {longest} characters."
        return value

    def amount(self, name: str, label: str, *, is_required: bool = True) -> int | None:
        """Read an amount of money."""
        text = self._context.field(name)
        value = read_amount(text)
        if not text:
            if is_required:
                self.errors[name] = f"{label} is required."
        elif value is None:
            self.errors[name] = f"{label} must be an amount such as 24.90."
        return value

    def whole(self, name: str, label: str, low: int, high: int) -> int:
        """Read a whole number between two bounds."""
        value = read_whole(self._context.field(name))
        if value is None or not low <= value <= high:
            self.errors[name] = f"{label} must be a whole number from {low} to {high}."
            return low
        return value

    def day(self, name: str, label: str) -> str:
        """Read a day."""
        value = read_day(self._context.field(name))
        if value is None:
            self.errors[name] = f"{label} must be a day written YYYY-MM-DD."
        return value or ""

    def one_of(self, name: str, label: str, allowed: Sequence[str]) -> str:
        """Read the choice from a list box."""
        value = self._context.field(name)
        if value not in allowed:
            self.errors[name] = f"Choose one of the values for {label}."
        return value

    def is_ticked(self, name: str) -> bool:
        """Read a check box."""
        return bool(self._context.field(name))
