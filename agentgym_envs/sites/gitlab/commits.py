"""Commits: the list with its filters, one commit, and who contributed how much."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    Project,
    find_project,
    of_project,
    person_choices,
)
from agentgym_envs.sites.gitlab.reading import is_day, like
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import branch_names, branch_of
from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.web import NotFound, RequestContext

PAGE_SIZE = 15


@SITE.get("/~{owner}/{slug}/commits")
def commit_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the commits of a branch, the newest first."""
    project = find_project(context, owner, slug)
    branch = branch_of(context, project)
    where, values = on_branch(context, project, branch)
    authors = context.rows(
        f"SELECT u.id, u.name FROM users u WHERE u.id IN (SELECT c.author_id FROM commits c "
        f"WHERE {where}) ORDER BY u.name",
        *values,
    )
    errors = {}
    if author := context.number("author"):
        where, values = f"{where} AND c.author_id = ?", [*values, author]
    if text := context.field("q"):
        where, values = f"{where} AND c.message LIKE ? ESCAPE '\\'", [*values, like(text)]
    for field, comparison in (
        ("since", "date(c.created_at) >= ?"),
        ("until", "date(c.created_at) <= ?"),
    ):
        day = context.field(field)
        if day and not is_day(day):
            errors[field] = "Write the day as YYYY-MM-DD."
        elif day:
            where, values = f"{where} AND {comparison}", [*values, day]
    pages = Pages.of(
        context, context.value(f"SELECT count(*) FROM commits c WHERE {where}", *values), PAGE_SIZE
    )
    rows = context.rows(
        "SELECT c.sha, c.message, c.created_at, u.name AS author, u.username FROM commits c "
        f"JOIN users u ON u.id = c.author_id WHERE {where} "
        "ORDER BY c.created_at DESC, c.id DESC LIMIT ? OFFSET ?",
        *values, pages.size, pages.offset,
    )  # fmt: skip
    return of_project(
        context, project, "commits.html", branch=branch, branches=branch_names(context, project),
        rows=rows, pages=pages, authors=person_choices(authors, "Anybody"), errors=errors,
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/commit/{sha}")
def show_commit(context: RequestContext, owner: str, slug: str, sha: str) -> Response:
    """Show one commit and the files whose present state comes from it."""
    project = find_project(context, owner, slug)
    commit = context.row(
        "SELECT c.*, u.name AS author, u.username, u.email FROM commits c "
        "JOIN users u ON u.id = c.author_id WHERE c.project_id = ? AND c.sha = ?",
        project.id,
        sha,
    )
    if commit is None:
        raise NotFound("There is no such commit.")
    files = context.rows("SELECT path FROM files WHERE commit_id = ? ORDER BY path", commit["id"])
    request = context.row(
        "SELECT iid, title FROM merge_requests WHERE id = ?", commit["merge_request_id"]
    )
    return of_project(context, project, "commit.html", commit=commit, files=files, request=request)


@SITE.get("/~{owner}/{slug}/contributors")
def contributors(context: RequestContext, owner: str, slug: str) -> Response:
    """List who wrote the commits of the default branch."""
    project = find_project(context, owner, slug)
    rows = context.rows(
        "SELECT u.name, u.username, count(*) AS commits, min(c.created_at) AS first, "
        "max(c.created_at) AS last FROM commits c JOIN users u ON u.id = c.author_id "
        "WHERE c.project_id = ? AND c.branch = ? GROUP BY u.id ORDER BY u.name",
        project.id,
        project.branch,
    )
    return of_project(context, project, "contributors.html", rows=rows)


def on_branch(context: RequestContext, project: Project, branch: str) -> tuple[str, list[Any]]:
    """Return the condition on commits `c` of a branch, and its values.

    A branch has its own commits, and those of the default branch from before it began.
    """
    if branch == project.branch:
        return "c.project_id = ? AND c.branch = ?", [project.id, branch]
    began = context.value(
        "SELECT created_at FROM branches WHERE project_id = ? AND name = ?", project.id, branch
    )
    return (
        "c.project_id = ? AND (c.branch = ? OR c.branch = ? AND c.created_at <= ?)",
        [project.id, branch, project.branch, began],
    )
