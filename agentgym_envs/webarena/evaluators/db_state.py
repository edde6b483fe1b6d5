"""Checks that the embedded sites' databases hold what they should: `db_state`, our own kind.

Queries only read: the database's authorizer refuses everything but SELECT.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged
from agentgym_envs.webarena.sites.names import DATABASES

_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
_KEYS = {"site", "query", "expected"}
_SHOWN = 300


class DatabaseEvaluator:
    """Compares rows.

    Args:
        evaluation: an `eval` object; its `db_state` lists `{"site", "query", "expected"}`.

    Raises:
        ValueError: the list is empty, or an entry has another form or names an unknown site.
    """

    def __init__(self, evaluation: Mapping[str, Any]) -> None:
        states = evaluation.get("db_state")
        if not isinstance(states, list) or not states:
            raise ValueError(f"db_state must be a list of {sorted(_KEYS)}, got {states!r}")
        for state in states:
            if not isinstance(state, Mapping) or set(state) != _KEYS:
                raise ValueError(f"an entry of db_state needs {sorted(_KEYS)}, got {state!r}")
            if state["site"] not in DATABASES:
                raise ValueError(
                    f"db_state: unknown site {state['site']!r}; allowed: {', '.join(DATABASES)}"
                )
        self._states = tuple(states)

    def __call__(self, ending: Ending) -> Verdict:
        """Ask the databases.

        Raises:
            ValueError: a query is wrong or does more than read, or there is no database.
        """
        if ending.state is None:
            raise ValueError("db_state needs the embedded sites; these are not ours")
        failings = []
        for state in self._states:
            rows = _ask(ending.state.database(state["site"]), state["query"])
            if rows != [list(row) for row in state["expected"]]:
                failings.append(
                    f"{state['query']!r:.{_SHOWN}} gives {rows!r:.{_SHOWN}}, "
                    f"not {state['expected']!r:.{_SHOWN}}"
                )
        return judged(failings)


def _ask(connection: sqlite3.Connection, query: str) -> list[list[Any]]:
    try:
        with _only_reading(connection):
            return [list(row) for row in connection.execute(query)]
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise ValueError(
            f"db_state: the query {query!r:.{_SHOWN}} cannot be run ({error}); it must be one "
            "SELECT that fits the site's tables"
        ) from error


@contextmanager
def _only_reading(connection: sqlite3.Connection) -> Iterator[None]:
    connection.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
    )
    try:
        yield
    finally:
        connection.set_authorizer(None)
