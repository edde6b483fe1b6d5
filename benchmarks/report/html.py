"""Writes a report's parts as one HTML page that needs no other file.

Drawings become part of the page, in its own ink, so that they follow its light and dark colours.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from benchmarks.report.blocks import Heading, Part, Picture, Table
from benchmarks.report.plots import INK

_RATE = re.compile(r"([\d.]+)% \(([\d.]+) to ([\d.]+)\)")
_INTERVAL = re.compile(r"(\([^()]* to [^()]*\))")


def as_page(parts: Sequence[Part], folder: Path) -> str:
    """Return the page of a report's parts, with pictures from a folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "anchor": _anchor,
        "cell": _cell,
        "drawing": _drawing,
        "head_cells": _head_cells,
        "markdown": _markdown,
        "png": _png,
    }
    title = parts[0].text if isinstance(parts[0], Heading) else ""
    page = environment.get_template("page.html")
    return page.render(title=title, parts=parts, folder=folder)


def _markdown(text: str) -> Markup:
    # "js-default" keeps HTML in policies' names as text.
    return Markup(str(MarkdownIt("js-default", {"html": False}).render(text)).strip())


def _head_cells(table: Table) -> list[str]:
    links = dict(table.links)
    link = Markup('<a href="#{}">{}</a>')
    return [link.format(_anchor(links[c]), c) if c in links else c for c in table.rows[0]]


def _cell(text: str, *, bar: bool) -> Markup:
    """Set intervals small, let paths break after slashes, and draw a rate as a `bar`."""
    broken = _INTERVAL.sub(r"<small>\1</small>", str(escape(text)).replace("/", "/<wbr>"))
    rate = _RATE.fullmatch(text) if bar else None
    if rate is not None:
        value, low, high = rate.groups()
        style = f"--v:{value};--l:{low};--h:{high}"
        broken += f'<span class="bar" aria-hidden="true" style="{style}"></span>'
    return Markup(broken)


def _anchor(text: str) -> str:
    """Return a text as a unique element id."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return plain if plain == text else f"{plain or 'part'}-{zlib.crc32(text.encode()):08x}"


def _png(picture: Picture, folder: Path) -> str:
    return b64encode((folder / f"{picture.file}.png").read_bytes()).decode()


def _drawing(picture: Picture, folder: Path) -> Markup | None:
    """Return a matplotlib drawing as a part of the page, or None.

    Its names are made its own, since several drawings share the page, and its ink the page's.
    """
    file, name = folder / f"{picture.file}.svg", _anchor(picture.file)
    if not file.exists():
        return None
    svg = re.sub(r"^.*?(?=<svg)", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(picture.title)}" ', 1)
    return Markup(svg.replace(INK, "currentColor").strip())
