"""The token that a server asks for: read from the environment, sent, and never shown."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from agentgym_envs.errors import AccessDenied, EnvFailure
from agentgym_envs.machinery.secrets import keep_out

TOKEN_VARIABLE = "AGENTGYM_TOKEN"
_HEADER = "Authorization"
NOT_ALLOWED = 401
"""Status of an answer that wants another token."""


def authorization(token: str | None, url: str) -> dict[str, str]:
    """Return the header for a token or an address's password, or none.

    Args:
        token: the token; None takes the password of the address, else that of `AGENTGYM_TOKEN`.
        url: the server's address.

    Raises:
        ValueError: it holds what no header can.
    """
    parts = urlsplit(url)
    if token is None and parts.password is not None:
        user, password = unquote(parts.username or ""), unquote(parts.password)
        keep_out(password)
        return {_HEADER: f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}
    token = token if token is not None else os.environ.get(TOKEN_VARIABLE)
    if not token:
        return {}
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise ValueError(
            f"token must be one line of ASCII characters (what was given is not shown); give it as "
            f"token= or by the variable {TOKEN_VARIABLE}"
        )
    keep_out(token)
    return {_HEADER: f"Bearer {token}"}


def refusal_failure(text: str, status: int | None, headers: Mapping[str, str]) -> EnvFailure:
    """Return the error for a server's refusal, with the remedy where it wants a token.

    Args:
        text: what it did.
        status: of its answer; None where there was none.
        headers: of the request.
    """
    if status != NOT_ALLOWED:
        return EnvFailure(text)
    if _HEADER in headers:
        return AccessDenied(
            f"{text}; it does not take the token of token=, the address or {TOKEN_VARIABLE}"
        )
    return AccessDenied(f"{text}; it asks for a token: set the variable {TOKEN_VARIABLE}")
