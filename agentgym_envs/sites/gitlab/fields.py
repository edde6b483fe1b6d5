"""Reads the code host's forms, in its words, and the names that stand in addresses."""

from __future__ import annotations

import re

from agentgym_envs.sites.forms import Fields

MAX_TEXT = 20_000
_SLUG = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_PATH = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
_BRANCH = re.compile(r"[A-Za-z0-9]+(?:[-._/][A-Za-z0-9]+)*")


class ForgeFields(Fields):
    """The fields of a posted form of the code host."""

    required = "Enter {label}."
    too_long = "At most {most:,} characters."

    def prose(self, name: str) -> str:
        """Read a long text, which may be left out."""
        return self.text(name, most=MAX_TEXT, least=0)

    def comment(self, name: str) -> str:
        """Read a long text."""
        text = self.prose(name)
        if not text:
            self.errors[name] = "Write something first."
        return text

    def optional_day(self, name: str) -> str | None:
        """Read a day, which may be left out."""
        message = "Write the day as YYYY-MM-DD, such as 2026-05-31."
        return self.day(name, message, is_required=False) or None


def slug_from(name: str) -> str:
    """Turn a name into a slug, "" if nothing is left."""
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
