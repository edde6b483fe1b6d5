"""What an HTTP response says: its JSON, what went wrong, and how long to wait."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from agentgym_envs.machinery.secrets import masked

_NO_CREDIT = ("insufficient_quota", "insufficient_credits", "billing_hard_limit")
"""Codes of a 429 that waiting does not end."""


class WebPage(ValueError):
    """The answer is a web page, which a wrong address mostly gives."""


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that the server asks to wait (RFC 9110: a number or a date), if it does.

    `retry-after-ms` is OpenAI's finer form.
    """
    finer, text = response.headers.get("retry-after-ms"), response.headers.get("retry-after", "")
    try:
        if finer is not None:
            return max(0.0, float(finer) / 1000)
        if text.strip().replace(".", "", 1).isdigit():
            return float(text)
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def has_no_credit(response: httpx.Response) -> bool:
    """Return whether waiting would not end a 429."""
    return any(code in response.text for code in _NO_CREDIT)


def json_of(response: httpx.Response) -> Any:
    """Return the JSON that a server answered.

    Raises:
        WebPage: it is a web page.
        ValueError: it is something else.
    """
    try:
        return response.json()
    except ValueError:
        if response.text.lstrip().startswith("<"):
            raise WebPage(f"a web page in place of JSON: {_page_text(response)}") from None
        raise


def _page_text(response: httpx.Response) -> str:
    """Return what a page or a plain text says, without tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", str(masked(response.text))).split())[:300]


def message_of(response: httpx.Response) -> str:
    """Return what went wrong, in the server's words, without secrets."""
    try:
        answer = response.json()
    except ValueError:
        return _page_text(response)
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    if not isinstance(error, dict):
        return str(masked(str(error)))[:300]
    message, code = str(error.get("message", error)), error.get("code")
    if isinstance(code, str) and code not in message:
        message = f"{message[:250]} ({code})"
    return str(masked(message))[:300]
