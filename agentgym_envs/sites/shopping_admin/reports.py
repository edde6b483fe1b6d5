"""The reports: the list of them, and each with its filters, lines and totals."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.filters import money
from agentgym_envs.sites.forms import as_options
from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.shopping.delivery import STATUSES
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext


@dataclass(frozen=True)
class Column:
    """A column of a report: heading, expression and kind of value."""

    label: str
    sql: str
    kind: str


@dataclass(frozen=True)
class Report:
    """A report. `reports.toml` describes its attributes."""

    title: str
    about: str
    source: str
    columns: list[Column]
    sorting: Mapping[str, tuple[str, str]]
    group: str = ""
    row_id: str = ""
    moment: str = ""
    status: str = ""
    statuses: tuple[str, ...] = STATUSES
    search: tuple[str, ...] = ()
    bound: tuple[str, str, str] = ("", "", "")
    totals: tuple[str, ...] = ()


def _report(row: dict[str, Any]) -> Report:
    return Report(**row | {"columns": [Column(*column) for column in row["columns"]]})


_TEXT = Path(__file__).with_name("reports.toml").read_text(encoding="utf-8")
REPORTS = {key: _report(row) for key, row in tomllib.loads(_TEXT).items()}
"""Every report by the last part of its address."""


def _write(value: str | int | float | None, kind: str) -> str:
    """Format a cell of a report. An aggregate over nothing counts as 0."""
    if kind == "money":
        return money(int(value or 0))
    if kind == "number":
        return f"{int(value or 0):,}"
    if kind == "rating":
        return f"{float(value or 0):.2f}"
    return str(value)


@SITE.get("/reports", signed_in=True)
def reports(context: RequestContext) -> Response:
    """List the reports."""
    return context.render("reports.html", reports=REPORTS)


@SITE.get("/reports/{key}", signed_in=True)
def report(context: RequestContext, key: str) -> Response:
    """Show a report.

    Raises:
        NotFound: there is no such report.
    """
    chosen = REPORTS.get(key)
    if chosen is None:
        raise NotFound("There is no such report.")
    grid = Listing(context, chosen.source, chosen.sorting)
    if chosen.moment:
        grid.days(chosen.moment)
    if chosen.status:
        grid.equals("status", chosen.status, chosen.statuses)
    if chosen.search:
        grid.contains("search", *chosen.search[1:])
    label, column, default = chosen.bound
    if label:
        grid.below("below", column, default)
    columns = [
        f"{c.sql} AS c{n}" if " AS " not in c.sql else c.sql for n, c in enumerate(chosen.columns)
    ]
    rows, pages = grid.rows(
        ", ".join([f"{chosen.row_id or 0} AS id", *columns]), group=chosen.group
    )
    lines = [
        (
            row["id"],
            [_write(v, c.kind) for v, c in zip(list(row)[1:], chosen.columns, strict=True)],
        )
        for row in rows
    ]
    totals = []
    if chosen.totals and rows:
        sums = grid.totals(", ".join(sql or "''" for sql in chosen.totals))
        totals = [_write(v, c.kind) for v, c in zip(sums, chosen.columns, strict=True)]
    return context.render(
        "report.html",
        report=chosen,
        lines=lines,
        totals=totals,
        pages=pages,
        grid=grid,
        choices=as_options(chosen.statuses),
    )
