"""A browser that stands still, for what reads one and does not play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.sites.state import SiteState
from agentgym_envs.webarena.evaluators import Ending, Judge


class StillBrowser:
    """Shows one page.

    Args:
        url: its address.
        found: what locators give, by (url, locator).
        shown: the page, if it is to be another than an empty one.
    """

    def __init__(
        self,
        url: str = "http://shopping.test/",
        found: Mapping[tuple[str, str], str] | None = None,
        shown: Page | None = None,
    ) -> None:
        self._page = shown or Page(url, "Still", Node("RootWebArea", "Still"), ("Still",))
        self._found = found or {}
        self.asked: list[tuple[str, str]] = []

    def open(
        self, url: str, cookies: Mapping[str, Mapping[str, str]], others: Sequence[str] = ()
    ) -> None:
        raise AssertionError("it stands still")

    def act(self, action: WebAction) -> None:
        raise AssertionError("it stands still")

    def scroll(self, direction: str, share: float | None = None) -> bool:
        return False

    def page(self) -> Page:
        return self._page

    def look_up(self, url: str, locator: str) -> str:
        self.asked.append((url, locator))
        return self._found.get((url, locator), "")

    def close(self) -> None:
        pass


class Functions:
    """The sites' part of the helper functions, by hand."""

    def latest_order_url(self) -> str:
        return "http://shopping.test/orders/7"

    def latest_review(self, sku: str) -> tuple[str, str]:
        return {"A-1": ("Ida Quill", "80")}.get(sku, ("", ""))

    def member_role(self, browser: object, url: str, username: str) -> str:
        return "Developer" if (url, username) == ("last", "ida.quill") else ""


class StrictJudge:
    """Takes answers that begin alike for equal."""

    def is_equivalent(self, *, question: str, reference: str, answer: str) -> bool:
        return answer[:3] == reference[:3].lower()

    def is_same_reason(self, *, task: str, reason: str, report: str) -> bool:
        return reason.lower() in report


def ending(
    answer: str = "",
    *,
    browser: StillBrowser | None = None,
    state: SiteState | None = None,
    judge: Judge | None = None,
) -> Ending:
    """Return how an episode ended."""
    return Ending("What is it?", answer, browser or StillBrowser(), Functions(), state, judge)
