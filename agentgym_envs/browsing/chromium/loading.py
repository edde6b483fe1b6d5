"""Follows the loading of one tab's page, and waits until the page stands still.

Chromium does not say that an action has had its effect, so the events of the tab's main frame are
followed: a navigation that was asked for is waited for until it has loaded, and a page that asked
for none is left when its own event loop has made a turn. A page with scripts may fill itself later:
what it has asked for, its timers and its changes are waited for too, within bounds.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from agentgym_envs.browsing.chromium.session import Session
from agentgym_envs.errors import EnvFailure

LOAD_SECONDS = 20.0
"""Time limit of a page's loading."""
QUIET_SECONDS = 5.0
"""Time limit for a loaded page with scripts to become still."""

# Whatever a page's own event loop has set off before it answers this has been told before.
_QUESTION = {"expression": "0"}
_LATER_QUESTION = {"expression": "new Promise(done => setTimeout(done))", "awaitPromise": True}

_STILL = "() => window.agentgymStill && window.agentgymStill()"


async def watch_timers(context: BrowserContext) -> None:
    """Have the pages of a context tell when they stand still, by their timers and changes."""
    await context.add_init_script(Path(__file__).with_name("still.js").read_text("utf-8"))


class Loading:
    """The loading state of a tab's page.

    Args:
        session: with the page.
        runs_scripts: whether pages have scripts, so that what they begin is waited for as well.

    Attributes:
        frame: the id of the page's main frame; set by `follow`.
        is_coming: whether a navigation was asked for that has not started yet.
    """

    def __init__(self, session: Session, *, runs_scripts: bool) -> None:
        self.frame = ""
        self.is_coming = False
        self._session = session
        self._runs_scripts = runs_scripts
        self._is_loading = False
        self._is_scheduled = False
        self._requests: set[str] = set()
        self._num_sent = 0
        self._changed = asyncio.Event()
        session.end.add_done_callback(lambda _: self._note(is_coming=False))

    async def follow(self) -> None:
        """Begin to follow the page."""
        cdp = self._session.cdp
        cdp.on("Page.frameRequestedNavigation", self._on_requested)
        cdp.on("Page.frameScheduledNavigation", self._on_scheduled)
        cdp.on("Page.frameStartedLoading", self._on_started)
        cdp.on("Page.frameStoppedLoading", self._on_stopped)
        cdp.on("Page.frameClearedScheduledNavigation", self._on_settled)
        cdp.on("Page.navigatedWithinDocument", self._on_settled)
        if self._runs_scripts:
            # Told by the page itself, before it answers a question; a gate tells of them later.
            cdp.on("Network.requestWillBeSent", self._on_sent)
            cdp.on("Network.loadingFinished", self._on_received)
            cdp.on("Network.loadingFailed", self._on_received)
            await cdp.send("Network.enable")
        tree = await cdp.send("Page.getFrameTree")
        self.frame = tree["frameTree"]["frame"]["id"]
        await cdp.send("Page.enable")

    async def settle(self) -> None:
        """Wait until nothing more is coming.

        Raises:
            EnvFailure: the page crashed, or takes longer than `LOAD_SECONDS` to load.
        """
        await self._finish()
        if self._runs_scripts:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(QUIET_SECONDS):
                    await self._stand_still()
            await self._finish()  # what has begun meanwhile

    async def _finish(self) -> None:
        """Wait until no navigation is coming or loading."""
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                await self._turn()
                while self._is_moving:
                    await self._change()
        except TimeoutError as error:
            raise EnvFailure(f"a page did not load within {LOAD_SECONDS:g} s") from error

    async def _stand_still(self) -> None:
        """Wait until the page has nothing more to come: no request, no timer and no change."""
        before = -1
        while self._requests or self._is_moving or before != self._num_sent:
            while self._requests or self._is_moving:
                await self._change()
            before = self._num_sent
            await self._timers()

    @property
    def _is_moving(self) -> bool:
        return self.is_coming or self._is_loading

    async def _timers(self) -> None:
        """Wait for the timers and changes of the page and its frames."""
        frames = [frame.evaluate(_STILL) for frame in self._session.page.frames]
        for result in await asyncio.gather(*frames, return_exceptions=True):
            # A frame that is just being left forgets the question.
            if isinstance(result, BaseException) and not isinstance(result, PlaywrightError):
                raise result
        self._session.check_that_it_lives()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
        await self._turn()

    async def _turn(self) -> None:
        """Let the page's event loop turn once, so that an action's effects have begun."""
        # A page that is just being left forgets the question; its events say how it goes on.
        with contextlib.suppress(PlaywrightError):
            question = _LATER_QUESTION if self._runs_scripts else _QUESTION
            await self._session.send("Runtime.evaluate", question)
        self._session.check_that_it_lives()

    def _on_requested(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self.frame and event["disposition"] == "currentTab":
            # A script's address runs in the page and loads nothing.
            self._note(is_coming=not event["url"].lower().startswith("javascript:"))

    def _on_scheduled(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self.frame and event["delay"] == 0:
            self._is_scheduled = True  # by a page that may still be loading
            self._note(is_coming=not self._is_loading)

    def _on_started(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self.frame:
            self._is_loading = True
            self._is_scheduled = False
            self._requests.clear()  # of the page that is being left
            self._note(is_coming=False)

    def _on_stopped(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self.frame:
            self._is_loading = False
            self._note(is_coming=self._is_scheduled)

    def _on_settled(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self.frame:
            self._is_scheduled = False
            self._note(is_coming=False)

    def _on_sent(self, event: Mapping[str, Any]) -> None:
        if event.get("type") != "Document":  # those are what is loading
            self._requests.add(event["requestId"])
            self._num_sent += 1

    def _on_received(self, event: Mapping[str, Any]) -> None:
        self._requests.discard(event["requestId"])
        self._changed.set()

    def _note(self, *, is_coming: bool) -> None:
        self.is_coming = is_coming
        self._changed.set()
