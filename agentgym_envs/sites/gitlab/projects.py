"""A project's overview, starring and forking it."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    VISIBILITIES,
    VISIBILITY_CHOICES,
    find_project,
    of_project,
    visitor_id,
)
from agentgym_envs.sites.gitlab.profiles import RESERVED
from agentgym_envs.sites.gitlab.reading import is_slug, slug_from, title_error
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import branch_names, branch_of, files_of, listing
from agentgym_envs.sites.web import RequestContext


@SITE.get("/~{owner}/{slug}")
def overview(context: RequestContext, owner: str, slug: str) -> Response:
    """Show what a project is: numbers, files, README."""
    project = find_project(context, owner, slug)
    branch = branch_of(context, project)
    files = files_of(context, project, branch)
    counts = context.row(
        "SELECT (SELECT count(*) FROM commits WHERE project_id = p.id AND branch = ?) AS commits, "
        "(SELECT count(*) FROM branches WHERE project_id = p.id) AS branches, "
        "(SELECT count(*) FROM projects WHERE forked_from = p.id) AS forks, "
        "(SELECT count(*) FROM members WHERE project_id = p.id) AS members "
        "FROM projects p WHERE p.id = ?",
        project.branch,
        project.id,
    )
    origin = context.row(
        "SELECT p.name, '/~' || u.username || '/' || p.slug AS path FROM projects p "
        "JOIN users u ON u.id = p.owner_id WHERE p.id = ?",
        project.row["forked_from"],
    )
    is_starred = context.row(
        "SELECT 1 FROM stars WHERE user_id = ? AND project_id = ?", project.user_id, project.id
    )
    readme = next((row["content"] for row in files if row["path"] == "README.md"), "")
    return of_project(
        context, project, "overview.html", branch=branch, branches=branch_names(context, project),
        entries=listing(files, ""), readme=readme, counts=counts, origin=origin,
        is_starred=is_starred is not None,
    )  # fmt: skip


@SITE.post("/~{owner}/{slug}/star", signed_in=True)
def star(context: RequestContext, owner: str, slug: str) -> Response:
    """Star a project, or take the star back."""
    project = find_project(context, owner, slug)
    if context.field("remove"):
        context.run(
            "DELETE FROM stars WHERE user_id = ? AND project_id = ?", project.user_id, project.id
        )
    else:
        context.run("INSERT OR IGNORE INTO stars VALUES (?, ?)", project.user_id, project.id)
    context.run(
        "UPDATE projects SET star_count = "
        "(SELECT count(*) FROM stars WHERE project_id = projects.id) WHERE id = ?",
        project.id,
    )
    context.flash(
        "The star is gone." if context.field("remove") else f"You starred {project.name}."
    )
    return context.redirect(project.path)


@SITE.get("/~{owner}/{slug}/fork", signed_in=True)
def fork_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Ask for the fork's name and visibility."""
    project = find_project(context, owner, slug)
    values = {"name": project.name, "visibility": project.row["visibility"]}
    return of_project(
        context, project, "fork.html", values=values, errors={}, visibilities=VISIBILITY_CHOICES
    )


@SITE.post("/~{owner}/{slug}/fork", signed_in=True)
def fork(context: RequestContext, owner: str, slug: str) -> Response:
    """Copy a project into the visitor's own space."""
    project = find_project(context, owner, slug)
    values = {"name": context.field("name"), "visibility": context.field("visibility")}
    errors = name_errors(context, values["name"])
    if values["visibility"] not in VISIBILITIES:
        errors["visibility"] = "Choose who may see the fork."
    elif VISIBILITIES.index(values["visibility"]) > VISIBILITIES.index(project.row["visibility"]):
        errors["visibility"] = "A fork cannot be more open than what it comes from."
    if errors:
        return of_project(
            context, project, "fork.html", 422, values=values, errors=errors,
            visibilities=VISIBILITY_CHOICES,
        )  # fmt: skip
    slug = slug_from(values["name"])
    new = context.run(
        "INSERT INTO projects (owner_id, slug, name, description, visibility, licence, topics, "
        "default_branch, forked_from, created_at, updated_at) SELECT ?, ?, ?, description, ?, "
        "licence, topics, default_branch, id, ?, ? FROM projects WHERE id = ?",
        project.user_id, slug, values["name"], values["visibility"], context.now, context.now,
        project.id,
    )  # fmt: skip
    add_owner(context, new, project.user_id)
    _copy_repository(context, project.id, new, project.branch)
    context.flash(f"This is your fork of {project.name}.")
    assert context.user is not None
    return context.redirect(f"/~{context.user['username']}/{slug}")


def name_errors(context: RequestContext, name: str) -> dict[str, str]:
    """Say what is wrong with the name of a new project of the visitor's."""
    error = title_error(name, "a name")
    slug = slug_from(name)
    if not error and (not is_slug(slug) or slug in RESERVED):
        error = "This name cannot be written in an address; use some letters a to z."
    if not error and context.row(
        "SELECT 1 FROM projects WHERE owner_id = ? AND slug = ?", visitor_id(context), slug
    ):
        error = "You already have a project of this name."
    return {"name": error} if error else {}


def add_owner(context: RequestContext, project: int, user: int) -> None:
    """Make a user the owner of a new project."""
    context.run(
        "INSERT INTO members (project_id, user_id, role, joined_at) VALUES (?, ?, 'Owner', ?)",
        project,
        user,
        context.now,
    )


def _copy_repository(context: RequestContext, old: int, new: int, branch: str) -> None:
    context.run(
        "INSERT INTO branches (project_id, name, author_id, created_at) "
        "SELECT ?, name, author_id, created_at FROM branches WHERE project_id = ? AND name = ?",
        new, old, branch,
    )  # fmt: skip
    last = context.value("SELECT max(id) FROM commits")
    # Copied in the old order, so that equal commits find each other by their names.
    context.run(
        "INSERT INTO commits (project_id, branch, sha, author_id, message, created_at) "
        "SELECT ?, branch, sha, author_id, message, created_at FROM commits "
        "WHERE project_id = ? AND branch = ? ORDER BY id",
        new, old, branch,
    )  # fmt: skip
    context.run(
        "INSERT INTO files (project_id, branch, path, content, commit_id) "
        "SELECT n.project_id, f.branch, f.path, f.content, n.id FROM files f "
        "JOIN commits o ON o.id = f.commit_id "
        "JOIN commits n ON n.project_id = ? AND n.sha = o.sha AND n.id > ? "
        "WHERE f.project_id = ? AND f.branch = ?",
        new, last, old, branch,
    )  # fmt: skip
