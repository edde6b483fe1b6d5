"""The page's files: separate for the server, or one file for the export."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from math import isfinite
from typing import Any

from trainers.metrics import table_json

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
PAGE = "index.html"
MAIN = "main.js"
METRIC_TABLE = "metric_table.js"
_IMPORT = re.compile(r'^import \{([^}]+)\} from "\./([\w.]+)";$', re.M)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|class) (\w+)", re.M)
_STYLE = re.compile(r'^ *<link rel="stylesheet" href="(\w+\.css)">$', re.M)
_SCRIPT = re.compile(r'^ *<script type="module" src="main\.js"></script>$', re.M)


def strict_json(values: Any) -> str:
    """Return values as JSON for a browser, with null for numbers that are not finite."""
    try:
        return json.dumps(values, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(values), separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return each of the page's files and its content type, by name.

    The table of metrics, as JSON, is one of them.
    """
    contents = {}
    for file in files("benchmarks.viewer").joinpath("static").iterdir():
        kind = CONTENT_TYPES.get(f".{file.name.rpartition('.')[2]}")
        if kind is not None:
            contents[file.name] = (file.read_bytes(), kind)
    table = f"export const METRICS = {strict_json(table_json())};\n"
    contents[METRIC_TABLE] = (table.encode(), CONTENT_TYPES[".js"])
    return contents


def one_page(data: Iterator[tuple[str, str]], *, title: str) -> Iterator[str]:
    """Yield the text of one HTML file with the whole page.

    `data` are element ids and base64 texts, and `title` is HTML.
    """
    texts = {name: body.decode() for name, (body, _) in page_files().items()}
    style = "\n".join(texts[name] for name in _STYLE.findall(texts[PAGE]))
    script = bundle(texts, MAIN)
    _refuse_tags(style, script)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = _STYLE.sub("", texts[PAGE])
    page = page.replace(
        "<title>agentgym view</title>",
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{title}</title>\n<style>{style}</style>",
    )
    before, after = _SCRIPT.split(page)
    yield before
    for name, text in data:
        yield f'<script type="application/octet-stream" id="{name}">{text}</script>\n'
    yield f'<script type="module">{script}</script>{after}'


def bundle(texts: dict[str, str], main: str) -> str:
    """Return the module of file `main` and all modules that it imports as one module.

    Each module becomes a function that is called once, which keeps their names apart.

    Raises:
        ValueError: a module has an unsupported import or export.
    """
    parts: list[str] = []
    for name in _in_order(texts, main):
        text = _IMPORT.sub(
            lambda match: f"const {{{match[1]}}} = {_variable(match[2])};", texts[name]
        )
        names = [match[1] for match in _EXPORT.findall(text)]
        text = _EXPORT.sub(r"\1 \2", text)
        if strange := re.search(r"^(?:import|export)\b.*", text, re.M):
            raise ValueError(
                f'{name} holds {strange[0]!r}; write import {{ a }} from "./b.js"; and '
                "export before a function, const or class"
            )
        parts.append(
            f"const {_variable(name)} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();"
        )
    return "\n".join(parts)


def _in_order(texts: dict[str, str], main: str) -> list[str]:
    """Return the modules that `main` needs, each after those it imports."""
    ordered: dict[str, None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"modules import each other: {' -> '.join((*path, name))}")
        if name not in ordered:
            for _, needed in _IMPORT.findall(texts[name]):
                visit(needed, (*path, name))
            ordered[name] = None

    visit(main, ())
    return list(ordered)


def _variable(file: str) -> str:
    return "module_" + file.removesuffix(".js")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def _refuse_tags(style: str, script: str) -> None:
    for text, end in ((style, "</style"), (script, "</script"), (script, "<!--")):
        if end in text:
            raise ValueError(f"the page's own files hold {end!r}, which would end an element early")
