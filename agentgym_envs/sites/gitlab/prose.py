r"""Writes plain mark-up as HTML: headings, lists, code, paragraphs. Everything else is text.

A page has one `h1`, so a text's own headings begin at `h2`.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")


def prose(text: str) -> Markup:
    """Return a text as HTML."""
    parts = []
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip()):
        lines = block.split("\n")
        while lines and lines[0].startswith("#"):
            parts.append(_heading(lines.pop(0)))
        if lines and lines[0].strip():
            parts.append(_block(lines))
    return Markup("\n".join(parts))


def _heading(line: str) -> str:
    level = min(len(line) - len(line.lstrip("#")), 3) + 1
    return f"<h{level}>{_inline(line.lstrip('#').strip())}</h{level}>"


def _block(lines: list[str]) -> str:
    for pattern, tag in ((r"[-*] ", "ul"), (r"[0-9]+\. ", "ol")):
        if all(re.match(pattern, line) for line in lines):
            items = (f"<li>{_inline(re.sub(pattern, '', line, count=1))}</li>" for line in lines)
            return f"<{tag}>{''.join(items)}</{tag}>"
    return f"<p>{_inline(' '.join(lines))}</p>"


def _inline(text: str) -> str:
    html = str(escape(text))
    html = _CODE.sub(r"<code>\1</code>", html)
    return _BOLD.sub(r"<strong>\1</strong>", html)
