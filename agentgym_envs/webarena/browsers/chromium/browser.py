"""Plays an episode in a real browser: tabs, addresses and cookies.

What an action does inside of a page is in `acts`.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import BrowserContext, Dialog
from playwright.async_api import Error as PlaywrightError

from agentgym_envs.errors import EnvFailure, InvalidAction
from agentgym_envs.webarena.actions import WebAction
from agentgym_envs.webarena.browsers import addresses, refusals
from agentgym_envs.webarena.browsers.chromium import acts
from agentgym_envs.webarena.browsers.chromium.context import (
    Answering,
    make_forms_plain,
    open_context,
)
from agentgym_envs.webarena.browsers.chromium.dialogs import Dialogs
from agentgym_envs.webarena.browsers.chromium.loading import (
    LOAD_SECONDS,
    QUIET_SECONDS,
    watch_timers,
)
from agentgym_envs.webarena.browsers.chromium.look_up import evaluate
from agentgym_envs.webarena.browsers.chromium.origins import Origins
from agentgym_envs.webarena.browsers.chromium.pool import Chromium, shared_chromium
from agentgym_envs.webarena.browsers.chromium.reach import Reach
from agentgym_envs.webarena.browsers.chromium.reading import Tree, read_tree
from agentgym_envs.webarena.browsers.chromium.server import Episode, SiteServer, shared_server
from agentgym_envs.webarena.browsers.chromium.tab import Gone, Tab
from agentgym_envs.webarena.browsers.chromium.tabs import Tabs
from agentgym_envs.webarena.page import Node, Page
from agentgym_envs.webarena.sites.state import SiteState

VIEWPORT = (1280, 720)
TIMEOUT = 3 * LOAD_SECONDS + QUIET_SECONDS
"""Seconds that anything may take before the browser counts as hung."""

_ERROR_PAGE = "chrome-error://"
_NO_ANSWER = re.compile(
    r"net::ERR_(ADDRESS|CONNECTION|EMPTY_RESPONSE|INTERNET|NAME|NETWORK|PROXY|SOCKET|SSL|TIMED)"
)
_T = TypeVar("_T")


class ChromiumBrowser:
    """A browser of one episode: a context of its own in the process's one Chromium.

    Args:
        state: the episode's databases of the embedded sites. No other address can be opened then.
            None is for sites that somebody else serves.
        origins: `{site: address}` of those.
        services: what their pages may ask beside the sites themselves, such as a map's router.
        server: serves the embedded sites; None takes the process's own.
        answer: answers all requests in the network's place, where there is no `state`.
        viewport: width and height of the window.
        har: a file for the network traffic of the episode; see `end_recording`.
        tree: how pages are shown, one of `reading.TREES`.

    Raises:
        ImportError: there is no Chromium on this machine.
    """

    def __init__(
        self,
        state: SiteState | None = None,
        *,
        origins: Mapping[str, str] | None = None,
        services: Sequence[str] = (),
        server: SiteServer | None = None,
        answer: Answering | None = None,
        viewport: tuple[int, int] = VIEWPORT,
        har: Path | None = None,
        tree: str = "short",
    ) -> None:
        self._state = state
        self._tree = tree
        self._viewport = viewport
        self._har = har
        self._origins = Origins(origins or {})
        is_open = state is None and answer is None
        reached = map(_origin, [*(origins or {}).values(), *services])
        self._reach = Reach(tuple(reached), is_redirected=is_open)
        self._own_server = server
        self._answer = answer
        self._server: SiteServer | None = None
        self._episode: Episode | None = None
        self._chromium: Chromium | None = None
        self._context: BrowserContext | None = None
        self._open_tabs: Tabs | None = None
        self._open_dialogs: Dialogs | None = None
        self._shown_dialog: Dialog | None = None
        self._page: Page | None = None
        self._last_picture: bytes | None = None
        self._backends: Sequence[int] = ()

    # The protocol -----------------------------------------------------------------------------

    def open(
        self, url: str, cookies: Mapping[str, Mapping[str, str]], others: Sequence[str] = ()
    ) -> None:
        """Begin an episode: a tab for each address, the first shown."""
        self.close()
        self._chromium = shared_chromium()
        if self._state is not None:
            self._server = self._own_server or shared_server()
            self._episode = self._server.open(self._state)
            self._origins = Origins(self._episode.origins)
            self._reach = Reach([*self._episode.origins.values()], is_redirected=False)
        self._run(self._begin(cookies))
        for address in (url, *others):
            self._run(self._open_behind(address))
        if others:
            self._run(self._tabs.focus(0))

    def act(self, action: WebAction) -> None:
        """Carry out an action."""
        targets = self._targets(action)
        page, self._page = self._page, None
        try:
            self._run(self._perform(action, targets))
        except InvalidAction as error:
            if not isinstance(error.__cause__, Gone):
                self._page = page
            raise

    def scroll(self, direction: str, share: float | None = None) -> bool:
        """Move the window, where pages have scripts or the window alone is shown."""
        is_felt = self._state is None or self._tree == "webarena_window"
        if not is_felt or self._dialogs.current is not None:
            return False
        self._page = None
        return bool(self._run(self._dialogs.unless_opened(self._scroll(direction, share))))

    def page(self) -> Page:
        """Return the current page."""
        if self._page is None:
            self._page, self._backends = self._run(self._read())
        return self._page

    def look_up(self, url: str, locator: str) -> str:
        """Return what a JavaScript expression gives on a page."""
        return self._origins.canonical(self._run(self._look_up(url, locator)))

    def cookies(self, site: str) -> dict[str, str]:
        """Return the cookies that a site has set: `{name: value}`."""
        if self._context is None:
            return {}
        cookies = self._run(self._context.cookies(self._origins.real_origins[site]))
        return {cookie["name"]: cookie["value"] for cookie in cookies}

    def screenshot(self) -> bytes:
        """Return what the window shows, or showed when the recording ended, as a PNG."""
        if self._last_picture is not None:
            return self._last_picture
        return self._run(self._take_picture())

    def end_recording(self) -> Path:
        """End the recording and return its file, a HAR.

        The last page can still be looked at, but nothing more can be done in this browser: Chromium
        gives the recording away only as it closes.

        Raises:
            EnvFailure: there is no recording, or it was lost.
        """
        if self._har is None or self._context is None or self._chromium is None:
            raise EnvFailure("no network traffic is being recorded")
        self.page()
        self._last_picture = self.screenshot()
        context, self._context = self._context, None
        self._open_tabs = self._open_dialogs = None
        self._chromium.run(context.close(), timeout=TIMEOUT)
        return self._har

    def close(self) -> None:
        """Release everything; safe to call twice."""
        context, self._context = self._context, None
        self._open_tabs = self._open_dialogs = self._page = self._last_picture = None
        try:
            if context is not None and self._chromium is not None and self._chromium.alive:
                self._chromium.run(context.close(), timeout=TIMEOUT)
        except EnvFailure:
            pass  # it is gone, which is what was wanted
        finally:
            if self._episode is not None and self._server is not None:
                self._server.forget(self._episode)
            self._episode = None

    # In this thread ---------------------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run work in the browser's thread, and wait until the server is done with it too."""
        if self._server is not None and not self._server.alive:
            work.close()
            raise EnvFailure("the sites' server has ended")
        if self._chromium is None:
            work.close()
            raise EnvFailure("the browser was never opened")
        result = self._chromium.run(work, timeout=TIMEOUT)
        if self._episode is not None:
            self._episode.wait(LOAD_SECONDS)
        return result

    def _targets(self, action: WebAction) -> list[tuple[Node, int]]:
        """Return the nodes that an action names, each with its backend id."""
        page = self.page()
        if action.kind not in acts.ON_NODES:
            return []
        targets = []
        for element in (action.element, action.onto)[: 2 if action.kind == "drag" else 1]:
            place = page.place(element)
            if place is None:
                raise refusals.no_element(element, page)
            targets.append((page.nodes[place], self._backends[place]))
        return targets

    # In the browser's thread ------------------------------------------------------------------

    @property
    def _tabs(self) -> Tabs:
        if self._open_tabs is None:
            raise EnvFailure("the browser is closed")
        return self._open_tabs

    @property
    def _dialogs(self) -> Dialogs:
        if self._open_dialogs is None:
            raise EnvFailure("the browser is closed")
        return self._open_dialogs

    async def _begin(self, cookies: Mapping[str, Mapping[str, str]]) -> None:
        assert self._chromium is not None
        self._context = await open_context(
            self._chromium,
            viewport=self._viewport,
            har=self._har,
            reach=self._reach,
            answer=self._answer,
        )
        if self._episode is not None:
            await make_forms_plain(self._context)
        elif self._answer is None:
            await watch_timers(self._context)
        await self._context.add_cookies(
            [
                {"name": name, "value": value, "url": self._origins.real_origins[site]}
                for site, values in cookies.items()
                for name, value in values.items()
            ]
        )
        self._open_tabs = Tabs(self._context, runs_scripts=self._episode is None, reach=self._reach)
        self._open_dialogs = Dialogs(self._context)

    async def _open_behind(self, url: str) -> None:
        """Open an address in a tab of its own; a dialog that waits in the one before goes."""
        await self._dialogs.answer(is_accepted=False)
        await self._tabs.add()
        await self._dialogs.unless_opened(self._goto(url))

    async def _perform(self, action: WebAction, targets: Sequence[tuple[Node, int]]) -> None:
        waiting = self._dialogs.current
        if waiting is None:
            await self._dialogs.unless_opened(self._do(action, targets))
            return
        if waiting is not self._shown_dialog:
            raise refusals.dialog_has_opened() from Gone()
        await self._dialogs.act(action, targets[0][0] if targets else None)
        if self._dialogs.current is None:
            await self._dialogs.unless_opened(self._settle())

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
        await self._settle()

    async def _settle(self) -> None:
        await self._tabs.settle()
        await self._check_that_it_came()

    async def _scroll(self, direction: str, share: float | None) -> bool:
        has_moved = await acts.scroll(self._tabs.current, direction, share)
        await self._settle()
        return has_moved

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

    async def _goto(self, url: str) -> None:
        try:
            await self._tabs.current.goto(self._origins.real(addresses.typed(url)))
        except PlaywrightError as error:
            if "invalid URL" in error.message:
                raise refusals.no_address(url) from error
            raise

    async def _check_that_it_came(self) -> None:
        """Raise where Chromium shows an error of its own because a site does not answer."""
        tab = self._tabs.current
        if tab.page.url.startswith(_ERROR_PAGE) and _NO_ANSWER.match(tab.error):
            url = await tab.address()
            if self._origins.is_of_a_site(url):
                raise EnvFailure(f"{self._origins.canonical(url):.200}: {tab.error}")

    async def _read(self) -> tuple[Page, Sequence[int]]:
        waiting = self._dialogs.current
        seen = await self._dialogs.unless_opened(self._look()) if waiting is None else None
        self._shown_dialog = self._dialogs.current
        tabs = self._tabs
        titles = tuple(tab.title for tab in tabs.all)
        if seen is None:
            seen = tabs.current.page.url, Tree(self._dialogs.tree(tabs.current.title), [0] * 5)
        url, tree = seen
        page = Page(
            self._origins.canonical(url),
            titles[tabs.index],
            tree.root,
            titles,
            tabs.index,
            tree.ids,
        )
        return page, tree.backends

    async def _look(self) -> tuple[str, Tree]:
        """Return the address and the tree of the current tab, and note all tabs' titles."""
        await self._check_that_it_came()
        tab = self._tabs.current
        tree = await read_tree(tab, self._tree, self._origins.canonical, self._viewport)
        for each in self._tabs.all:
            each.title = await each.page.title()
        is_error = tab.page.url.startswith(_ERROR_PAGE)
        return await tab.address() if is_error else tab.page.url, tree

    async def _take_picture(self) -> bytes:
        if self._dialogs.current is not None:  # the page gives no picture either
            return await self._dialogs.take_picture()
        return await self._tabs.current.page.screenshot(animations="disabled")

    async def _look_up(self, url: str, locator: str) -> str:
        assert self._context is not None
        await self._dialogs.answer(is_accepted=False)
        if url == "last":
            return await evaluate(self._tabs.current.page, locator)
        page = await self._context.new_page()
        self._dialogs.unattended.add(page)
        try:
            tab = await Tab.of(page, runs_scripts=self._episode is None, reach=self._reach)
            await tab.goto(self._origins.real(url))
            return await evaluate(page, locator)
        finally:
            await page.close()


def _origin(address: str) -> str:
    """Return an address's origin as Chromium writes it."""
    return addresses.origin(addresses.normal(address) or address)
