"""What breaks is an EnvFailure in its time, and the next episode is played as if nothing was."""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from agentgym_envs import EnvFailure
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium import browser as browsers
from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from agentgym_envs.browsing.chromium.pool import (
    VARIABLE,
    Chromium,
    find_executable,
    shared_chromium,
)
from agentgym_envs.browsing.chromium.server import SiteServer, shared_server
from agentgym_envs.sites.state import SiteState
from tests.agentgym_envs.browsing import gallery

HOME = "http://homepage.test/"
LINK = WebAction("click", element=3)

needs_chromium = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]
pytestmark = needs_chromium


def begin(**options: object) -> ChromiumBrowser:
    browser = ChromiumBrowser(SiteState(), **options)  # type: ignore[arg-type]
    browser.open(HOME, {})
    return browser


def plays(browser: ChromiumBrowser) -> bool:
    browser.act(LINK)
    return browser.page().url == HOME


def parts_of(pid: int, kind: bytes) -> list[int]:
    """List Chromium's processes of a kind below one of its own."""
    parts = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            command = (status.parent / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == pid:
            own = int(status.parent.name)
            parts += ([own] if kind in command else []) + parts_of(own, kind)
    return parts


def test_a_killed_browser_fails_and_the_next_episode_has_another() -> None:
    browser = begin()
    old = shared_chromium().pid
    os.kill(old, signal.SIGKILL)
    with pytest.raises(EnvFailure):
        browser.act(LINK)
    with pytest.raises(EnvFailure):
        browser.page()
    browser.close()
    other = begin()
    assert shared_chromium().pid != old
    assert plays(other)
    other.close()


def test_a_hung_browser_fails_in_time_and_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = begin()
    hung = shared_chromium()
    monkeypatch.setattr(browsers, "TIMEOUT", 2.0)
    os.kill(hung.pid, signal.SIGSTOP)
    with pytest.raises(EnvFailure, match="did not answer within 2 s"):
        browser.act(LINK)
    assert not hung.alive
    monkeypatch.undo()
    browser.close()
    other = begin()
    assert plays(other)
    other.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_crashed_page_fails_at_once_and_leaves_other_episodes_alone() -> None:
    browser, chromium = begin(), shared_chromium()
    for pid in parts_of(chromium.pid, b"--type=renderer"):
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(EnvFailure, match="crashed"):
        browser.act(LINK)
    browser.close()
    other = begin()
    assert shared_chromium() is chromium
    assert plays(other)
    other.close()


def test_a_page_that_never_answers_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    hung, other = begin(), begin()
    chromium = shared_chromium()
    monkeypatch.setattr(browsers, "TIMEOUT", 2.0)
    with pytest.raises(EnvFailure):
        hung.look_up("last", "(() => { while (true) {} })()")
    monkeypatch.undo()
    assert chromium.alive
    assert plays(other)
    other.close()
    hung.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("part", ["browser", "page"])
def test_what_breaks_while_a_state_is_looked_up_gives_no_empty_answer(part: str) -> None:
    browser, chromium = begin(), shared_chromium()

    def kill() -> None:
        pages = parts_of(chromium.pid, b"--type=renderer")
        for pid in pages if part == "page" else [chromium.pid]:
            os.kill(pid, signal.SIGKILL)

    threading.Timer(0.5, kill).start()
    with pytest.raises(EnvFailure):
        browser.look_up("last", "new Promise(() => {})")
    browser.close()


def test_a_dead_server_fails_and_the_next_episode_has_another() -> None:
    browser = begin()
    shared_server().close()
    with pytest.raises(EnvFailure, match="server"):
        browser.act(LINK)
    browser.close()
    other = begin()
    assert plays(other)
    other.close()


def test_a_site_that_breaks_is_no_page() -> None:
    site = gallery.build()

    @site.get("/broken")
    def broken(visit: object) -> None:
        raise ZeroDivisionError("broken on purpose")

    server = SiteServer(sites=lambda name: site)
    browser = begin(server=server)
    with pytest.raises(EnvFailure, match="broken on purpose"):
        browser.act(WebAction("goto", text=f"{HOME}broken"))
    assert browser.page().url == f"{HOME}broken"
    browser.close()
    server.close()


def test_a_closed_episode_is_forgotten() -> None:
    server = SiteServer()
    browser = begin(server=server)
    assert len(server.episodes) == 1
    browser.close()
    browser.close()
    assert not server.episodes
    with pytest.raises(EnvFailure):
        browser.page()
    server.close()


def test_episodes_of_several_threads_share_one_browser_and_nothing_else() -> None:
    def play(number: int) -> list[str]:
        browser = ChromiumBrowser(SiteState())
        browser.open(f"{HOME}?mine={number}", {})
        urls = []
        for turn in range(3):
            browser.act(WebAction("goto", text=f"{HOME}?mine={number}&turn={turn}"))
            urls.append(browser.page().url)
        browser.close()
        return urls

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(play, range(6)))
    assert results == [[f"{HOME}?mine={n}&turn={t}" for t in range(3)] for n in range(6)]


def _play_in_child() -> str:
    browser = begin()
    url = browser.page().url
    browser.close()
    return url


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_starts_its_own_and_leaves_the_parents_alone() -> None:
    browser = begin()
    pid = shared_chromium().pid
    with get_context("fork").Pool(1) as pool:
        assert pool.apply(_play_in_child) == HOME
    assert shared_chromium().pid == pid
    assert plays(browser)
    browser.close()


def test_without_chromium_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv(VARIABLE, raising=False)
    assert find_executable() is None
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", "/nowhere")
    with pytest.raises(ImportError, match="playwright install chromium"):
        Chromium()
    monkeypatch.setenv(VARIABLE, "/no/such/chromium")
    with pytest.raises(ImportError, match="/no/such/chromium"):
        find_executable()


def test_the_named_chromium_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "my-chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(program))
    assert find_executable() == program
