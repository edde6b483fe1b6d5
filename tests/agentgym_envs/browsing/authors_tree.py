"""Runs what WebArena's authors published for the accessibility tree, from a checkout of theirs.

`AGENTGYM_WEBARENA` names the checkout (github.com/web-arena-x/webarena); nothing of it is here.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

VARIABLE = "AGENTGYM_WEBARENA"
needs_authors = pytest.mark.skipif(
    VARIABLE not in os.environ,
    reason=f"needs a checkout of web-arena-x/webarena named by {VARIABLE}",
)

Send = Callable[[str, Mapping[str, Any]], Any]
"""Sends a command of the DevTools protocol and returns its answer."""

_PACKAGE = "browser_env"
_BACKEND = "backendDOMNodeId"
_DIGITS = str.maketrans("0123456789", "".join(chr(0x660 + digit) for digit in range(10)))


class _Client:
    """Stands for their session with the page.

    The boxes of text within lines are not told, which Chromium did not tell in their time. Ids are
    written in other digits: their code drops a text that the lines before hold, ids included, and
    which numbers those are is chance. Where the whole page is told, no rectangle is looked at.
    """

    def __init__(self, send: Send, *, measures: bool) -> None:
        self._send = send
        self._measures = measures

    def send(self, method: str, parameters: Mapping[str, Any] | None = None) -> Any:
        if method != "Accessibility.getFullAXTree":
            assert self._measures
            return self._send(method, parameters or {})
        nodes = self._send(method, {})["nodes"]
        ids = {n["nodeId"]: n["nodeId"].translate(_DIGITS) for n in nodes if _BACKEND in n}
        told = [
            {
                **node,
                "nodeId": ids[node["nodeId"]],
                "parentId": ids.get(node.get("parentId")),
                "childIds": [ids[child] for child in node["childIds"] if child in ids],
            }
            for node in nodes
            if node["nodeId"] in ids
        ]
        return {"nodes": told}


def authors_lines(send: Send, window: tuple[int, int], *, window_only: bool) -> list[str]:
    """Return the lines of a page as their code writes them, without ids.

    Args:
        send: asks the page.
        window: its width and height.
        window_only: whether only what the window shows is told.
    """
    width, height = window
    processor = _processors().TextObervationProcessor(
        "accessibility_tree", window_only, {"width": width, "height": height}
    )
    info = {"DOMTree": {}, "config": {"win_width": width, "win_height": height}}
    tree = processor.fetch_page_accessibility_tree(
        info, _Client(send, measures=window_only), current_viewport_only=window_only
    )
    text, _ = processor.parse_accessibility_tree(tree)
    return without_ids(processor.clean_accesibility_tree(text).split("\n"))


def without_ids(lines: list[str]) -> list[str]:
    """Return lines without the ids in brackets, which have no meaning of their own."""
    return [re.sub(r"^(\t*)\[\d+\]", r"\1", line) for line in lines]


def _processors() -> Any:
    """Import their module; what it needs for pictures is hollow."""
    hollow = {name: ModuleType(name) for name in (_PACKAGE, "PIL", "PIL.Image")}
    hollow[_PACKAGE].__path__ = [str(Path(os.environ[VARIABLE]) / _PACKAGE)]
    vars(hollow["PIL"])["Image"] = hollow["PIL.Image"]
    saved = {name: sys.modules.get(name) for name in hollow}
    sys.modules.update(hollow)
    try:
        return importlib.import_module(f"{_PACKAGE}.processors")
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == _PACKAGE]:
            del sys.modules[name]
        for name, module in saved.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module
