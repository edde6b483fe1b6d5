"""Parses and validates form input."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.web import RequestContext

_AMOUNT = re.compile(r"\$?([0-9]{1,7})(?:\.([0-9]{1,2}))?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE = re.compile(r"-?[0-9]{1,9}")


def read_amount(text: str) -> int | None:
    """Read an amount such as `1,234.50` as cents, or None if it is none."""
    match = _AMOUNT.fullmatch(text.replace(",", ""))
    if match is None:
        return None
    return int(match.group(1)) * 100 + int((match.group(2) or "0").ljust(2, "0"))


def write_amount(cents: int | None) -> str:
    """Format cents as an amount is typed: `1234.50`, "" for None."""
    return "" if cents is None else f"{cents // 100}.{cents % 100:02}"


def read_day(text: str) -> str | None:
    """Read a day `YYYY-MM-DD`, or None if there is no such day."""
    try:
        return date.fromisoformat(text).isoformat() if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def read_whole(text: str) -> int | None:
    """Read a whole number of at most nine digits, or None if it is none."""
    return int(text) if _WHOLE.fullmatch(text) else None


def as_options(words: Sequence[str], first: str = "") -> list[tuple[str, str]]:
    """Return the options of a list box whose values equal their labels.

    Args:
        words: the values.
        first: what the option for no value shows, if there is one.
    """
    return [*([("", first)] if first else []), *((word, word) for word in words)]


class Texts(dict[str, Any]):
    """Field values and errors by name. Missing fields are empty."""

    def __missing__(self, name: str) -> str:
        return ""


class Fields:
    """The fields of a form, posted or still to be filled in.

    Each reader returns a field's value and notes in `errors` what is wrong with it. A site's own
    class says it in the site's words.

    Args:
        context: the request.
        values: what the fields hold before anything is read, such as a row of the database.

    Attributes:
        required: what is said of an empty field; `{label}` is its label.
        too_long: what is said of a text of more than `{most}` characters; it has `{length}`.
        most: characters that a text may have where nothing else is said.
        refused: the status of the page that shows the form again.
        values: what the fields hold, by name.
        errors: what is wrong, by field name.
    """

    required = "{label} is required."
    too_long = "{label} must have at most {most} characters."
    most = 200
    refused = 422

    def __init__(
        self, context: RequestContext, values: Mapping[str, Any] | sqlite3.Row | None = None
    ) -> None:
        self.context = context
        self.values = Texts(values or {})
        self.errors = Texts()

    def page(self, template: str, **variables: Any) -> Response:
        """Render the form's page with `values` and `errors`."""
        return self.context.render(
            template,
            status=self.refused if self.errors else 200,
            values=self.values,
            errors=self.errors,
            **variables,
        )

    def clean(self, text: str) -> str:
        """Return a text as it is kept."""
        return text

    def text(self, name: str, label: str = "", *, most: int = 0, least: int = 1) -> str:
        """Read a line or a paragraph. `least=0` allows an empty one."""
        text = self.values[name] = self.clean(self.context.field(name))
        self.check(name, text, label, most=most, least=least)
        return text

    def line(self, name: str, label: str = "", *, most: int = 0, least: int = 1) -> str:
        """Read a line: white space is collapsed."""
        text = self.values[name] = " ".join(self.clean(self.context.field(name)).split())
        self.check(name, text, label, most=most, least=least)
        return text

    def check(self, name: str, text: str, label: str, *, most: int = 0, least: int = 1) -> None:
        """Note whether a text is too short or too long."""
        most = most or self.most
        if not text and least:
            self.errors[name] = self.required.format(label=label)
        elif len(text) < least:
            self.errors[name] = f"{label} must have at least {least} characters."
        elif len(text) > most:
            self.errors[name] = self.too_long.format(label=label, most=most, length=len(text))

    def matching(
        self, name: str, label: str, pattern: str, message: str, *, most: int = 0, least: int = 1
    ) -> str:
        """Read a text that matches a regular expression, described by `message`."""
        text = self.text(name, label, most=most, least=least)
        if text and not re.fullmatch(pattern, text):
            self.errors[name] = message
        return text

    def amount(self, name: str, label: str, *, is_required: bool = True) -> int | None:
        """Read an amount of money."""
        text = self.values[name] = self.context.field(name)
        value = read_amount(text)
        if not text:
            if is_required:
                self.errors[name] = self.required.format(label=label)
        elif value is None:
            self.errors[name] = f"{label} must be an amount such as 24.90."
        return value

    def whole(self, name: str, label: str, low: int, high: int) -> int:
        """Read a whole number between two bounds."""
        text = self.values[name] = self.context.field(name)
        value = read_whole(text)
        if value is None or not low <= value <= high:
            self.errors[name] = f"{label} must be a whole number from {low} to {high}."
            return low
        return value

    def day(self, name: str, message: str, *, is_required: bool = True) -> str:
        """Read a day."""
        text = self.values[name] = self.context.field(name)
        value = read_day(text)
        if value is None and (text or is_required):
            self.errors[name] = message
        return value or ""

    def choice(self, name: str, allowed: Sequence[str], message: str) -> str:
        """Read the choice from a list box or of a group of radio buttons."""
        text = self.values[name] = self.context.field(name)
        if text not in allowed:
            self.errors[name] = message
        return text

    def typed(self, *names: str) -> dict[str, str]:
        """Read fields as they were typed, to be shown again."""
        values = {name: self.context.field(name) for name in names}
        self.values |= values
        return values

    def is_ticked(self, name: str) -> bool:
        """Read a check box."""
        self.values[name] = self.context.field(name)
        return bool(self.values[name])
