"""Gives every episode its own copy of every site's database.

An episode loads a copy into memory when a site is first visited. Nothing is shared, so nothing can
leak between episodes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from agentgym_envs.webarena.sites.content import SiteContent, open_content
from agentgym_envs.webarena.sites.names import DATABASES

NOW = "2026-03-14 09:30:00"
"""The sites' clock stands still: the same actions give the same pages on every day."""

SESSIONS = """
CREATE TABLE sessions (
    token TEXT PRIMARY KEY, site TEXT NOT NULL, user_id INTEGER, flash TEXT NOT NULL DEFAULT '[]'
);
"""
"""The table that the framework adds to every database."""


class Database(sqlite3.Connection):
    """A connection that closes itself when nobody holds it any more, as an abandoned episode's."""

    def __del__(self) -> None:
        self.close()


class SiteState:
    """The databases of one episode.

    Args:
        signed_in: for each site, the id of the user who has a session there from the start; its
            token is `first_token(site)`.
        content: what the databases hold at first; the shipped content if not given.
    """

    def __init__(
        self, signed_in: Mapping[str, int] | None = None, content: SiteContent | None = None
    ) -> None:
        self._content = content or open_content()
        self.connections: dict[str, sqlite3.Connection] = {}
        self._signed_in = dict(signed_in or {})
        self._writes: dict[str, int] = {}  # rows written when a database was opened

    def database(self, site: str) -> sqlite3.Connection:
        """Return the connection to a site's database; rows are `sqlite3.Row`.

        Raises:
            KeyError: the site has no database.
        """
        name = DATABASES[site]
        connection = self.connections.get(name)
        if connection is None:
            connection = connect(self._content.database(name))
            self.connections[name] = connection
            # Sessions from the start are written here, so that they load no database.
            connection.executemany(
                "INSERT INTO sessions (token, site, user_id) VALUES (?, ?, ?)",
                [
                    (first_token(site), site, user_id)
                    for site, user_id in self._signed_in.items()
                    if DATABASES[site] == name
                ],
            )
            connection.commit()
            self._writes[name] = connection.total_changes
        return connection

    def is_written(self, name: str) -> bool:
        """Return whether any row of an open database has been written since it was opened."""
        return self.connections[name].total_changes != self._writes[name]

    def untouched(self, name: str) -> bytes:
        """Return what a database, named as in `DATABASES`' values, holds when an episode begins."""
        return self._content.database(name)

    def sign_in(self, site: str, user_id: int) -> str:
        """Open a session for a user and return its token, the value of the cookie `session`."""
        database = self.database(site)
        # Not a count: sessions end, and a token must not be given twice.
        number = database.execute("SELECT coalesce(max(rowid), 0) + 1 FROM sessions").fetchone()[0]
        token = f"{site}-{number}"
        database.execute(
            "INSERT INTO sessions (token, site, user_id) VALUES (?, ?, ?)", (token, site, user_id)
        )
        database.commit()
        return token

    def close(self) -> None:
        """Forget everything."""
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()
        self._writes.clear()


def first_token(site: str) -> str:
    """Return the cookie `session` of whoever is signed in on a site from the start."""
    return f"{site}-0"


def connect(content: bytes) -> sqlite3.Connection:
    """Open a database in memory from its bytes."""
    # An environment is used by one thread at a time, but not always by the one that made it.
    connection = sqlite3.connect(":memory:", check_same_thread=False, factory=Database)
    connection.deserialize(content)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    return connection
