"""Makes the sites' databases."""

from __future__ import annotations

import sqlite3
from importlib import import_module
from pathlib import Path

import agentgym_envs.sites as sites
from agentgym_envs.sites.names import DATABASES
from agentgym_envs.sites.state import SESSIONS
from worlds.sites.setting import Setting

NAMES = tuple(dict.fromkeys(DATABASES.values()))

_HEADER = 100
_TREE_PAGES = {2: 12, 5: 12, 10: 8, 13: 8}
"""The length of the header of a page by its type, inner pages of a tree and its leaves."""


def make_database(name: str, setting: Setting) -> bytes:
    """Return the bytes of a database, the same under every version of SQLite so far.

    Args:
        name: one of `NAMES`.
        setting: the world that it belongs to.
    """
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    # Moved content leaves zeros behind.
    connection.execute("PRAGMA secure_delete = ON")
    connection.executescript(SESSIONS)
    connection.executescript((Path(sites.__path__[0]) / name / "schema.sql").read_text("utf-8"))
    import_module(f"worlds.sites.{name}.fill").fill(connection, setting)
    connection.commit()
    # The order of the pages then depends on the rows alone.
    connection.execute("VACUUM")
    content = bytearray(connection.serialize())
    connection.close()
    _blank(content)
    return bytes(content)


def _blank(content: bytearray) -> None:
    """Set the bytes that SQLite leaves undefined to zero.

    See https://sqlite.org/fileformat2.html.

    In the header these are a count of changes and the version; in the pages of a tree, what lies
    between the pointers to the cells and the cells.
    """
    for start, end in ((24, 28), (92, 100)):
        content[start:end] = bytes(end - start)
    page_size = int.from_bytes(content[16:18], "big")
    for page in range(0, len(content), page_size):
        head = page + (_HEADER if page == 0 else 0)
        if content[head] not in _TREE_PAGES:
            continue
        cells = int.from_bytes(content[head + 3 : head + 5], "big")
        start = head + _TREE_PAGES[content[head]] + 2 * cells
        end = page + int.from_bytes(content[head + 5 : head + 7], "big")
        content[start:end] = bytes(end - start)
