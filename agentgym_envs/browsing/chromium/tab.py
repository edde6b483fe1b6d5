"""Drives one tab of Chromium: opens addresses, reads pages, calls into nodes.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Route

from agentgym_envs.browsing.chromium.loading import Loading
from agentgym_envs.browsing.chromium.reach import Reach
from agentgym_envs.browsing.chromium.session import Session, is_refusal
from agentgym_envs.browsing.chromium.tree import AxNode

_CACHE_MISS = "net::ERR_CACHE_MISS"


class NoBox(Exception):
    """A node has no place on the page: it is not drawn."""


class Gone(Exception):
    """A node is no longer part of the page."""


class Tab:
    """A tab.

    Args:
        page: Playwright's page.
        session: a session of the DevTools protocol with it.
        runs_scripts: whether pages have scripts.

    Attributes:
        runs_scripts: as given.
        has_opened: whether the page has asked for another tab; whoever waits for that resets it.
        title: of the page when it was last read.
        error: why the last page did not come, as Chromium calls it, such as `net::ERR_...`.
    """

    def __init__(self, page: Page, session: Session, *, runs_scripts: bool) -> None:
        self.page = page
        self.runs_scripts = runs_scripts
        self.has_opened = False
        self.title = ""
        self.error = ""
        self._session = session
        self._loading = Loading(session, runs_scripts=runs_scripts)
        self._navigation: Request | None = None
        self._posted: dict[int, str] = {}

    @classmethod
    async def from_page(cls, page: Page, *, runs_scripts: bool, reach: Reach) -> Tab:
        """Take over a page of Playwright's.

        Args:
            page: the page.
            runs_scripts: whether it has scripts.
            reach: what it may ask for.
        """
        cdp = await page.context.new_cdp_session(page)
        tab = cls(page, Session(page, cdp), runs_scripts=runs_scripts)
        cdp.on("Page.windowOpen", tab._on_window)
        page.on("request", tab._on_request)
        page.on("requestfinished", tab._on_answer)
        page.on("requestfailed", tab._on_answer)
        await tab._loading.follow()
        if await reach.watch(page, cdp):
            await tab._reload()
        return tab

    async def goto(self, url: str) -> None:
        """Open an address."""
        await self._session.send("Page.navigate", {"url": url})
        await self.settle()

    async def travel(self, by: int) -> bool:
        """Go through the tab's history. Return whether there was such an entry."""
        history = await self._session.send("Page.getNavigationHistory")
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
        self._loading.is_coming = True  # until it starts there is nothing to see of it
        await self._session.send("Page.navigateToHistoryEntry", {"entryId": entry})
        await self.settle()

    async def _show_again(self, entry: int) -> None:
        """Show a page that answered a POST again, without posting again."""
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
                await self._reload()
        finally:
            await self.page.unroute("**/*", answer)

    async def _reload(self) -> None:
        self._loading.is_coming = True
        await self._session.send("Page.reload")
        await self.settle()

    async def address(self) -> str:
        """Return the address that the tab is at or, where nothing came, was to be at."""
        history = await self._session.send("Page.getNavigationHistory")
        return str(history["entries"][history["currentIndex"]]["url"])

    async def settle(self) -> None:
        """Wait until nothing more is coming.

        Raises:
            EnvFailure: the page crashed, or takes too long.
        """
        await self._loading.settle()
        await self._keep_what_was_posted()

    async def read(self) -> tuple[list[AxNode], Mapping[str, Any]]:
        """Return the accessibility tree's nodes and the document, as the protocol has them."""
        # Piercing tells of frames, which plain pages have none of.
        has_frames = len(self.page.frames) > 1
        # Enabled for this one question: else every change of the page would be reported.
        answers = await asyncio.gather(
            self._session.send("DOM.enable", {"includeWhitespace": "all"}),
            self._session.send("DOM.getDocument", {"depth": -1, "pierce": has_frames}),
            self._session.send("DOM.disable"),
            self.read_tree(),
        )
        return answers[3], answers[1]["root"]

    async def read_tree(self, frame: str | None = None) -> list[AxNode]:
        """Return the accessibility nodes of the page or of a frame, none if it is gone."""
        where = {} if frame is None else {"frameId": frame}
        try:
            answer = await self._session.send("Accessibility.getFullAXTree", where)
        except PlaywrightError as error:
            if frame is None or not is_refusal(error):
                raise
            return []
        return list(answer["nodes"])

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
            resolved = await self._session.send("DOM.resolveNode", {"backendNodeId": node})
        except PlaywrightError as error:
            if not is_refusal(error):
                raise
            raise Gone from error
        answer = await self._session.send(
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
            await self._session.send("DOM.scrollIntoViewIfNeeded", where)
            quads = (await self._session.send("DOM.getContentQuads", where))["quads"]
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
                history = await self._session.send("Page.getNavigationHistory")
                entry = history["entries"][history["currentIndex"]]["id"]
                self._posted[entry] = await response.text()

    def _on_window(self, _: Mapping[str, Any]) -> None:
        self.has_opened = True

    def _on_request(self, request: Request) -> None:
        if self._is_for_the_tab(request):
            self._navigation, self.error = request, ""

    def _on_answer(self, request: Request) -> None:
        if self._is_for_the_tab(request) and request.failure:
            self.error = request.failure

    def _is_for_the_tab(self, request: Request) -> bool:
        """Return whether a request asks for the tab's page, not for that of a frame."""
        return bool(request.is_navigation_request() and request.frame == self.page.main_frame)
