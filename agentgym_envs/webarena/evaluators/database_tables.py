"""The tables and columns that `state_change` compares, without `noise.toml`'s.

Keys, columns and references are read from the database itself. What no task asks for and no person
minds is declared in `noise.toml` beside the site's schema: `ignored_tables`, and for a table

- `ignored`: columns that are never compared;
- `numbered`: columns of which a new row may hold any value, as the site counts them up;
- `texts`: columns in which white space, typographic quotes and dashes do not matter;
- `caseless`: columns in which letters' case does not matter either;
- `codes`: columns of which letters and digits alone matter, however they are grouped;
- `only`: an SQL condition; other rows do not count;
- `references`: `{column = table}`, for foreign keys that the schema does not declare.
"""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_OPTIONS = {"ignored", "numbered", "texts", "caseless", "codes", "only", "references"}


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: its name.
        key: the columns of the primary key.
        columns: what is compared of a row, without a key that the site numbers.
        is_numbered: the key is a number that the site gives, and says nothing else.
        numbered, texts, caseless, codes: of the columns, as in `noise.toml`.
        references: the table that a column's values are keys of.
        only: SQL condition on rows.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    is_numbered: bool
    numbered: frozenset[str]
    texts: frozenset[str]
    caseless: frozenset[str]
    codes: frozenset[str]
    references: Mapping[str, str]
    only: str


def compared_tables(database: str, connection: sqlite3.Connection) -> dict[str, Table]:
    """Return the compared tables of a site's database, those that others refer to first.

    Args:
        database: its name, as in `sites.names.DATABASES`.
        connection: to it.

    Raises:
        ValueError: the declared noise names what the schema lacks.
    """
    schema = tuple(
        (row[0], row[1])
        for row in connection.execute(
            "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' ORDER BY name"
        )
    )
    known = _known.get((database, schema))
    if known is None:
        names = [name for name, _ in schema]
        known = _known[database, schema] = _read_tables(database, connection, names)
    return known


_known: dict[tuple[str, tuple[tuple[str, str], ...]], dict[str, Table]] = {}
"""By database and schema: reading a schema takes longer than comparing a table."""


def _read_tables(
    database: str, connection: sqlite3.Connection, names: list[str]
) -> dict[str, Table]:
    noise = dict(_noise(database))
    ignored = set(noise.pop("ignored_tables", ()))
    unknown = (ignored | set(noise)) - set(names)
    if unknown:
        raise ValueError(f"noise.toml of {database} names no tables of it: {sorted(unknown)}")
    tables = [
        _table(connection, name, noise.get(name, {})) for name in names if name not in ignored
    ]
    return _referred_first({table.name: table for table in tables})


@cache
def _noise(database: str) -> dict[str, Any]:
    path = resources.files("agentgym_envs.sites") / database / "noise.toml"
    return tomllib.loads(path.read_text("utf-8"))


def _table(connection: sqlite3.Connection, name: str, noise: Mapping[str, Any]) -> Table:
    columns = connection.execute(f'PRAGMA main.table_info("{name}")').fetchall()
    foreign = connection.execute(f'PRAGMA main.foreign_key_list("{name}")').fetchall()
    references = {row[3]: row[2] for row in foreign} | noise.get("references", {})
    key = tuple(row[1] for row in sorted(columns, key=lambda row: row[5]) if row[5])
    is_numbered = (
        len(key) == 1
        and key[0] not in references
        and any(row[1] == key[0] and row[2] == "INTEGER" for row in columns)
    )
    compared = [row[1] for row in columns if not (is_numbered and row[1] == key[0])]
    named = {column for option in ("ignored", "numbered", "texts", "caseless", "codes")
             for column in noise.get(option, ())} | set(references)  # fmt: skip
    if wrong := (named - {row[1] for row in columns}) or (set(noise) - _OPTIONS):
        raise ValueError(f"noise.toml names what the table {name} lacks: {sorted(wrong)}")
    return Table(
        name=name,
        key=key,
        columns=tuple(column for column in compared if column not in noise.get("ignored", ())),
        is_numbered=is_numbered,
        numbered=frozenset(noise.get("numbered", ())),
        texts=frozenset(noise.get("texts", ())),
        caseless=frozenset(noise.get("caseless", ())),
        codes=frozenset(noise.get("codes", ())),
        references=references,
        only=noise.get("only", ""),
    )


def _referred_first(tables: dict[str, Table]) -> dict[str, Table]:
    ordered: dict[str, Table] = {}

    def add(name: str, above: tuple[str, ...] = ()) -> None:
        if name in ordered or name in above or name not in tables:
            return
        for other in sorted(tables[name].references.values()):
            add(other, (*above, name))
        ordered[name] = tables[name]

    for name in tables:
        add(name)
    return ordered
