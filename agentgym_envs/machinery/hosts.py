"""Checks of Host headers against DNS rebinding."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_allowed_host(header: str, name: str) -> bool:
    """Return whether a request's Host header names a server that listens under `name`.

    Another site's name that was made to lead here (DNS rebinding) does not; an address, unlike a
    name, cannot be made to lead anywhere.

    Args:
        header: the header's value, with a port or without.
        name: the host that the server was told to listen on.
    """
    try:
        host = urlsplit(f"//{header}").hostname or ""
        if host in ("localhost", name.lower()):
            return True
        ip_address(host)
    except ValueError:  # neither a host nor an address
        return False
    return True
