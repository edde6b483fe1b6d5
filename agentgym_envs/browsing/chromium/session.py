"""Speaks the DevTools protocol with one page, and notices when the page ends.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from agentgym_envs.errors import EnvFailure


def is_refusal(error: PlaywrightError) -> bool:
    """Return whether an error is a live browser's refusal, not its death."""
    message = error.message
    return "Protocol error" in message and "closed" not in message and "crashed" not in message


class Session:
    """A session of the DevTools protocol.

    Args:
        page: the page that it is with.
        cdp: Playwright's session.
    """

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self.page = page
        self.cdp = cdp
        self.end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the page has crashed or was closed."""
        page.on("crash", self._on_end)
        page.on("close", self._on_end)

    async def send(self, method: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Send a command and return its answer. Fails if the page crashes.

        Raises:
            EnvFailure: the page has crashed, or was closed.
        """
        question = None if parameters is None else dict(parameters)
        answer = asyncio.ensure_future(self.cdp.send(method, question))
        try:
            await asyncio.wait((answer, self.end), return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise EnvFailure("a page crashed, or was closed")
        finally:
            answer.cancel()

    def check_that_it_lives(self) -> None:
        """Raise `EnvFailure` once the page has crashed or was closed."""
        if self.end.done():
            raise EnvFailure("a page crashed, or was closed")

    def _on_end(self, _: Page) -> None:
        if not self.end.done():
            self.end.set_result(None)
