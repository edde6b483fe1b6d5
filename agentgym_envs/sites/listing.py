"""Lists: filtered and sorted by the form above them, and cut into pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_envs.sites.forms import Texts, as_options, read_amount, read_day, read_whole
from agentgym_envs.sites.web import RequestContext

Orders = Mapping[str, tuple[str, str]]
"""Sort orders by parameter: the label and the terms of ORDER BY. The first is the default."""

_NO_ORDERS: Orders = {}


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
    def from_request(cls, context: RequestContext, total: int, size: int = 20) -> Pages:
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

    def cut(self, entries: list[Any]) -> list[Any]:
        """Return the entries of this page."""
        return entries[self.offset : self.offset + self.size]


def order_choices(orders: Orders) -> list[tuple[str, str]]:
    """Return the options of the list box that sorts a list."""
    return [(key, label) for key, (label, _) in orders.items()]


def like(text: str) -> str:
    """Write the pattern of `LIKE ? ESCAPE '!'` for texts that hold this one."""
    text = text[:200]
    for sign in "!%_":
        text = text.replace(sign, f"!{sign}")
    return f"%{text}%"


class Listing:
    """The rows that the query parameters ask for.

    A filter that makes no sense is not applied, and `errors` says what is wrong with it.

    Args:
        context: the request.
        source: what follows FROM, as far as the filters need it.
        orders: how the list can be sorted.
        size: rows a page.

    Attributes:
        errors: by field name, what is wrong.
    """

    def __init__(
        self,
        context: RequestContext,
        source: str,
        orders: Orders = _NO_ORDERS,
        *,
        size: int = 15,
    ) -> None:
        self._context = context
        self._source = source
        self._orders = orders
        self._size = size
        self._where: list[str] = []
        self._values: list[Any] = []
        self.errors = Texts()

    def where(self, condition: str, *values: Any) -> Listing:
        """Show only rows for which this SQL condition holds, and return the listing."""
        self._where.append(f"({condition})")
        self._values.extend(values)
        return self

    def like(self, name: str, *columns: str) -> Listing:
        """Filter by at most 200 characters of text in any of these columns, whatever its case."""
        if text := self._context.field(name):
            condition = " OR ".join(f"{column} LIKE ? ESCAPE '!'" for column in columns)
            self.where(condition, *[like(text)] * len(columns))
        return self

    def contains(self, name: str, *columns: str) -> None:
        """Filter by a piece of text in any of these columns, whatever its case."""
        text = self._context.field(name)
        if text:
            # instr, not LIKE: what people type holds no wildcards and may be long.
            condition = " OR ".join(f"instr(lower({column}), lower(?)) > 0" for column in columns)
            self.where(condition, *[text] * len(columns))

    def equals(self, name: str, column: str, allowed: Sequence[str]) -> Listing:
        """Filter by the choice from a list box."""
        value = self._context.field(name)
        if value in allowed:
            self.where(f"{column} = ?", value)
        elif value:
            self.errors[name] = "There is no such value."
        return self

    def number(self, name: str, column: str) -> Listing:
        """Filter by a whole number. 0 and other texts filter nothing."""
        if number := self._context.number(name):
            self.where(f"{column} = ?", number)
        return self

    def days(
        self,
        column: str,
        first: str = "from",
        last: str = "to",
        message: str = "Write a day as YYYY-MM-DD.",
    ) -> None:
        """Filter by a range of days, both included, of a column that holds moments or days."""
        for name, sign, hour in ((first, ">=", ""), (last, "<=", " 23:59:59")):
            text = self._context.field(name)
            day = read_day(text)
            if day is not None:
                self.where(f"{column} {sign} ?", day + hour)
            elif text:
                self.errors[name] = message

    def amounts(self, column: str, message: str = "Write an amount such as 24.90.") -> None:
        """Filter by a range of money, `min` to `max`, both ends included."""
        for name, sign in (("min", ">="), ("max", "<=")):
            text = self._context.field(name)
            cents = read_amount(text)
            if cents is not None:
                self.where(f"{column} {sign} ?", cents)
            elif text:
                self.errors[name] = message

    def below(self, name: str, column: str, default: str = "") -> None:
        """Filter by a whole number that the column must stay under."""
        text = self._context.field(name) or default
        bound = read_whole(text)
        if bound is not None:
            self.where(f"{column} < ?", bound)
        elif text:
            self.errors[name] = "Write a whole number."

    @property
    def sorting(self) -> list[tuple[str, str]]:
        """The options of the list box "Sort by"."""
        return order_choices(self._orders)

    def rows(
        self, columns: str, *values: Any, order: str = "", joined: str = "", group: str = ""
    ) -> tuple[list[sqlite3.Row], Pages]:
        """Return the rows of the page that is asked for.

        Args:
            columns: what follows SELECT.
            *values: of the placeholders in `order`.
            order: what follows ORDER BY; by default the parameter `sort` chooses.
            joined: tables that the columns need, and the number of rows does not.
            group: what follows GROUP BY, if anything.
        """
        filters = self._filters + (f" GROUP BY {group}" if group else "")
        counted = f"(SELECT 1 FROM {self._source}{filters})" if group else self._source + filters
        total = self._context.value(f"SELECT count(*) FROM {counted}", *self._values)
        pages = Pages.from_request(self._context, total, self._size)
        rows = self._context.rows(
            f"SELECT {columns} FROM {self._source} {joined}{filters} "
            f"ORDER BY {order or self._order} LIMIT ? OFFSET ?",
            *(*self._values, *values, pages.size, pages.offset),
        )
        return rows, pages

    def options(self, column: str) -> list[tuple[str, str]]:
        """Return the options of a list box of all values that a column has now, but ""."""
        rows = self._context.rows(
            f"SELECT DISTINCT {column} FROM {self._source}{self._filters} ORDER BY 1", *self._values
        )
        return as_options([row[0] for row in rows if row[0]])

    def totals(self, columns: str) -> sqlite3.Row:
        """Return one row of aggregates over everything that passes the filters."""
        row = self._context.row(
            f"SELECT {columns} FROM {self._source}{self._filters}", *self._values
        )
        assert row is not None  # an aggregate always gives a row
        return row

    @property
    def _filters(self) -> str:
        return f" WHERE {' AND '.join(self._where)}" if self._where else ""

    @property
    def _order(self) -> str:
        default = next(iter(self._orders.values()))
        return self._orders.get(self._context.field("sort"), default)[1]
