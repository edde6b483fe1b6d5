"""Maps addresses that Chromium reaches to those that pages and tasks show."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentgym_envs.sites.names import ORIGINS


class Origins:
    """The two ways to write the sites' addresses.

    Args:
        origins: `{site: origin}`, as the browser reaches the sites; a site without an entry is
            reached by its canonical origin.
    """

    def __init__(self, origins: Mapping[str, str]) -> None:
        self.real_origins = {site: origin.rstrip("/") for site, origin in origins.items()}
        pairs = [
            (ORIGINS[site], real) for site, real in self.real_origins.items() if site in ORIGINS
        ]
        self._real = dict(pairs)
        self._canonical = {real: canonical for canonical, real in pairs}
        self._find_real = _pattern(self._real)
        self._find_canonical = _pattern(self._canonical)

    def canonical(self, text: str) -> str:
        """Write all addresses in a text as canonical ones."""
        if self._find_canonical is None:
            return text
        return self._find_canonical.sub(lambda match: self._canonical[match[0]], text)

    def real(self, url: str) -> str:
        """Write an address as the browser reaches it."""
        if self._find_real is None:
            return url
        match = self._find_real.match(url)
        return url if match is None else self._real[match[0]] + url[match.end() :]

    def is_of_a_site(self, url: str) -> bool:
        """Return whether a real address belongs to one of the sites."""
        return self._find_canonical is not None and self._find_canonical.match(url) is not None


def _pattern(origins: Mapping[str, str]) -> re.Pattern[str] | None:
    """Match any of these origins, the longest first, where no longer host name begins."""
    longest_first = sorted(origins, key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile(f"(?:{'|'.join(map(re.escape, longest_first))})(?![\\w.:-])")
