"""Gives every episode its own copy of every site's database.

An episode loads a copy into memory when a site is first visited. Nothing is shared, so nothing can
leak between episodes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from agentgym_envs.sites.content import SiteContent, open_content
from agentgym_envs.sites.names import DATABASES

NOW = "2026-03-14 09:30:00"
"""The sites' clock stands still: the same actions give the same pages on every day."""

SESSIONS = """
CREATE TABLE sessions (
    token TEXT PRIMARY KEY, site TEXT NOT NULL, user_id INTEGER, flash TEXT NOT NULL DEFAULT '[]'
);
"""
"""The table that the framework adds to every database."""

_WRITING = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)


class Database(sqlite3.Connection):
    """A connection that records the tables written through it.

    It closes itself when nobody holds it any more, as an abandoned episode's.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.begin_recording()

    def __del__(self) -> None:
        self.close()

    def begin_recording(self) -> None:
        """Clear the record of writes."""
        self._statements: dict[str, Any] = {}  # that have written rows, with their last values
        self._before = self.total_changes
        self._recorded = 0

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement, and remember it if it has written rows."""
        before = self.total_changes
        cursor = super().execute(sql, parameters)
        if written := self.total_changes - before:
            self._statements[sql] = parameters
            self._recorded += written
        return cursor

    def written_tables(self) -> frozenset[str] | None:
        """Return the tables that may have been written, or None if any may.

        Triggers and cascades are SQLite's own answer: it names what a statement may write when it
        prepares it. It counts all rows that are written, so none passes unseen.
        """
        if self.total_changes - self._before != self._recorded:
            return None  # by a cursor's own execute, executemany or a script
        tables: set[str] = set()

        def note(action: int, table: str | None, *_: str | None) -> int:
            if action in _WRITING and table is not None:
                tables.add(table)
            return sqlite3.SQLITE_OK

        if self._statements:
            self.set_authorizer(note)
            for sql, parameters in self._statements.items():
                super().execute(f"EXPLAIN {sql}", parameters)
            self.set_authorizer(None)
        return frozenset(tables)


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
        self.connections: dict[str, Database] = {}
        self._signed_in = dict(signed_in or {})

    def database(self, site: str) -> Database:
        """Return the connection to a site's database. Rows are `sqlite3.Row`.

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
            connection.begin_recording()
        return connection

    def untouched(self, name: str) -> bytes:
        """Return the initial bytes of a database, named as in `DATABASES`' values."""
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


def first_token(site: str) -> str:
    """Return the `session` cookie of the user signed in at the start."""
    return f"{site}-0"


def connect(content: bytes) -> Database:
    """Open a database in memory from its bytes."""
    # An environment is used by one thread at a time, but not always by the one that made it.
    connection = Database(":memory:", check_same_thread=False)
    connection.deserialize(content)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    return connection
