"""Leaves everything out where the `web` extra is not installed."""

from __future__ import annotations

from importlib.util import find_spec

_EXTRA = ("cssselect", "jinja2", "lxml", "python_multipart", "starlette")

collect_ignore_glob = [] if all(map(find_spec, _EXTRA)) else ["*"]
