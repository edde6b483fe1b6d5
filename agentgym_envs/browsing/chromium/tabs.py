"""Keeps the tabs of one browser context, and which one is shown.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

import asyncio
import contextlib

from playwright.async_api import BrowserContext, Page

from agentgym_envs.browsing import refusals
from agentgym_envs.browsing.chromium.loading import QUIET_SECONDS
from agentgym_envs.browsing.chromium.reach import Reach
from agentgym_envs.browsing.chromium.tab import Tab
from agentgym_envs.errors import EnvFailure


class Tabs:
    """Some tabs.

    Args:
        context: whose they are.
        runs_scripts: whether the pages have scripts.
        reach: what the pages may ask for.

    Attributes:
        all: in the order in which they were opened.
        index: of the current one.
    """

    def __init__(self, context: BrowserContext, *, runs_scripts: bool, reach: Reach) -> None:
        self._context = context
        self._runs_scripts = runs_scripts
        self._reach = reach
        self._opened = asyncio.Event()
        self.all: list[Tab] = []
        self.index = 0
        context.on("page", lambda _: self._opened.set())

    @property
    def current(self) -> Tab:
        """The tab that is looked at.

        Raises:
            EnvFailure: no tab is open.
        """
        if not self.all:
            raise EnvFailure("the browser has no tab open")
        return self.all[self.index]

    async def add(self) -> None:
        """Open an empty tab and go to it."""
        await self._show(await self._context.new_page())

    async def focus(self, index: int) -> None:
        """Go to a tab.

        Raises:
            InvalidAction: there is no such tab.
        """
        if not 0 <= index < len(self.all):
            raise refusals.no_tab(index, len(self.all))
        self.index = index
        await self.current.page.bring_to_front()

    async def close(self) -> None:
        """Close the current tab. The last one is replaced by an empty one."""
        await self.current.page.close()
        await self._forget_closed()

    async def settle(self) -> None:
        """Wait for the current tab, and take notice of tabs that were opened and closed."""
        await self._forget_closed()
        await self.current.settle()
        opener = self.current
        if opener.has_opened:
            await self._follow()
            opener.has_opened = False

    async def _forget_closed(self) -> None:
        pages = self._context.pages
        self.all = [tab for tab in self.all if tab.page in pages]
        if not self.all:
            await self.add()
        self.index = min(self.index, len(self.all) - 1)

    async def _follow(self) -> None:
        """Go to the tab that the current page has opened, as a person would."""
        known = [tab.page for tab in self.all]
        with contextlib.suppress(TimeoutError):  # it may have been refused
            async with asyncio.timeout(QUIET_SECONDS):
                while all(page in known for page in self._context.pages):
                    self._opened.clear()
                    await self._opened.wait()
        for page in self._context.pages:
            if page not in known:
                await self._show(page)
                await self.current.settle()

    async def _show(self, page: Page) -> None:
        tab = await Tab.from_page(page, runs_scripts=self._runs_scripts, reach=self._reach)
        self.all.append(tab)
        self.index = len(self.all) - 1
