"""A page of headless Chromium for the tests that need one; they are skipped where there is none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.viewer.index import Index
from benchmarks.viewer.server import ViewerServer

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start Chromium once; it is the machine's own, or Playwright's."""
    api = pytest.importorskip("playwright.sync_api", reason="needs the browser extra")
    from agentgym_envs.browsing.chromium.pool import find_executable

    with api.sync_playwright() as playwright:
        executable = find_executable()
        if executable is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("needs Chromium")
        browser = playwright.chromium.launch(executable_path=executable, chromium_sandbox=False)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """Return a fresh page of 1280 x 800; an error in its scripts fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def opened(page: Any) -> Iterator[Open]:
    """Return what serves a folder and opens an address of it: `opened(folder, "#sort=turns")`."""
    servers: list[tuple[ViewerServer, threading.Thread]] = []

    def open_(folder: Path, address: str = "") -> Any:
        server = ViewerServer(Index(folder))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        servers.append((server, thread))
        page.goto(server.url + address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_
    page.goto("about:blank")  # or its questions would meet a closed server
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()
