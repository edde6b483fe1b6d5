"""Keeps a tab's history. The browser loads the pages that it asks for."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentgym_envs.browsing.text.document import Document


@dataclass
class Entry:
    """A page in a tab's history.

    Attributes:
        url: its address, fragment included.
        document: as it was when it was left.
        was_posted: it answers a POST, so going back shows it as it was and asks nobody.
    """

    url: str
    document: Document
    was_posted: bool = False


@dataclass
class Tab:
    """A tab.

    Attributes:
        entries: its history.
        index: of the entry that is shown.
    """

    entries: list[Entry] = field(default_factory=list)
    index: int = -1

    @property
    def entry(self) -> Entry:
        """The entry that is shown."""
        return self.entries[self.index]

    def visit(self, entry: Entry, *, replaces: bool) -> None:
        """Show a new page and drop the forward history.

        Args:
            entry: the page.
            replaces: it takes the place of the one that is shown, in the history too.
        """
        del self.entries[self.index + (0 if replaces else 1) :]
        self.entries.append(entry)
        self.index = len(self.entries) - 1

    def neighbour(self, by: int) -> Entry | None:
        """Return the entry before (-1) or after (1) the one that is shown, if there is one."""
        index = self.index + by
        return self.entries[index] if 0 <= index < len(self.entries) else None
