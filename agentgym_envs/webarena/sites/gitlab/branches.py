"""The branches of a project."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.gitlab.access import Project, find_project, managed, of_project
from agentgym_envs.webarena.sites.gitlab.reading import is_branch
from agentgym_envs.webarena.sites.gitlab.site import SITE
from agentgym_envs.webarena.sites.gitlab.trees import add_branch, branch_names, branch_of
from agentgym_envs.webarena.sites.web import Visit


@SITE.get("/~{owner}/{slug}/branches")
def branch_list(visit: Visit, owner: str, slug: str) -> Response:
    """List the branches."""
    return _list(visit, find_project(visit, owner, slug), "", "", 200)


@SITE.post("/~{owner}/{slug}/branches", signed_in=True)
def create(visit: Visit, owner: str, slug: str) -> Response:
    """Create a branch from the default one."""
    project = managed(visit, owner, slug, "Developer")
    name = visit.field("name")
    error = ""
    if not is_branch(name):
        error = "Write a name such as fix/date-parser: letters, digits, and - . _ / in between."
    elif name in branch_names(visit, project):
        error = "There is such a branch already."
    if error:
        return _list(visit, project, name, error, 422)
    add_branch(visit, project, name)
    visit.flash(f"The branch {name} has been created.")
    return visit.redirect(f"{project.path}/branches")


@SITE.post("/~{owner}/{slug}/branches/delete", signed_in=True)
def delete(visit: Visit, owner: str, slug: str) -> Response:
    """Delete a branch that nothing needs."""
    project = managed(visit, owner, slug, "Developer")
    name = branch_of(visit, project, visit.form.get("name", "") or "-")
    is_needed = visit.row(
        "SELECT 1 FROM merge_requests WHERE project_id = ? AND source_branch = ? "
        "AND state = 'open'",
        project.id,
        name,
    )
    if name == project.branch:
        visit.flash("The default branch cannot be deleted.", "error")
    elif is_needed:
        visit.flash("An open merge request needs this branch; close it first.", "error")
    else:
        drop_branch(visit, project, name)
        visit.flash(f"The branch {name} has been deleted.")
    return visit.redirect(f"{project.path}/branches")


def drop_branch(visit: Visit, project: Project, name: str) -> None:
    """Delete a branch with what is only on it."""
    for table in ("files", "commits"):
        visit.run(f"DELETE FROM {table} WHERE project_id = ? AND branch = ?", project.id, name)
    visit.run("DELETE FROM branches WHERE project_id = ? AND name = ?", project.id, name)


def _list(visit: Visit, project: Project, name: str, error: str, status: int) -> Response:
    rows = visit.rows(
        "SELECT b.name, b.created_at, u.name AS author, u.username, "
        "(SELECT count(*) FROM commits c WHERE c.project_id = b.project_id AND c.branch = b.name) "
        "AS commits FROM branches b JOIN users u ON u.id = b.author_id WHERE b.project_id = ? "
        "ORDER BY b.name <> ?, b.created_at DESC, b.name",
        project.id,
        project.branch,
    )
    return of_project(visit, project, "branches.html", status, rows=rows, name=name, error=error)
