"""Describes a post before it has an author."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Draft:
    """A post before it has an author.

    Attributes:
        flair: its kind, one of `FLAIRS`.
        title: one line.
        body: paragraphs, an empty line between them; may be empty for a link.
        url: where a link leads, or None.
        gear: the product that it is about, or "".
    """

    flair: str
    title: str
    body: str
    url: str | None = None
    gear: str = ""
