"""Drives one tab of Chromium: opens addresses, waits until a page stands still, calls into nodes.

Everything here runs in the browser's thread.

Chromium does not say that an action has had its effect, so a tab follows the events of its main
frame: a navigation that was asked for is waited for until it has loaded, and a page that asked for
none is left when its own event loop has made a turn.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from playwright.async_api import CDPSession, Page, Request, Route
from playwright.async_api import Error as PlaywrightError

from agentgym_envs.errors import EnvFailure
from agentgym_envs.webarena.browsers.chromium.context import refuse_redirects

LOAD_SECONDS = 20.0
"""How long a page may take to load."""
QUIET_SECONDS = 5.0
"""How long a page's own requests are waited for, after it has loaded."""

_CACHE_MISS = "net::ERR_CACHE_MISS"

# Whatever a page's own event loop has set off before it answers this has been told before.
_QUESTION = {"expression": "0"}
_LATER_QUESTION = {"expression": "new Promise(done => setTimeout(done))", "awaitPromise": True}


class NoBox(Exception):
    """A node has no place on the page: it is not drawn."""


class Gone(Exception):
    """A node is no longer part of the page."""


def is_refusal(error: PlaywrightError) -> bool:
    """Return whether a living browser refused what it was asked, or else is gone."""
    message = error.message
    return "Protocol error" in message and "closed" not in message and "crashed" not in message


class Tab:
    """A tab.

    Args:
        page: Playwright's page.
        session: a session of the DevTools protocol with it.
        runs_scripts: whether pages have scripts, so that what they begin is waited for as well.

    Attributes:
        has_opened: whether the page has asked for another tab; whoever waits for that resets it.
        error: why the last page did not come, as Chromium calls it, such as `net::ERR_...`.
    """

    def __init__(self, page: Page, session: CDPSession, *, runs_scripts: bool) -> None:
        self.page = page
        self.session = session
        self._runs_scripts = runs_scripts
        self.has_opened = False
        self.error = ""
        self._navigation: Request | None = None
        self._posted: dict[int, str] = {}
        self._is_coming = False
        self._is_loading = False
        self._is_scheduled = False
        self._requests: set[str] = set()
        self._changed = asyncio.Event()
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._frame = ""

    @classmethod
    async def of(cls, page: Page, *, runs_scripts: bool, only: Sequence[str] = ()) -> Tab:
        """Take over a page of Playwright's.

        Args:
            page: the page.
            runs_scripts: whether it has scripts.
            only: the origins that it may be redirected to; none allows all.
        """
        session = await page.context.new_cdp_session(page)
        tab = cls(page, session, runs_scripts=runs_scripts)
        session.on("Page.windowOpen", tab._on_window)
        session.on("Page.frameRequestedNavigation", tab._on_requested)
        session.on("Page.frameScheduledNavigation", tab._on_scheduled)
        session.on("Page.frameStartedLoading", tab._on_started)
        session.on("Page.frameStoppedLoading", tab._on_stopped)
        session.on("Page.frameClearedScheduledNavigation", tab._on_settled)
        session.on("Page.navigatedWithinDocument", tab._on_settled)
        page.on("crash", tab._on_end)
        page.on("close", tab._on_end)
        page.on("request", tab._on_request)
        page.on("requestfinished", tab._on_answer)
        page.on("requestfailed", tab._on_answer)
        if runs_scripts:
            # Told by the page itself, before it answers a question; a gate tells of them later.
            session.on("Network.requestWillBeSent", tab._on_sent)
            session.on("Network.loadingFinished", tab._on_received)
            session.on("Network.loadingFailed", tab._on_received)
            await session.send("Network.enable")
        tree = await session.send("Page.getFrameTree")
        tab._frame = tree["frameTree"]["frame"]["id"]
        await session.send("Page.enable")
        if only:
            await refuse_redirects(session, only)
        return tab

    async def goto(self, url: str) -> None:
        """Open an address."""
        await self._send("Page.navigate", {"url": url})
        await self.settle()

    async def travel(self, by: int) -> bool:
        """Go through the tab's history; tell whether there was such an entry."""
        history = await self._send("Page.getNavigationHistory")
        index = history["currentIndex"] + by
        if not 0 <= index < len(history["entries"]):
            return False
        if by < 0 and history["entries"][index]["url"] == "about:blank" and index == 0:
            return False  # what every tab begins with, before its first page
        entry = history["entries"][index]["id"]
        if entry in self._posted:
            await self._show_again(entry)
        else:
            await self._navigate_to(entry)
        return True

    async def _navigate_to(self, entry: int) -> None:
        self._is_coming = True  # until it starts there is nothing to see of it
        await self._send("Page.navigateToHistoryEntry", {"entryId": entry})
        await self.settle()

    async def _show_again(self, entry: int) -> None:
        """Show a page that answered a POST as it was; nothing is posted again."""
        content = self._posted[entry]

        async def answer(route: Route) -> None:
            if route.request.is_navigation_request():
                await route.fulfill(content_type="text/html; charset=utf-8", body=content)
            else:
                await route.fallback()

        await self.page.route("**/*", answer)
        try:
            await self._navigate_to(entry)
            if self.error == _CACHE_MISS:
                self._is_coming = True
                await self._send("Page.reload")
                await self.settle()
        finally:
            await self.page.unroute("**/*", answer)

    async def address(self) -> str:
        """Return the address that the tab is at or, where nothing came, was to be at."""
        history = await self._send("Page.getNavigationHistory")
        return str(history["entries"][history["currentIndex"]]["url"])

    async def settle(self) -> None:
        """Wait until nothing more is coming.

        Raises:
            EnvFailure: the page crashed, or takes too long.
        """
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                await self._turn()
                while self._is_coming or self._is_loading:
                    self._changed.clear()
                    await self._changed.wait()
                    await self._turn()
        except TimeoutError as error:
            raise EnvFailure(f"a page did not load within {LOAD_SECONDS:g} s") from error
        await self._keep_what_was_posted()
        if self._runs_scripts:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(QUIET_SECONDS):
                    while self._requests:
                        self._changed.clear()
                        await self._changed.wait()
                        await self._turn()

    async def read(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the accessibility tree's nodes and the document, as the protocol has them."""
        # Enabled for this one question: else every change of the page would be reported.
        answers = await asyncio.gather(
            self._send("DOM.enable", {"includeWhitespace": "all"}),
            self._send("DOM.getDocument", {"depth": -1}),
            self._send("DOM.disable"),
            self._send("Accessibility.getFullAXTree"),
        )
        return answers[3]["nodes"], answers[1]["root"]

    async def call(self, node: int, function: str, *arguments: Any) -> Any:
        """Call a JavaScript function with a node as `this`.

        Args:
            node: its backend id.
            function: its source, such as `function () { this.focus(); }`.
            arguments: of JSON's types.

        Raises:
            Gone: there is no such node any more.
        """
        try:
            resolved = await self._send("DOM.resolveNode", {"backendNodeId": node})
        except PlaywrightError as error:
            if not is_refusal(error):
                raise
            raise Gone from error
        answer = await self._send(
            "Runtime.callFunctionOn",
            {
                "objectId": resolved["object"]["objectId"],
                "functionDeclaration": function,
                "arguments": [{"value": value} for value in arguments],
                "returnByValue": True,
                "userGesture": True,
            },
        )
        if "exceptionDetails" in answer:
            raise Gone
        return answer["result"].get("value")

    async def point(self, node: int) -> tuple[float, float]:
        """Scroll a node into view, and return a point of it.

        Raises:
            NoBox: it has none.
        """
        where = {"backendNodeId": node}
        try:
            await self._send("DOM.scrollIntoViewIfNeeded", where)
            quads = (await self._send("DOM.getContentQuads", where))["quads"]
        except PlaywrightError as error:
            if not is_refusal(error):
                raise
            raise NoBox from error
        for quad in quads:
            xs, ys = quad[0::2], quad[1::2]
            if max(xs) - min(xs) >= 1 and max(ys) - min(ys) >= 1:
                return sum(xs) / 4, sum(ys) / 4
        raise NoBox

    async def _keep_what_was_posted(self) -> None:
        """Keep the page if it answers a POST: Chromium does not, while requests pass a gate."""
        request, self._navigation = self._navigation, None
        if request is not None and request.method == "POST" and not self.error:
            response = await request.response()
            if response is not None:
                history = await self._send("Page.getNavigationHistory")
                entry = history["entries"][history["currentIndex"]]["id"]
                self._posted[entry] = await response.text()

    async def _send(self, method: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Send a command of the protocol; a page that crashes would never answer."""
        question = None if parameters is None else dict(parameters)
        answer = asyncio.ensure_future(self.session.send(method, question))
        try:
            await asyncio.wait((answer, self._end), return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise EnvFailure("a page crashed, or was closed")
        finally:
            answer.cancel()

    def _check_that_it_lives(self) -> None:
        if self._end.done():
            raise EnvFailure("a page crashed, or was closed")

    async def _turn(self) -> None:
        """Let the page's event loop make a turn; what an action set off has begun after it."""
        # A page that is just being left forgets the question; its events say how it goes on.
        with contextlib.suppress(PlaywrightError):
            question = _LATER_QUESTION if self._runs_scripts else _QUESTION
            await self._send("Runtime.evaluate", question)
        self._check_that_it_lives()

    def _on_window(self, _: Mapping[str, Any]) -> None:
        self.has_opened = True

    def _on_requested(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and event["disposition"] == "currentTab":
            # A script's address runs in the page and loads nothing.
            self._note(is_coming=not event["url"].lower().startswith("javascript:"))

    def _on_scheduled(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and event["delay"] == 0:
            self._is_scheduled = True  # by a page that may still be loading
            self._note(is_coming=not self._is_loading)

    def _on_started(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self._is_loading = True
            self._is_scheduled = False
            self._requests.clear()  # of the page that is being left
            self._note(is_coming=False)

    def _on_stopped(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self._is_loading = False
            self._note(is_coming=self._is_scheduled)

    def _on_settled(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self._is_scheduled = False
            self._note(is_coming=False)

    def _on_end(self, _: Page) -> None:
        if not self._end.done():
            self._end.set_result(None)
        self._note(is_coming=False)

    def _on_request(self, request: Request) -> None:
        if request.is_navigation_request():
            self._navigation, self.error = request, ""

    def _on_answer(self, request: Request) -> None:
        if request.is_navigation_request() and request.failure:
            self.error = request.failure

    def _on_sent(self, event: Mapping[str, Any]) -> None:
        if event.get("type") != "Document":  # those are what is loading
            self._requests.add(event["requestId"])

    def _on_received(self, event: Mapping[str, Any]) -> None:
        self._requests.discard(event["requestId"])
        self._changed.set()

    def _note(self, *, is_coming: bool) -> None:
        self._is_coming = is_coming
        self._changed.set()
