"""Reads the names of environments that servers play: `openenv:URL` and `agentgym:URL`.

Each name has a Gymnasium id that the addresses can be read from again, so that an id in a record
names the same servers in every process: `openenv:http://host:8000/textcraft` is
`openenv/host__8000__textcraft-v0`. Several addresses are separated by commas, in an id by `..`.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from agentgym_envs.machinery.secrets import check_revealed, masked_address


class Protocol(NamedTuple):
    """A protocol of servers: the namespace of its ids, its class, and its id without a URL."""

    namespace: str
    entry_point: str
    env_id: str


PROTOCOLS = {
    "openenv": Protocol(
        "openenv", "agentgym_envs.remote.openenv:OpenEnvEnv", "agentgym/OpenEnv-v0"
    ),
    "agentgym": Protocol(
        "agentgym-http", "agentgym_envs.remote.agentgym:AgentGymEnv", "agentgym/AgentGymServer-v0"
    ),
}
"""The protocols, by the prefix before the colon."""
_NAME = re.compile(rf"({'|'.join(PROTOCOLS)}):(https?://.*)", re.DOTALL | re.IGNORECASE)
_PORT = re.compile(r":\d")
_ID = re.compile(rf"({'|'.join(p.namespace for p in PROTOCOLS.values())})/([\w.-]+)-v0")
_PART = re.compile(r"(?!.*__)[\w-]+(?:\.[\w-]+)*", re.ASCII)
_BETWEEN = "__"
"""Joins the parts of an id. Gymnasium takes the text before a colon for a module."""
_FORM = "http://host:port, https://host:port/path or http://user:token@host:port"


class ServerName(NamedTuple):
    """An environment that servers play.

    Attributes:
        env_id: its Gymnasium id.
        entry_point: the class that plays it.
        urls: of the servers.
    """

    env_id: str
    entry_point: str
    urls: tuple[str, ...]


def read_server_name(name: str) -> ServerName | None:
    """Return the URLs of `openenv:URL[,URL...]`, `agentgym:URL[,URL...]` or an id of theirs.

    Returns:
        None for every other name.

    Raises:
        ValueError: an address cannot be read, or holds what an id does not.
    """
    match = _ID.fullmatch(name)
    if match:
        protocol = next(p for p in PROTOCOLS.values() if p.namespace == match[1])
        return ServerName(name, protocol.entry_point, tuple(map(_url, match[2].split(".."))))
    match = _NAME.fullmatch(name)
    if match is None:
        _check_no_address(name)
        return None
    protocol = PROTOCOLS[match[1].lower()]
    urls = read_urls(match[2])
    places = [_place(url, protocol.env_id) for url in urls]
    return ServerName(f"{protocol.namespace}/{'..'.join(places)}-v0", protocol.entry_point, urls)


def _check_no_address(name: str) -> None:
    """Raise ValueError for `openenv:host:8000`, which would be read as a module's environment."""
    protocol, _, rest = name.partition(":")
    if protocol.lower() in PROTOCOLS and ("://" in rest or _PORT.search(rest)):
        address = masked_address(f"http://{rest.rpartition('://')[2].removesuffix('/ws')}")
        raise ValueError(
            f"a server's address begins with http:// or https://; write {protocol}:{address}"
        )


def read_urls(text: str) -> tuple[str, ...]:
    """Return the addresses of a text, which commas separate, without slashes at their ends.

    Raises:
        ValueError: one of them is none, holds `***`, or stands twice.
    """
    urls = tuple(part.strip().rstrip("/") for part in text.split(","))
    for url in urls:
        check_revealed(url)
        try:
            parts = urlsplit(url)
            _ = parts.port
            # A token is a password: as a user alone, or behind #, it would be sent and shown.
            is_whole = not parts.fragment and (parts.username is None or bool(parts.password))
            is_readable = parts.scheme in ("http", "https") and bool(parts.hostname) and is_whole
        except ValueError:
            is_readable = False
        if not is_readable:
            raise ValueError(
                f"the server's URL {masked_address(url)!r:.200} is not of the form {_FORM}; "
                "several are separated by commas"
            )
    if len(set(urls)) < len(urls):
        raise ValueError(
            f"a server is named twice in {masked_address(text)!r:.200}; name each one once: it "
            "takes as many sessions as it has room for"
        )
    return urls


def _place(url: str, env_id: str) -> str:
    """Return an address as ids hold it: `host__port__path`, with `https__` in front for https."""
    parts = urlsplit(url)
    path = parts.path.strip("/").split("/") if parts.path.strip("/") else []
    pieces = [parts.hostname or "", *path]
    is_plain = parts.username is None and not parts.query and not parts.fragment
    if not is_plain or not all(_PART.fullmatch(piece) for piece in pieces):
        raise ValueError(
            f"the server's URL {masked_address(url)!r:.200} holds more than host, port and a path "
            f"of letters and digits, so it cannot be part of an id; pass --env {env_id} and "
            "--env_kwargs '{\"url\": ...}', and a token by the variable AGENTGYM_TOKEN"
        )
    scheme = ["https"] if parts.scheme == "https" else []
    port = "" if parts.port is None else str(parts.port)
    return _BETWEEN.join([*scheme, pieces[0], port, *path]).removesuffix(_BETWEEN)


def _url(place: str) -> str:
    scheme, parts = "http", place.split(_BETWEEN)
    if parts[0] == "https":
        scheme, parts = "https", parts[1:]
    host, port, *path = [*parts, ""] if len(parts) == 1 else parts
    return "/".join([f"{scheme}://{host}{port and ':'}{port}", *path])
