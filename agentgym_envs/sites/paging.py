"""Cuts a long list into pages."""

from __future__ import annotations

from dataclasses import dataclass

from agentgym_envs.sites.web import RequestContext


@dataclass
class Pages:
    """A slice of a long list.

    Attributes:
        number: the page, from 1.
        size: entries a page.
        total: entries in all.
    """

    number: int
    size: int
    total: int

    @classmethod
    def of(cls, context: RequestContext, total: int, size: int = 20) -> Pages:
        """Return the slice that the query parameter `page` asks for, held within the list."""
        last = max(1, -(-total // size))
        return cls(min(max(1, context.number("page", 1)), last), size, total)

    @property
    def last(self) -> int:
        """Number of the last page."""
        return max(1, -(-self.total // self.size))

    @property
    def offset(self) -> int:
        """Entries before this page."""
        return (self.number - 1) * self.size
