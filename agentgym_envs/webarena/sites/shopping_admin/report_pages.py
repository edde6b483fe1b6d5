"""Shows the reports: the list of them, and each with its filters, lines and totals."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.sites.shopping_admin.grids import Grid, choices_of
from agentgym_envs.webarena.sites.shopping_admin.reports import REPORTS
from agentgym_envs.webarena.sites.shopping_admin.site import SITE
from agentgym_envs.webarena.sites.web import NotFound, RequestContext


def write_value(value: str | int | float | None, kind: str) -> str:
    """Write a cell of a report; an aggregate over nothing counts as 0."""
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
    """Show a report."""
    found = REPORTS.get(key)
    if found is None:
        raise NotFound("There is no such report.")
    grid = Grid(context, found.source, found.sorting)
    if found.moment:
        grid.days(found.moment)
    if found.status:
        grid.equals("status", found.status, found.statuses)
    if found.search:
        grid.contains("search", *found.search[1:])
    label, column, default = found.bound
    if label:
        grid.below("below", column, default)
    columns = [
        f"{c.sql} AS c{n}" if " AS " not in c.sql else c.sql for n, c in enumerate(found.columns)
    ]
    rows, pages = grid.rows(", ".join([f"{found.row_id or 0} AS id", *columns]), group=found.group)
    lines = [
        (
            row["id"],
            [write_value(v, c.kind) for v, c in zip(list(row)[1:], found.columns, strict=True)],
        )
        for row in rows
    ]
    totals = []
    if found.totals and rows:
        sums = grid.totals(", ".join(sql or "''" for sql in found.totals))
        totals = [write_value(v, c.kind) for v, c in zip(sums, found.columns, strict=True)]
    return context.render(
        "report.html",
        report=found,
        lines=lines,
        totals=totals,
        pages=pages,
        grid=grid,
        choices=choices_of(found.statuses),
    )
