"""Builds grids: long tables that a form above them filters and sorts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.shopping_admin.entries import read_amount, read_day, read_whole
from agentgym_envs.sites.web import RequestContext


def choices_of(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the choices of a list box whose values are what it shows."""
    return [(word, word) for word in words]


class Grid:
    """The rows that the query parameters ask for.

    A filter that makes no sense is not applied, and `errors` says what is wrong with it.

    Args:
        context: the request.
        source: what follows FROM, joins included.
        orders: how the rows can be sorted: {parameter: (label, what follows ORDER BY)}; the first
            is the default.
        size: rows a page.

    Attributes:
        errors: by field name, what is wrong.
    """

    def __init__(
        self,
        context: RequestContext,
        source: str,
        orders: Mapping[str, tuple[str, str]],
        *,
        size: int = 15,
    ) -> None:
        self._context = context
        self._source = source
        self._orders = orders
        self._size = size
        self._where: list[str] = []
        self._values: list[Any] = []
        self.errors: dict[str, str] = {}

    def add(self, condition: str, *values: Any) -> None:
        """Show only rows for which this SQL condition holds."""
        self._where.append(f"({condition})")
        self._values.extend(values)

    def contains(self, name: str, *columns: str) -> None:
        """Filter by a piece of text in any of these columns, whatever its case."""
        text = self._context.field(name)
        if text:
            # instr, not LIKE: what people type holds no wildcards and may be long.
            condition = " OR ".join(f"instr(lower({column}), lower(?)) > 0" for column in columns)
            self.add(condition, *[text] * len(columns))

    def equals(self, name: str, column: str, allowed: Sequence[str]) -> None:
        """Filter by the choice from a list box."""
        value = self._context.field(name)
        if value in allowed:
            self.add(f"{column} = ?", value)
        elif value:
            self.errors[name] = "There is no such value."

    def days(self, column: str, first: str = "from", last: str = "to") -> None:
        """Filter by a range of days, both included, of a column that holds moments or days."""
        for name, sign, hour in ((first, ">=", ""), (last, "<=", " 23:59:59")):
            text = self._context.field(name)
            day = read_day(text)
            if day is not None:
                self.add(f"{column} {sign} ?", day + hour)
            elif text:
                self.errors[name] = "Write a day as YYYY-MM-DD."

    def amounts(self, column: str, low: str = "min", high: str = "max") -> None:
        """Filter by a range of money, both ends included."""
        for name, sign in ((low, ">="), (high, "<=")):
            text = self._context.field(name)
            cents = read_amount(text)
            if cents is not None:
                self.add(f"{column} {sign} ?", cents)
            elif text:
                self.errors[name] = "Write an amount such as 24.90."

    def below(self, name: str, column: str, default: str = "") -> None:
        """Filter by a whole number that the column must stay under."""
        text = self._context.field(name) or default
        bound = read_whole(text)
        if bound is not None:
            self.add(f"{column} < ?", bound)
        elif text:
            self.errors[name] = "Write a whole number."

    @property
    def sorting(self) -> list[tuple[str, str]]:
        """The choices of the list box "Sort by"."""
        return [(key, label) for key, (label, _) in self._orders.items()]

    def rows(self, columns: str, *, group: str = "") -> tuple[list[sqlite3.Row], Pages]:
        """Return the rows of the page that is asked for.

        Args:
            columns: what follows SELECT.
            group: what follows GROUP BY, if anything.
        """
        query = f"FROM {self._source}"
        if self._where:
            query += f" WHERE {' AND '.join(self._where)}"
        if group:
            query += f" GROUP BY {group}"
            total = self._context.value(f"SELECT count(*) FROM (SELECT 1 {query})", *self._values)
        else:
            total = self._context.value(f"SELECT count(*) {query}", *self._values)
        pages = Pages.of(self._context, total, self._size)
        chosen = self._context.field("sort")
        order = self._orders[chosen if chosen in self._orders else next(iter(self._orders))][1]
        rows = self._context.rows(
            f"SELECT {columns} {query} ORDER BY {order} LIMIT ? OFFSET ?",
            *self._values,
            pages.size,
            pages.offset,
        )
        return rows, pages

    def totals(self, columns: str) -> sqlite3.Row:
        """Return one row of aggregates over everything that passes the filters."""
        where = f" WHERE {' AND '.join(self._where)}" if self._where else ""
        row = self._context.row(f"SELECT {columns} FROM {self._source}{where}", *self._values)
        assert row is not None  # an aggregate always gives a row
        return row
