"""Shows the reports: the list of them, and each with its filters, lines and totals."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.filters import money
from agentgym_envs.sites.shopping_admin.grids import Grid, choices_of
from agentgym_envs.sites.shopping_admin.reports import REPORTS
from agentgym_envs.sites.shopping_admin.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext


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
    chosen = REPORTS.get(key)
    if chosen is None:
        raise NotFound("There is no such report.")
    grid = Grid(context, chosen.source, chosen.sorting)
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
            [write_value(v, c.kind) for v, c in zip(list(row)[1:], chosen.columns, strict=True)],
        )
        for row in rows
    ]
    totals = []
    if chosen.totals and rows:
        sums = grid.totals(", ".join(sql or "''" for sql in chosen.totals))
        totals = [write_value(v, c.kind) for v, c in zip(sums, chosen.columns, strict=True)]
    return context.render(
        "report.html",
        report=chosen,
        lines=lines,
        totals=totals,
        pages=pages,
        grid=grid,
        choices=choices_of(chosen.statuses),
    )
