"""Serves the task pages of the `miniwob` package to a browser.

The package's Python part, which drives a browser by Selenium, is never imported.
"""

from __future__ import annotations

import mimetypes
import re
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

from agentgym_envs.browsing.chromium.context import Reply
from agentgym_envs.errors import MissingExtra

ORIGIN = "http://miniwob.test"

_SCRIPT = "/agentgym.js"
_HEAD = "<head>"


def page_url(task: str) -> str:
    """Return the address of a task's page."""
    return f"{ORIGIN}/miniwob/{task}.html"


def package_version() -> str:
    """Return the version of the package that the pages come from."""
    return version("miniwob")


@cache
def pages_folder() -> Path:
    """Return the folder of the package that holds the pages and their files.

    Raises:
        ImportError: the package is not installed, or holds no pages.
    """
    spec = find_spec("miniwob")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    for place in places:
        folder = Path(place).resolve() / "html"
        if folder.is_dir():
            return folder
    raise MissingExtra("miniwob", "MiniWoB", "no package miniwob with pages")


def answer(url: str) -> Reply | None:
    """Answer a browser's request from the package's files, or None for anything else."""
    if not url.startswith(f"{ORIGIN}/"):
        return None
    path = unquote(re.split("[?#]", url.removeprefix(ORIGIN))[0])
    if path == _SCRIPT:
        return Reply("text/javascript; charset=utf-8", _own_script())
    if not path.isprintable():
        return None
    file = (pages_folder() / path.lstrip("/")).resolve()
    if not file.is_relative_to(pages_folder()) or not file.is_file():
        return None
    content = file.read_bytes()
    if file.suffix == ".html":
        own = f'{_HEAD}<script src="{_SCRIPT}"></script>'
        content = content.replace(_HEAD.encode(), own.encode(), 1)
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    is_text = kind.startswith("text/")
    return Reply(f"{kind}; charset=utf-8" if is_text else kind, content)


@cache
def _own_script() -> bytes:
    return Path(__file__).with_name("page.js").read_bytes()
