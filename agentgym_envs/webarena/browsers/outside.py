"""What the browsers show for addresses outside of the sites: the same page in every backend."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

TITLE = "This site can't be reached"


def outside_page(url: str) -> str:
    """Return the HTML of the page that stands for an address nobody may open."""
    try:
        host = urlsplit(url).hostname or url
    except ValueError:
        host = url
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{TITLE}</title></head>"
        f"<body><main><h1>{TITLE}</h1><p>{escape(host[:200])} is outside of what this browser may "
        "open.</p></main></body></html>"
    )
