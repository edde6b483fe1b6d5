"""Writes a report's parts as one HTML page that needs no other file.

Drawings become part of the page, in its own ink, so that they follow its light and dark colours.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from benchmarks.report.blocks import Fold, Gallery, Heading, Part, Picture, Table, Text
from benchmarks.report.plots import INK
from benchmarks.report.style import STYLE

_RATE = re.compile(r"([\d.]+)% \(([\d.]+) to ([\d.]+)\)")
_INTERVAL = re.compile(r"(\([^()]* to [^()]*\))")


def as_page(parts: Sequence[Part], folder: Path) -> str:
    """Return the page.

    Args:
        parts: of the report; the first one is its heading.
        folder: where the pictures are, as their files are named from.
    """
    title = parts[0].text if isinstance(parts[0], Heading) else ""
    body = "\n".join(_html(part, folder) for part in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>\n{STYLE}</style></head>"
        f"<body><main>\n{body}\n</main></body></html>\n"
    )


def _html(part: Part, folder: Path) -> str:
    match part:
        case Heading(level, text):
            name = f' id="{_anchor(text)}"' if level == 2 else ""
            return f"<h{level}{name}>{escape(text)}</h{level}>"
        case Text(markdown):
            # "js-default" keeps HTML in policies' names as text.
            return str(MarkdownIt("js-default", {"html": False}).render(markdown)).strip()
        case Table():
            return _table(part)
        case Gallery(pictures):
            return f'<div class="gallery">{"".join(_figure(p, folder) for p in pictures)}</div>'
        case Fold(title, parts):
            inner = "\n".join(_html(inner, folder) for inner in parts)
            return f"<details><summary>{escape(title)}</summary>\n{inner}\n</details>"


def _table(part: Table) -> str:
    head, *body = part.rows
    links = dict(part.links)
    cells = [
        f'<a href="#{_anchor(links[cell])}">{escape(cell)}</a>' if cell in links else escape(cell)
        for cell in head
    ]
    lines = [_row("th", cells, part.numbers_from)]
    for row in body:
        cells = [_cell(cell) + (_bar(cell) if part.has_bars else "") for cell in row]
        lines.append(_row("td", cells, part.numbers_from))
    kind = ' class="total"' if part.has_total else ""
    return (
        f'<div class="scroll" tabindex="0"><table{kind}><thead>{lines[0]}</thead>\n'
        f"<tbody>{''.join(lines[1:])}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    """Set intervals small, and let paths break after their slashes."""
    broken = escape(text).replace("/", "/<wbr>")
    return _INTERVAL.sub(r"<small>\1</small>", broken)


def _bar(text: str) -> str:
    """Return a rate and its interval as a bar from 0 to 100%; empty for any other text."""
    match = _RATE.fullmatch(text)
    if match is None:
        return ""
    value, low, high = match.groups()
    return f'<span class="bar" aria-hidden="true" style="--v:{value};--l:{low};--h:{high}"></span>'


def _row(tag: str, cells: Sequence[str], numbers_from: int) -> str:
    return "<tr>" + "".join(
        f'<{tag} class="n">{cell}</{tag}>' if place >= numbers_from else f"<{tag}>{cell}</{tag}>"
        for place, cell in enumerate(cells)
    ) + "</tr>\n"  # fmt: skip


def _anchor(text: str) -> str:
    """Return a text as the name of an element; different texts stay different."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return plain if plain == text else f"{plain or 'part'}-{zlib.crc32(text.encode()):08x}"


def _figure(picture: Picture, folder: Path) -> str:
    drawing = folder / f"{picture.file}.svg"
    if drawing.exists():
        shown = _inline(drawing.read_text(encoding="utf-8"), _anchor(picture.file), picture.title)
        return f"<figure>{shown}</figure>"
    image = b64encode((folder / f"{picture.file}.png").read_bytes()).decode()
    title = escape(picture.title)
    return (
        f'<figure><img alt="{title}" src="data:image/png;base64,{image}">'
        f"<figcaption>{title}</figcaption></figure>"
    )


def _inline(svg: str, name: str, title: str) -> str:
    """Return a drawing of matplotlib's as a part of the page.

    Its names are made its own, since several drawings share the page, and its ink the page's.
    """
    svg = re.sub(r"^.*?(?=<svg)", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    label = escape(title)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    return svg.replace(INK, "currentColor").strip()
