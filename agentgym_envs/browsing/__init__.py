"""Browsers: carry out actions and show pages. One protocol, two backends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Page


class Browser(Protocol):
    """A browser of one episode.

    An action that cannot be done raises `InvalidAction` with a message for the policy, and changes
    nothing. A browser that hangs or dies raises `EnvFailure`.
    """

    def open(
        self, url: str, cookies: Mapping[str, Mapping[str, str]], others: Sequence[str] = ()
    ) -> None:
        """Begin an episode: a tab at `url`, which is shown, and tabs behind it.

        Args:
            url: canonical address of the first page.
            cookies: for each site, the cookies that are set before: `{site: {name: value}}`.
            others: addresses of the pages in the tabs behind.
        """

    def act(self, action: WebAction) -> None:
        """Carry out an action (not `scroll` and `stop`, which are the environment's)."""

    def scroll(self, direction: str, share: float | None = None) -> bool:
        """Move the window, where pages have scripts that may follow it.

        Args:
            direction: `"up"` or `"down"`, by the window's height.
            share: where to instead, from 0, the top of the page, to 1, its end.

        Returns:
            Whether it has moved.
        """

    def page(self) -> Page:
        """Return the current page. The same object until an action changes the browser."""

    def look_up(self, url: str, locator: str) -> str:
        """Evaluate a JavaScript expression on a page, for the evaluators.

        Args:
            url: of the page, loaded apart from the tabs with the episode's cookies; `"last"` means
                the current page.
            locator: such as `document.querySelector('h1').outerText`; empty for the whole page's
                text. What the backend cannot evaluate gives the empty string.
        """

    def close(self) -> None:
        """Release all resources. Safe to call twice."""
