"""The parts that a report is made of, and how they are written as Markdown.

`benchmarks.report.html` writes the same parts as a page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.cli.listing import table


@dataclass(frozen=True)
class Heading:
    """A heading with plain text."""

    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph or a list, in Markdown."""

    markdown: str


@dataclass(frozen=True)
class Table:
    """Rows of plain text of equal lengths, the first one the header.

    Attributes:
        numbers_from: this column and those behind it hold numbers.
        has_total: the last column sums the others up.
        has_bars: draw rates with their intervals as bars, too.
        links: from a header cell's text to a heading's.
    """

    rows: Sequence[Sequence[str]]
    numbers_from: int = 1
    has_total: bool = False
    has_bars: bool = False
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Picture:
    """A picture: its title, and its file beside the report without the suffix."""

    title: str
    file: str


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side, where there is room."""

    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Fold:
    """Parts that a page shows on a click."""

    title: str
    parts: Sequence[Part]


Part = Heading | Text | Table | Gallery | Fold


def as_markdown(parts: Sequence[Part]) -> str:
    """Write parts as Markdown, with folds open under their titles."""
    return "\n\n".join(_markdown(part) for part in parts)


def _markdown(part: Part) -> str:
    match part:
        case Heading(level, text):
            return f"{'#' * level} {plain(text)}"
        case Text(markdown):
            return markdown
        case Table(rows, numbers_from):
            return table([[plain(cell) for cell in row] for row in rows], numbers_from=numbers_from)
        case Gallery(pictures):
            return "\n\n".join(f"![{plain(p.title)}]({p.file}.png)" for p in pictures)
        case Fold(title, parts):
            return f"**{plain(title)}**\n\n{as_markdown(parts)}"


def plain(text: str) -> str:
    """Escape Markdown's markup, since a run's folder may have any name."""
    return re.sub(r"([\\\[\]`*<]|(?<!\w)_|_(?!\w))", r"\\\1", text)
