"""Runs Chromium: one process per Python process, shared by all of its episodes.

Starts it when it is first asked for; starts another when the last one is dead; ends it with the
Python process. Playwright's objects belong to one event loop, so a thread of its own runs that loop
and everybody else hands it work to do, each with a timeout.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import os
import shutil
import signal
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser, BrowserContext, CDPSession, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from agentgym_envs.browsing.chromium.per_process import OnePerProcess
from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.cancellation import on_cancel

VARIABLE = "AGENTGYM_CHROMIUM"
"""Environment variable that names the program."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_START_SECONDS = 60.0
_ANSWER_SECONDS = 5.0
_END_SECONDS = 5.0

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


def find_executable() -> Path | None:
    """Return the Chromium that the environment or PATH names, or None: then Playwright's own.

    Raises:
        ImportError: the environment names a file that is not there.
    """
    named = os.environ.get(VARIABLE)
    if named:
        executable = shutil.which(named)
        if executable is None:
            raise ImportError(f"{VARIABLE} is {named!r}, which is no program; unset or correct it")
        return Path(executable)
    for name in _NAMES:
        executable = shutil.which(name)
        if executable is not None:
            return Path(executable)
    return None


class Chromium:
    """A running Chromium and the thread that speaks to it.

    Raises:
        ImportError: there is no Chromium on this machine.
        EnvFailure: it does not start.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="webarena-chromium", daemon=True)
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._session: CDPSession | None = None
        self._closed = False
        self._ending = threading.Lock()
        self.pid = 0
        """The browser's process id."""
        self._thread.start()
        try:
            self._wait_for(self._launch(), _START_SECONDS, "start")
        except BaseException:
            self.kill()
            raise

    @property
    def alive(self) -> bool:
        """It can be used, as far as is known, and by this Python process."""
        return (
            self._owner == os.getpid()
            and not self._closed
            and self._browser is not None
            and self._browser.is_connected()
        )

    @property
    def version(self) -> str:
        """The running browser's version."""
        assert self._browser is not None
        version: str = self._browser.version
        return version

    def run(self, work: Coroutine[Any, Any, _T], *, timeout: float) -> _T:
        """Run work in the browser's thread, and wait for it.

        Where the work fails, or the calling thread is given up (`machinery.cancellation`), and the
        browser does not answer a question either, it is killed.

        Args:
            work: a coroutine that uses Playwright's objects.
            timeout: seconds.

        Raises:
            EnvFailure: the browser is dead, or too slow, or the work failed in it.
        """
        if not self.alive:
            work.close()
            raise EnvFailure("the browser has ended")
        try:
            with on_cancel(self._kill_if_silent):
                return self._wait_for(work, timeout, "answer")
        except EnvFailure:
            self._kill_if_silent()
            raise

    async def new_context(self, **options: Any) -> BrowserContext:
        """Open a Playwright browser context. Call it in the browser's thread."""
        assert self._browser is not None
        return await self._browser.new_context(**options)

    def kill(self) -> None:
        """Kill it at once. Pending requests fail."""
        if self._owner != os.getpid():
            return
        with self._ending:
            if self._closed:
                return
            self._closed = True
            if self.pid and self._browser is not None and self._browser.is_connected():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)
            self._end()

    def close(self) -> None:
        """End it in good order, within some seconds."""
        if self.alive:
            with contextlib.suppress(EnvFailure):
                assert self._browser is not None
                self._wait_for(self._browser.close(), _END_SECONDS, "close")
        self.kill()

    async def _launch(self) -> None:
        executable = find_executable()
        self._playwright = await async_playwright().start()
        if executable is None and not Path(self._playwright.chromium.executable_path).exists():
            raise ImportError(
                "The Chromium backend needs a Chromium, and none is on PATH: install your system's "
                "(apt install chromium), or Playwright's (playwright install chromium), or name "
                f"one in {VARIABLE}"
            )
        self._browser = await self._playwright.chromium.launch(
            executable_path=executable,
            # Root has no user namespace to build the sandbox in.
            chromium_sandbox=os.geteuid() != 0,
            # A page and what it frames, of whatever site, answer to one session: it reads them all,
            # and is asked about all that they ask for.
            args=["--disable-site-isolation-trials"],
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=_START_SECONDS * 1000,
        )
        self._session = await self._browser.new_browser_cdp_session()
        response = await self._session.send("SystemInfo.getProcessInfo")
        self.pid = next(p["id"] for p in response["processInfo"] if p["type"] == "browser")

    def _wait_for(self, work: Coroutine[Any, Any, _T], timeout: float, what: str) -> _T:
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as error:  # the loop is closed: another thread killed the browser
            work.close()
            raise EnvFailure("the browser was ended") from error
        try:
            return future.result(timeout)
        except TimeoutError as error:
            future.cancel()
            raise EnvFailure(f"the browser did not {what} within {timeout:g} s") from error
        except concurrent.futures.CancelledError as error:
            raise EnvFailure("the browser was ended") from error
        except PlaywrightError as error:
            raise EnvFailure(f"the browser failed: {error.message.splitlines()[0]}") from error

    def _kill_if_silent(self) -> None:
        """Kill a browser that is connected but answers nothing."""
        if not self.alive or self._session is None:
            self.kill()
            return
        try:
            self._wait_for(self._session.send("Browser.getVersion"), _ANSWER_SECONDS, "answer")
        except EnvFailure as error:
            _log.warning("killing Chromium: %s", error)
            self.kill()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _end(self) -> None:
        """End Playwright and the thread."""
        if self._playwright is not None:
            with contextlib.suppress(EnvFailure):
                self._wait_for(self._playwright.stop(), _END_SECONDS, "stop")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_END_SECONDS)


_SHARED: OnePerProcess[Chromium] = OnePerProcess(Chromium, bury=Chromium.kill)


def shared_chromium() -> Chromium:
    """Return this process's living Chromium, started if need be.

    Raises:
        ImportError: there is no Chromium on this machine.
        EnvFailure: it does not start.
    """
    return _SHARED.get()


def close_chromium() -> None:
    """End this process's Chromium, if it runs. The next episode starts another."""
    _SHARED.close()
