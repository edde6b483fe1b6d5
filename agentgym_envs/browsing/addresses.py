"""Web addresses: typed by a person, resolved from links, normalized as browsers do."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from agentgym_envs.browsing import refusals

BLANK = "about:blank"

MAX_ADDRESS = 4000
"""Characters of an address that is typed."""

_PATH = "/%:@!$&'()*+,;=~[]|^"
_QUERY = "/%:@!$&()*+,;=~[]|^`{}?"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
_HOST = re.compile(r"[a-z0-9._-]+(:\d{1,5})?")


def typed(text: str) -> str:
    """Return the address that a person means who types this.

    Raises:
        InvalidAction: it is no web address, or longer than `MAX_ADDRESS`.
    """
    address = text.strip()
    if len(address) > MAX_ADDRESS:
        raise refusals.long_address(address, MAX_ADDRESS)
    if address.lower() == BLANK:
        return BLANK
    if not _SCHEME.match(address):
        address = f"http://{address}"
    url = normal(address)
    if url is None:
        raise refusals.no_address(text)
    return url


def resolved(base: str, reference: str) -> str | None:
    """Resolve a reference on a page, or return None if it is no web address."""
    # Browsers drop these wherever they stand in an address.
    reference = re.sub(r"[\t\n\r]", "", reference).strip()
    try:
        return normal(urljoin(base, reference) if reference else without_fragment(base))
    except ValueError:
        return None


def normal(address: str) -> str | None:
    """Normalize a web address as browsers show it, or return None if it is none."""
    try:
        parts = urlsplit(address)
        host = parts.netloc.lower()
        if parts.scheme.lower() not in ("http", "https") or not _HOST.fullmatch(host):
            return None
        path = quote(parts.path or "/", safe=_PATH)
        query = quote(parts.query, safe=_QUERY)
        fragment = quote(parts.fragment, safe=_QUERY + "'")
    except (ValueError, UnicodeEncodeError):
        return None
    default = ":80" if parts.scheme.lower() == "http" else ":443"
    path = _without_dots(path)
    has_query = bool(query) or "?" in address.partition("#")[0]
    url = urlunsplit((parts.scheme.lower(), host.removesuffix(default), path, "", ""))
    return url + (f"?{query}" if has_query else "") + (f"#{fragment}" if fragment else "")


def without_fragment(url: str) -> str:
    """Return an address without its fragment."""
    return url.partition("#")[0]


def origin(url: str) -> str:
    """Return scheme and host of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def outside_page(url: str) -> str:
    """Return the HTML of the page shown in place of a blocked address."""
    try:
        host = urlsplit(url).hostname or url
    except ValueError:
        host = url
    title = "This site can't be reached"
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{title}</title></head>"
        f"<body><main><h1>{title}</h1><p>{escape(host[:200])} is outside of what this browser may "
        "open.</p></main></body></html>"
    )


def _without_dots(path: str) -> str:
    if "/." not in path:
        return path
    parts: list[str] = []
    words = path.split("/")[1:]
    for word in words:
        if word == "..":
            del parts[-1:]
        elif word != ".":
            parts.append(word)
    if words[-1] in (".", ".."):
        parts.append("")
    return "/" + "/".join(parts)
