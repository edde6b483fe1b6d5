"""The token that a server asks for: read from the environment, sent, and never shown."""

from __future__ import annotations

import os

from agentgym_envs.secrets import keep_out

TOKEN_VARIABLE = "AGENTGYM_TOKEN"
TOKEN_REMEDY = f"; it asks for a token: set the variable {TOKEN_VARIABLE}"


def authorization(token: str | None) -> dict[str, str]:
    """Return the header that holds a token; none where neither is given.

    Args:
        token: the token; None reads it from `AGENTGYM_TOKEN`.

    Raises:
        ValueError: it holds what no header can.
    """
    token = token if token is not None else os.environ.get(TOKEN_VARIABLE)
    if not token:
        return {}
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise ValueError(
            f"token must be one line of ASCII characters (what was given is not shown); give it as "
            f"token= or by the variable {TOKEN_VARIABLE}"
        )
    keep_out(token)
    return {"Authorization": f"Bearer {token}"}
