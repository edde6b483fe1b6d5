"""Plays an episode in a real browser, which works in a thread of its own.

What is done there is in `visit`.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from agentgym_envs.browsing import addresses, refusals
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium import acts
from agentgym_envs.browsing.chromium.context import (
    Answering,
    add_headers,
    make_forms_plain,
    open_context,
)
from agentgym_envs.browsing.chromium.loading import (
    LOAD_SECONDS,
    QUIET_SECONDS,
    watch_timers,
)
from agentgym_envs.browsing.chromium.origins import Origins
from agentgym_envs.browsing.chromium.pool import Chromium, shared_chromium
from agentgym_envs.browsing.chromium.reach import Reach
from agentgym_envs.browsing.chromium.server import Episode, SiteServer, shared_server
from agentgym_envs.browsing.chromium.tab import Gone
from agentgym_envs.browsing.chromium.visit import Look, Visit
from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.errors import EnvFailure, InvalidAction
from agentgym_envs.sites.state import SiteState

VIEWPORT = (1280, 720)
TIMEOUT = 3 * LOAD_SECONDS + QUIET_SECONDS
"""Seconds that anything may take before the browser counts as hung."""

_T = TypeVar("_T")


class ChromiumBrowser:
    """A browser of one episode: a context of its own in the process's one Chromium.

    Args:
        state: the episode's databases of the embedded sites. No other address can be opened then.
            None is for sites that somebody else serves.
        origins: `{site: address}` of those.
        services: what their pages may ask beside the sites themselves, such as a map's router.
        headers: further HTTP headers that go with each request to a site: `{site: {name: value}}`.
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
        headers: Mapping[str, Mapping[str, str]] | None = None,
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
        self._reached = [_origin(url) for url in (*(origins or {}).values(), *services)]
        self._headers = {
            _origin((origins or {})[site]): values for site, values in (headers or {}).items()
        }
        self._own_server = server
        self._answer = answer
        self._server: SiteServer | None = None
        self._episode: Episode | None = None
        self._chromium: Chromium | None = None
        self._visit: Visit | None = None
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
            reach = Reach([*self._episode.origins.values()], is_redirected=False)
        else:
            reach = Reach(self._reached, is_redirected=self._answer is None)
        self._run(self._begin(reach))
        self._run(self._open_visit.set_cookies(cookies))
        for address in (url, *others):
            self._run(self._open_visit.open(address))
        if others:
            self._run(self._open_visit.show_first())

    def act(self, action: WebAction) -> None:
        """Carry out an action."""
        targets = self._targets(action)
        page, self._page = self._page, None
        try:
            self._run(self._open_visit.act(action, targets))
        except InvalidAction as error:
            if not isinstance(error.__cause__, Gone):
                self._page = page
            raise

    def scroll(self, direction: str, share: float | None = None) -> bool:
        """Move the window, where pages have scripts or the window alone is shown."""
        self._page = None
        return self._run(self._open_visit.scroll(direction, share))

    def page(self) -> Page:
        """Return the current page."""
        if self._page is None:
            self._page, self._backends = self._run(self._open_visit.read())
        return self._page

    def look_up(self, url: str, locator: str) -> str:
        """Evaluate a JavaScript expression on a page."""
        return self._origins.canonical(self._run(self._open_visit.look_up(url, locator)))

    def cookies(self, site: str) -> dict[str, str]:
        """Return the cookies that a site has set: `{name: value}`."""
        if self._visit is None:
            return {}
        cookies = self._run(self._visit.context.cookies(self._origins.real_origins[site]))
        return {cookie["name"]: cookie["value"] for cookie in cookies}

    def screenshot(self) -> bytes:
        """Return a PNG of the window, the last one if the recording has ended."""
        if self._last_picture is not None:
            return self._last_picture
        return self._run(self._open_visit.take_picture())

    def end_recording(self) -> Path:
        """End the recording and return its file, a HAR.

        The last page can still be looked at, but nothing more can be done in this browser: Chromium
        gives the recording away only as it closes.

        Raises:
            EnvFailure: there is no recording, or it was lost.
        """
        if self._har is None or self._visit is None or self._chromium is None:
            raise EnvFailure("no network traffic is being recorded")
        self.page()
        self._last_picture = self.screenshot()
        visit, self._visit = self._visit, None
        self._chromium.run(visit.context.close(), timeout=TIMEOUT)
        return self._har

    def close(self) -> None:
        """Release all resources. Safe to call twice."""
        visit, self._visit = self._visit, None
        self._page = self._last_picture = None
        try:
            if visit is not None and self._chromium is not None and self._chromium.alive:
                self._chromium.run(visit.context.close(), timeout=TIMEOUT)
        except EnvFailure:
            pass  # it is gone, which is what was wanted
        finally:
            if self._episode is not None and self._server is not None:
                self._server.forget(self._episode)
            self._episode = None

    # In this thread ---------------------------------------------------------------------------

    @property
    def _open_visit(self) -> Visit:
        if self._visit is None:
            raise EnvFailure("the browser is closed")
        return self._visit

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

    async def _begin(self, reach: Reach) -> None:
        assert self._chromium is not None
        context = await open_context(
            self._chromium, viewport=self._viewport, har=self._har, reach=reach, answer=self._answer
        )
        await add_headers(context, self._headers)
        if self._episode is not None:
            await make_forms_plain(context)
        elif self._answer is None:
            await watch_timers(context)
        self._visit = Visit(
            context,
            origins=self._origins,
            reach=reach,
            look=Look(self._tree, self._viewport),
            runs_scripts=self._episode is None,
        )


def _origin(address: str) -> str:
    """Return an address's origin as Chromium writes it."""
    return addresses.origin(addresses.normal(address) or address)
