"""Plays one episode's actions in a browser context: its tabs, addresses and dialogs.

What an action does inside of a page is in `acts`. Everything here runs in the browser's thread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from playwright.async_api import BrowserContext, Dialog
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from agentgym_envs.browsing import addresses, refusals
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium import acts
from agentgym_envs.browsing.chromium.dialogs import Dialogs
from agentgym_envs.browsing.chromium.origins import Origins
from agentgym_envs.browsing.chromium.reach import Reach
from agentgym_envs.browsing.chromium.reading import Tree, read_tree
from agentgym_envs.browsing.chromium.tab import Gone, Tab
from agentgym_envs.browsing.chromium.tabs import Tabs
from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.errors import EnvFailure

_ERROR_PAGE = "chrome-error://"
_NO_ANSWER = re.compile(
    r"net::ERR_(ADDRESS|CONNECTION|EMPTY_RESPONSE|INTERNET|NAME|NETWORK|PROXY|SOCKET|SSL|TIMED)"
)
_OWN_ERRORS = ("SyntaxError", "Execution context was destroyed")
"""Words of the errors that an expression cannot catch: its syntax, and a page that went."""


@dataclass(frozen=True)
class Look:
    """The form in which a visit's pages are shown.

    Attributes:
        tree: one of `reading.TREES`.
        window: width and height of the window.
    """

    tree: str
    window: tuple[int, int]


class Visit:
    """A visit to some sites, in a browser context of its own.

    Args:
        context: the browser context.
        origins: how the sites' addresses are written.
        reach: what the pages may ask for.
        look: how the pages are shown.
        runs_scripts: whether the pages have scripts.
    """

    def __init__(
        self,
        context: BrowserContext,
        *,
        origins: Origins,
        reach: Reach,
        look: Look,
        runs_scripts: bool,
    ) -> None:
        self.context = context
        self._origins = origins
        self._reach = reach
        self._look = look
        self._runs_scripts = runs_scripts
        self._tabs = Tabs(context, runs_scripts=runs_scripts, reach=reach)
        self._dialogs = Dialogs(context)
        self._shown: Dialog | None = None

    async def set_cookies(self, cookies: Mapping[str, Mapping[str, str]]) -> None:
        """Set cookies, `{site: {name: value}}`."""
        await self.context.add_cookies(
            [
                {"name": name, "value": value, "url": self._origins.real_origins[site]}
                for site, values in cookies.items()
                for name, value in values.items()
            ]
        )

    async def open(self, url: str) -> None:
        """Open an address in a tab of its own."""
        await self._leave_dialog()
        await self._tabs.add()
        await self._dialogs.unless_opened(self._goto(url))

    async def show_first(self) -> None:
        """Go to the first tab."""
        await self._leave_dialog()
        await self._tabs.focus(0)

    async def act(self, action: WebAction, targets: Sequence[tuple[Node, int]]) -> None:
        """Carry out an action, or answer the dialog that waits.

        Args:
            action: what to do.
            targets: the nodes that it names, each with its backend id.

        Raises:
            InvalidAction: it cannot be done.
        """
        waiting = self._dialogs.current
        if waiting is None:
            await self._dialogs.unless_opened(self._do(action, targets))
            return
        if waiting is not self._shown:
            raise refusals.dialog_has_opened() from Gone()
        await self._dialogs.act(action, targets[0][0] if targets else None)
        if self._dialogs.current is None:
            await self._dialogs.unless_opened(self._settle())

    async def scroll(self, direction: str, share: float | None) -> bool:
        """Scroll the window, if its position counts. Return whether it moved.

        Raises:
            InvalidAction: a dialog waits.
        """
        if self._dialogs.current is not None:
            raise refusals.dialog_waits()
        if not (self._runs_scripts or self._look.tree == "webarena_window"):
            return False
        has_moved = await self._dialogs.unless_opened(self._scroll(direction, share))
        return has_moved is not False

    async def read(self) -> tuple[Page, Sequence[int]]:
        """Return the view of the page or its open dialog, and its nodes' backend ids."""
        waiting = self._dialogs.current
        seen = await self._dialogs.unless_opened(self._read()) if waiting is None else None
        self._shown = self._dialogs.current
        tab, titles = self._tabs.current, tuple(tab.title for tab in self._tabs.all)
        url, tree = seen or (tab.page.url, self._dialogs.tree(tab.title))
        url = self._origins.canonical(url)
        page = Page(url, tab.title, tree.root, titles, self._tabs.index, tree.ids)
        return page, tree.backends

    async def take_picture(self) -> bytes:
        """Return a picture of the window, as a PNG."""
        if self._dialogs.current is not None:  # the page gives no picture either
            return await self._dialogs.take_picture()
        picture: bytes = await self._tabs.current.page.screenshot(animations="disabled")
        return picture

    async def look_up(self, url: str, locator: str) -> str:
        """Evaluate an expression on a page, `""` on failure.

        Args:
            url: the page's address; `"last"` is the current one.
            locator: the expression; empty for the whole page's text.

        Raises:
            PlaywrightError: the browser failed, which says nothing about the page.
        """
        await self._leave_dialog()
        if url == "last":
            return await _evaluate(self._tabs.current.page, locator)
        page = await self.context.new_page()
        self._dialogs.unattended.add(page)
        try:
            tab = await Tab.from_page(page, runs_scripts=self._runs_scripts, reach=self._reach)
            await tab.goto(self._origins.real(url))
            return await _evaluate(page, locator)
        finally:
            await page.close()

    async def _leave_dialog(self) -> None:
        await self._dialogs.answer(is_accepted=False)

    async def _do(self, action: WebAction, targets: Sequence[tuple[Node, int]]) -> None:
        tab, kind = self._tabs.current, action.kind
        if targets:
            await acts.perform(tab, action, targets)
        elif kind == "press":
            await acts.press(tab, action.text)
        elif kind == "goto":
            await self._goto(action.text)
        else:
            await self._do_on_tabs(action)
        if kind != "hover" and not self._runs_scripts:
            # Where the pointer rests on the next page, a menu would open that nobody pointed at.
            await self._tabs.current.page.mouse.move(0, 0)
        await self._settle()

    async def _do_on_tabs(self, action: WebAction) -> None:
        if action.kind == "new_tab":
            await self._tabs.add()
        elif action.kind == "tab_focus":
            await self._tabs.focus(action.element)
        elif action.kind == "close_tab":
            await self._tabs.close()
        elif action.kind == "go_back":
            if not await self._tabs.current.travel(-1):
                raise refusals.nothing_before()
        elif action.kind == "go_forward":
            if not await self._tabs.current.travel(1):
                raise refusals.nothing_after()
        else:
            raise ValueError(f"{action.kind!r} is no action of a browser")

    async def _scroll(self, direction: str, share: float | None) -> bool:
        has_moved = await acts.scroll(self._tabs.current, direction, share)
        await self._settle()
        return has_moved

    async def _goto(self, url: str) -> None:
        try:
            await self._tabs.current.goto(self._origins.real(addresses.typed(url)))
        except PlaywrightError as error:
            if "invalid URL" in error.message:
                raise refusals.no_address(url) from error
            raise

    async def _settle(self) -> None:
        await self._tabs.settle()
        await self._check_that_it_came()

    async def _check_that_it_came(self) -> None:
        """Raise where Chromium shows an error of its own because a site does not answer."""
        tab = self._tabs.current
        if tab.page.url.startswith(_ERROR_PAGE) and _NO_ANSWER.match(tab.error):
            url = await tab.address()
            if self._origins.is_of_a_site(url):
                raise EnvFailure(f"{self._origins.canonical(url):.200}: {tab.error}")

    async def _read(self) -> tuple[str, Tree]:
        """Return the address and the tree of the current tab, and note all tabs' titles."""
        await self._check_that_it_came()
        tab, look = self._tabs.current, self._look
        tree = await read_tree(tab, look.tree, self._origins.canonical, look.window)
        for each in self._tabs.all:
            each.title = await each.page.title()
        is_error = tab.page.url.startswith(_ERROR_PAGE)
        return await tab.address() if is_error else tab.page.url, tree


async def _evaluate(page: PlaywrightPage, locator: str) -> str:
    expression = locator.rstrip("; \n") or "document.body ? document.body.innerText : ''"
    caught = f"async () => {{ try {{ return await ({expression}) }} catch {{ return '' }} }}"
    try:
        result = await page.evaluate(caught)
    except PlaywrightError as error:
        if page.is_closed() or not any(words in error.message for words in _OWN_ERRORS):
            raise
        return ""
    return "" if result is None else str(result)
