"""The branches of a project."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import Project, find_project, managed, of_project
from agentgym_envs.sites.gitlab.reading import is_branch
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import add_branch, branch_names, branch_of
from agentgym_envs.sites.web import RequestContext


@SITE.get("/~{owner}/{slug}/branches")
def branch_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the branches."""
    return _list(context, find_project(context, owner, slug), "", "", 200)


@SITE.post("/~{owner}/{slug}/branches", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Create a branch from the default one."""
    project = managed(context, owner, slug, "Developer")
    name = context.field("name")
    error = ""
    if not is_branch(name):
        error = "Write a name such as fix/date-parser: letters, digits, and - . _ / in between."
    elif name in branch_names(context, project):
        error = "There is such a branch already."
    if error:
        return _list(context, project, name, error, 422)
    add_branch(context, project, name)
    context.flash(f"The branch {name} has been created.")
    return context.redirect(f"{project.path}/branches")


@SITE.post("/~{owner}/{slug}/branches/delete", signed_in=True)
def delete(context: RequestContext, owner: str, slug: str) -> Response:
    """Delete a branch that nothing needs."""
    project = managed(context, owner, slug, "Developer")
    name = branch_of(context, project, context.form.get("name", "") or "-")
    is_needed = context.row(
        "SELECT 1 FROM merge_requests WHERE project_id = ? AND source_branch = ? "
        "AND state = 'open'",
        project.id,
        name,
    )
    if name == project.branch:
        context.flash("The default branch cannot be deleted.", "error")
    elif is_needed:
        context.flash("An open merge request needs this branch; close it first.", "error")
    else:
        drop_branch(context, project, name)
        context.flash(f"The branch {name} has been deleted.")
    return context.redirect(f"{project.path}/branches")


def drop_branch(context: RequestContext, project: Project, name: str) -> None:
    """Delete a branch with what is only on it."""
    for table in ("files", "commits"):
        context.run(f"DELETE FROM {table} WHERE project_id = ? AND branch = ?", project.id, name)
    context.run("DELETE FROM branches WHERE project_id = ? AND name = ?", project.id, name)


def _list(
    context: RequestContext, project: Project, name: str, error: str, status: int
) -> Response:
    rows = context.rows(
        "SELECT b.name, b.created_at, u.name AS author, u.username, "
        "(SELECT count(*) FROM commits c WHERE c.project_id = b.project_id AND c.branch = b.name) "
        "AS commits FROM branches b JOIN users u ON u.id = b.author_id WHERE b.project_id = ? "
        "ORDER BY b.name <> ?, b.created_at DESC, b.name",
        project.id,
        project.branch,
    )
    return of_project(context, project, "branches.html", status, rows=rows, name=name, error=error)
