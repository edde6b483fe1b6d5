"""Names the sites as WebArena's task files do, with their canonical addresses."""

from __future__ import annotations

SITES = ("homepage", "shopping", "shopping_admin", "reddit", "gitlab", "map")
"""Every embedded site."""

DATABASES = {
    "shopping": "shopping",
    "shopping_admin": "shopping",  # the administration of the same shop
    "reddit": "reddit",
    "gitlab": "gitlab",
    "map": "map",
}
"""The database behind each site. The home page has none."""

ORIGINS = {site: f"http://{site.replace('_', '-')}.test" for site in SITES}
"""Canonical origins, as pages, tasks and observations show them. `.test` never resolves."""

PLACEHOLDERS = {f"__{site.upper()}__": origin for site, origin in ORIGINS.items()}
"""WebArena's own words for the sites in task files."""


def find_site(host: str) -> str | None:
    """Return the site of a canonical host name, or None."""
    for site, origin in ORIGINS.items():
        if host == origin.removeprefix("http://"):
            return site
    return None


def fill_placeholders(text: str) -> str:
    """Replace WebArena's placeholders by the canonical origins."""
    # The longest first: __SHOPPING__ is no part of __SHOPPING_ADMIN__, but be sure.
    for placeholder in sorted(PLACEHOLDERS, key=len, reverse=True):
        text = text.replace(placeholder, PLACEHOLDERS[placeholder])
    return text
