"""Evaluates expressions on pages, for the evaluators of tasks.

Everything here runs in the browser's thread.
"""

from __future__ import annotations

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

_OWN_ERRORS = ("SyntaxError", "Execution context was destroyed")
"""Words of the errors that an expression cannot catch itself: its own, and that its page went."""


async def evaluate(page: Page, locator: str) -> str:
    """Return what an expression gives, `""` where it fails.

    Raises:
        PlaywrightError: the browser failed, which says nothing about the page.
    """
    expression = locator.rstrip("; \n") or "document.body ? document.body.innerText : ''"
    caught = f"async () => {{ try {{ return await ({expression}) }} catch {{ return '' }} }}"
    try:
        result = await page.evaluate(caught)
    except PlaywrightError as error:
        if page.is_closed() or not any(words in error.message for words in _OWN_ERRORS):
            raise
        return ""
    return "" if result is None else str(result)
