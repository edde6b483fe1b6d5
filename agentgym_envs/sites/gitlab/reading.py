"""Reads what people type into the forms: days, long texts, names for addresses."""

from __future__ import annotations

import re
from datetime import date

MAX_TITLE = 200
MAX_TEXT = 20_000

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SLUG = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_PATH = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_BRANCH = re.compile(r"[A-Za-z0-9]+(?:[-._/][A-Za-z0-9]+)*")


def is_day(text: str) -> bool:
    """Return whether a text is a day, `YYYY-MM-DD`."""
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def day_error(text: str) -> str:
    """Say what is wrong with an optional day; "" if nothing is."""
    return "" if not text or is_day(text) else "Write the day as YYYY-MM-DD, such as 2026-05-31."


def title_error(text: str, what: str = "a title") -> str:
    """Say what is wrong with a title; "" if nothing is."""
    if not text:
        return f"Enter {what}."
    if len(text) > MAX_TITLE:
        return f"At most {MAX_TITLE} characters."
    return ""


def text_error(text: str) -> str:
    """Say what is wrong with a long text; "" if nothing is."""
    return "" if len(text) <= MAX_TEXT else f"At most {MAX_TEXT:,} characters."


def slug_from(name: str) -> str:
    """Write a name as it stands in addresses; "" if nothing is left of it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-")


def is_slug(text: str) -> bool:
    """Return whether a text can stand for a project in addresses."""
    return len(text) <= 60 and bool(_SLUG.fullmatch(text))


def is_path(text: str) -> bool:
    """Return whether a text can be a file's path."""
    parts = text.split("/")
    return len(text) <= 120 and bool(_PATH.fullmatch(text)) and not {".", ".."} & set(parts)


def is_branch(text: str) -> bool:
    """Return whether a text can be a branch's name."""
    return len(text) <= 80 and bool(_BRANCH.fullmatch(text))


def like(text: str) -> str:
    """Write a text as a pattern for LIKE, with the backslash as its ESCAPE, to find it anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped[:200]}%"
