"""Commits: the list with its filters, one commit, and who contributed how much."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    Project,
    find_project,
    person_choices,
)
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import branch_names, find_branch
from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 15


@SITE.get("/~{owner}/{slug}/commits")
def commit_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the commits of a branch, the newest first."""
    project = find_project(context, owner, slug)
    branch = find_branch(context, project)
    where, values = on_branch(context, project, branch)
    authors = context.rows(
        "SELECT u.id, u.name FROM users u WHERE u.id IN (SELECT c.author_id FROM commits c "
        f"WHERE {where}) ORDER BY u.name",
        *values,
    )
    listing = Listing(context, "commits c", size=PAGE_SIZE).where(where, *values)
    listing.number("author", "c.author_id").like("q", "c.message")
    listing.days("c.created_at", "since", "until", "Write the day as YYYY-MM-DD.")
    rows, pages = listing.rows(
        "c.sha, c.message, c.created_at, u.name AS author, u.username",
        joined="JOIN users u ON u.id = c.author_id",
        order="c.created_at DESC, c.id DESC",
    )
    return context.render(
        "commits.html", project=project, branch=branch, branches=branch_names(context, project),
        rows=rows, pages=pages, authors=person_choices(authors, "Anybody"), errors=listing.errors,
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/commit/{sha}")
def show_commit(context: RequestContext, owner: str, slug: str, sha: str) -> Response:
    """Show one commit and the files whose present state comes from it."""
    project = find_project(context, owner, slug)
    commit = context.find(
        "There is no such commit.",
        "SELECT c.*, u.name AS author, u.username, u.email FROM commits c "
        "JOIN users u ON u.id = c.author_id WHERE c.project_id = ? AND c.sha = ?",
        *(project.id, sha),
    )
    files = context.rows("SELECT path FROM files WHERE commit_id = ? ORDER BY path", commit["id"])
    request = context.row(
        "SELECT iid, title FROM merge_requests WHERE id = ?", commit["merge_request_id"]
    )
    return context.render(
        "commit.html", project=project, commit=commit, files=files, request=request
    )


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
    return context.render("contributors.html", project=project, rows=rows)


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
