"""Writes the texts of AgentGym's SQLGym: a database in words, a result as Python prints it.

Follows AgentGym 3ef9235d and `sqlgym` 0.1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentgym_envs.sql.database import Database
from agentgym_envs.sql.values import Row

_LONGEST = 100
"""Characters of a result that its server shows."""


class Schema(NamedTuple):
    """A database as BIRD's `*_tables.json` describes it.

    Attributes:
        database: its name.
        tables: their names.
        columns: pairs of a table's place in `tables` and a name; the first pair stands for `*`.
        primary_keys: places in `columns`; a key of several columns is a list of them.
        foreign_keys: pairs of places in `columns`: which one refers to which.
    """

    database: str
    tables: Sequence[str]
    columns: Sequence[tuple[int, str]]
    primary_keys: Sequence[int | Sequence[int]]
    foreign_keys: Sequence[tuple[int, int]]


def describe_schema(name: str, database: Database) -> Schema:
    """Describe a database as BIRD does."""
    columns = [(-1, "*")]
    places: dict[tuple[str, str], int] = {}
    for number, table in enumerate(database.tables):
        for column in database.columns(table):
            places[table, column.name] = len(columns)
            columns.append((number, column.name))
    keys: list[int | list[int]] = []
    links: list[tuple[int, int]] = []
    for table in database.tables:
        own = [places[table, column.name] for column in database.columns(table) if column.key]
        keys += [own[0] if len(own) == 1 else own] if own else []
        links += [
            (places[table, column.name], places[column.refers_to])
            for column in database.columns(table)
            if column.refers_to is not None
        ]
    return Schema(name, database.tables, columns, keys, links)


def in_words(schema: Schema) -> str:
    """Describe a database as the original's prompt does, in lower case.

    A primary key of several columns has no name there, and has none here.
    """
    tables = [table.lower() for table in schema.tables]
    sentences = [f"{schema.database} contains tables such as {', '.join(tables)}."]
    for number, table in enumerate(tables):
        own = {
            place: name.lower()
            for place, (owner, name) in enumerate(schema.columns)
            if place and owner == number
        }
        keys = [name for place, name in own.items() if place in schema.primary_keys]
        sentences.append(f"Table {table} has columns such as {', '.join(own.values())}.")
        sentences.append(f"{', '.join(keys)} is the primary key.")
    # The original looks the names up in a list without `*`, and names the columns behind.
    names = [name.lower() for _, name in schema.columns[1:]]
    for link in schema.foreign_keys:
        (column, table), (target, other) = (
            (names[place % len(names)], tables[schema.columns[place][0]]) for place in link
        )
        sentences.append(f"The {column} of {table} is the foreign key of {target} of {other}.")
    return " ".join(sentences)


def as_printed(rows: Sequence[Row]) -> str:
    """Return a result as the original's server shows it."""
    return cut(str(list(rows)))


def cut(text: str) -> str:
    """Return the beginning of a text, as the original's server shows it."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
